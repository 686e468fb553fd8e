"""The installer: from nothing to a program that imports and shows a session, every file checked against its hash."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def needs_the_index() -> None:
    """Skip without a network; in CI that is a failure."""
    try:
        socket.getaddrinfo("pypi.org", 443)
    except OSError:
        if os.environ.get("CI"):
            raise
        pytest.skip("no package index can be reached")


def run(*argv: object, **env: str) -> subprocess.CompletedProcess[str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "TIPHYS"))}
    return subprocess.run([str(a) for a in argv], capture_output=True, text=True, env={**kept, **env}, check=False,
                          cwd="/")  # not in the checkout: nothing of it may be found


@pytest.mark.timeout(600)
def test_what_is_installed_works_without_the_checkout_and_goes_without_a_trace(tmp_path: Path) -> None:
    needs_the_index()
    prefix, home = tmp_path / "prefix", str(tmp_path / "home")
    no_bytecode = {"PIP_NO_COMPILE": "false"}  # false says yes to pip here; it takes half of the time
    made = run(ROOT / "packaging/install.sh", "--prefix", prefix, **no_bytecode)
    assert made.returncode == 0, made.stderr
    program = prefix / "bin/tiphys"
    talk = tmp_path / "talk.json"
    talk.write_text(json.dumps({"messages": [{"role": "user", "content": "count"},
                                             {"role": "assistant", "content": "one"}]}))
    told = run(program, "import", talk, "--json", TIPHYS_HOME=home)
    assert told.returncode == 0, told.stderr
    session = json.loads(told.stdout.splitlines()[0])["session"]
    assert "one" in run(program, "show", session, TIPHYS_HOME=home).stdout
    window = run(prefix / "lib/tiphys/bin/python", "-c", "import app.window.window, app.kit.theme; "
                 "print(app.kit.theme.RESOURCES.is_dir(), app.window.window.__file__)", QT_QPA_PLATFORM="offscreen")
    assert window.stdout.startswith("True") and str(ROOT) not in window.stdout
    entry = (prefix / "share/applications/tiphys.desktop").read_text()
    assert f"Exec={program} open %U" in entry
    assert run(ROOT / "packaging/install.sh", "--prefix", prefix, "--uninstall").returncode == 0
    assert [p for p in prefix.rglob("*") if not p.is_dir()] == []
    assert (Path(home) / "server.db").exists(), "sessions stay"


def test_a_file_with_another_hash_is_refused_and_nothing_is_installed(tmp_path: Path) -> None:
    needs_the_index()
    shutil.copytree(ROOT / "packaging", tmp_path / "copy/packaging")
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "copy")
    lock = tmp_path / "copy/packaging/locks/build.txt"
    lock.write_text("".join(f"    --hash=sha256:{'0' * 64}\n" if "--hash" in line else line
                            for line in lock.read_text().splitlines(keepends=True)[:2]))
    made = run(tmp_path / "copy/packaging/install.sh", "--prefix", tmp_path / "prefix")
    assert made.returncode != 0
    assert "hash" in made.stderr.lower()
    assert [p for p in (tmp_path / "prefix").rglob("*") if not p.is_dir()] == []
