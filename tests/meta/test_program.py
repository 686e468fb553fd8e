"""Parts of the program are started by `core.program` alone: else an installation that is no checkout lacks them."""

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from support.sources import syntax

from core import program

ROOT = Path(__file__).resolve().parents[2]
FILES = [f for folder in ("app", "core") for f in sorted((ROOT / folder).rglob("*.py"))]


def names_the_interpreter(node: ast.AST) -> bool:
    return (isinstance(node, ast.Attribute) and ast.unparse(node) == "sys.executable") or (
        isinstance(node, ast.ImportFrom) and node.module == "sys" and any(a.name == "executable" for a in node.names))


def test_only_the_dispatcher_names_the_interpreter() -> None:
    found = [str(file.relative_to(ROOT)) for file in FILES
             if any(map(names_the_interpreter, ast.walk(syntax(file))))]
    assert found == ["core/program.py"]


@pytest.mark.parametrize("part", [p for p in program.PARTS if p != "devices"])
def test_every_part_is_there_and_can_be_run(part) -> None:
    name = program.PARTS[part]
    found = importlib.util.find_spec(name)
    assert found is not None
    assert found.submodule_search_locations is None or importlib.util.find_spec(f"{name}.__main__")


def test_a_part_runs_by_what_the_dispatcher_gives() -> None:
    done = subprocess.run(program.command("tiphys", "--version"), cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("tiphys")


def test_who_was_started_apart_from_the_users_python_starts_its_parts_so() -> None:
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r}); from core import program; print(*program.command('tiphys'))"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split()[1:] == ["-I", "-m", "core.cli"]


def test_a_frozen_program_starts_itself_and_becomes_the_part(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    words = program.command("tiphys", "tasks", "--help")
    assert words[0] == sys.executable
    monkeypatch.setattr(sys, "argv", list(words))
    with pytest.raises(SystemExit) as ended:
        program.run_frozen(words)
    assert not ended.value.code
    assert "List the tasks" in capsys.readouterr().out


def test_a_packages_process_stays_with_its_version_and_starts_again_with_the_newest(monkeypatch, tmp_path) -> None:
    for one in ("tiphys-1.0.0", "tiphys-1.1.0"):
        (tmp_path / one / "bin").mkdir(parents=True)
        for name in ("python3", "tiphys"):
            (tmp_path / one / "bin" / name).touch()
    (tmp_path / "tiphys").symlink_to("tiphys-1.1.0")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "tiphys-1.0.0"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "tiphys-1.0.0/bin/python3"))
    assert program.command("rules")[0] == str(tmp_path / "tiphys-1.0.0/bin/python3")
    assert program.newest_python() == tmp_path / "tiphys/bin/python3"
    assert program.launcher() == [str(tmp_path / "tiphys/bin/tiphys")]
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "environment"))
    assert program.newest_python() is None
    assert program.launcher() == [str(tmp_path / "tiphys-1.0.0/bin/tiphys")]
