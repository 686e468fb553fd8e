"""The benchmarks start: nobody runs them all, so what they take from the program is held against the program here."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.run import HERE, NAMES, PATHS
from support.real_data import real
from support.sources import ROOT, syntax

PLACES = (ROOT, ROOT / "tests", HERE)
VIEWS = """
import sys, stress, view_rig
stress.STEPS, view_rig.ROUNDS, stress.HUGE_AT = 3000, 1, 2
import bench_view
bench_view.main(sys.argv[1:])
"""


def module(name: str) -> Path | None:
    """The file of a module of ours, None of another's."""
    for place in PLACES:
        path = place.joinpath(*name.split("."))
        for file in (path.with_suffix(".py"), path / "__init__.py"):
            if file.exists():
                return file
    return None


def bound(file: Path) -> set[str]:
    """The names that a module has: what it assigns, defines and imports, wherever it does so."""
    found = {file.stem for file in file.parent.glob("*")} if file.name == "__init__.py" else set()
    for node in ast.walk(syntax(file)):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                found |= {(one.asname or one.name).split(".")[0] for one in names}
    return found


def lacking(file: Path) -> list[str]:
    """What a file takes from modules of ours that do not have it."""
    tree, lost, ours = syntax(file), [], {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and (source := module(node.module)):
            lost += [f"{node.module}.{one.name}" for one in node.names if one.name not in bound(source)]
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("app", "core", "support"):
            lost.append(str(node.module))
        elif isinstance(node, ast.Import):
            ours |= {one.asname or one.name: source for one in node.names if (source := module(one.name))}
    return lost + [f"{node.value.id}.{node.attr}" for node in ast.walk(tree) if isinstance(node, ast.Attribute)
                   and isinstance(node.value, ast.Name) and node.value.id in ours
                   and node.attr not in bound(ours[node.value.id])]


@pytest.mark.parametrize("name", NAMES)
def test_a_benchmark_of_the_table_refers_to_what_exists(name: str) -> None:
    assert lacking(HERE / f"bench_{name}.py") == []


def test_what_benchmarks_share_refers_to_what_exists() -> None:
    assert {p.name: lost for p in HERE.glob("*.py") if (lost := lacking(p))} == {}


def test_a_benchmark_of_what_is_gone_is_named(tmp_path: Path) -> None:
    (tmp_path / "bench_x.py").write_text("import stress\nfrom core.domain import gone\nfrom core.nothing import x\n"
                                         "stress.make()\nstress.vanished()\n")
    assert lacking(tmp_path / "bench_x.py") == ["core.domain.gone", "core.nothing", "stress.vanished"]


def test_the_viewers_benchmarks_work_on_a_small_session(tmp_path: Path) -> None:
    done = run(tmp_path, "-c", VIEWS, "V3", "V5")
    assert [line.split('"')[3] for line in done.splitlines()] == ["V3", "V5"]


def test_the_ten_questions_are_answered_of_a_real_run(tmp_path: Path) -> None:
    done = run(tmp_path, str(HERE / "bench_questions.py"), "--data", str(real("")), "--runs", "SWE-agent",
               timeout_s=300)
    answers = json.loads(done.splitlines()[0])["answers"]
    assert len(answers) == 10 and "decrypt.py (5 changes)" in [one["answer"] for one in answers]


def run(folder: Path, *arguments: str, timeout_s: float = 110) -> str:
    """What a benchmark prints."""
    env = {**os.environ, "PYTHONPATH": PATHS, "QT_QPA_PLATFORM": "offscreen", "TMPDIR": str(folder)}
    done = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=False,
                          timeout=timeout_s)
    assert done.returncode == 0, done.stderr
    return done.stdout
