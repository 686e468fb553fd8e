"""The command that measures the source, on a small repository whose modules move from kinds to subjects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import shape  # noqa: E402


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(shape, "ROOT", tmp_path)
    git(tmp_path, "init", "-q")
    write(tmp_path, "core/a.py", "from core import b\n")
    write(tmp_path, "core/b.py", "def f():\n    import core.a\n")
    for kind in ("views", "models"):
        for subject in ("step", "files"):
            write(tmp_path, f"app/{kind}/{subject}.py", f"'''{kind} of {subject}'''\n" * 9)
    write(tmp_path, "app/views/step.py", "'''views of step'''\n" * 9 + "from app.models import step\n")
    commit(tmp_path, "begin")
    return tmp_path


def git(folder: Path, *arguments: str) -> None:
    person = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *person, *arguments], cwd=folder, check=True)


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


def commit(folder: Path, words: str) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", words)


def test_a_change_of_one_subject_stays_in_one_folder_after_the_move(repository: Path) -> None:
    write(repository, "app/desk/cursor.py", "")
    for name in ("app/views/step.py", "app/models/step.py"):
        write(repository, name, (repository / name).read_text() + "MORE = 1\n")
    commit(repository, "change the step")
    before = shape.shape("HEAD")
    for subject in ("step", "files"):
        (repository / "app" / subject).mkdir()
        for kind in ("views", "models"):
            git(repository, "mv", f"app/{kind}/{subject}.py", f"app/{subject}/{kind}.py")
    moved = repository / "app/step/views.py"
    moved.write_text(moved.read_text().replace("app.models import step", "app.step import models"))
    commit(repository, "sort by subject")
    after = shape.shape("HEAD")

    assert (before["commits that stay in one folder"], after["commits that stay in one folder"]) == ("0 of 2", "0 of 3")
    shared = "… beside kit, desk and window"
    assert (before[shared], after[shared]) == ("0 of 2", "1 of 3")
    assert (before["imports between rooms"], after["imports between rooms"]) == ("1", "0")
    assert (before["floors"], after["floors"]) == ("2", "1")
    assert before["modules of app"] == after["modules of app"] == "5"
    assert before["circles of modules"] == "1"
    assert shape.shape("HEAD~1") == before
