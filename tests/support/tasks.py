"""Evaluations and task folders for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.tasks.evaluation import Given, NamedPath


def named(folder: Path, files: Mapping[str, bytes]) -> list[NamedPath]:
    """Files of these names and contents, written below a folder."""
    found = []
    for name, data in sorted(files.items()):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        found.append((name, path))
    return found


def given_of(folder: Path, script: str, submission: Mapping[str, bytes], references: Mapping[str, bytes]) -> Given:
    """What one evaluation is made of, written below a folder."""
    (_, place), = named(folder / "script", {"evaluate.py": script.encode()})
    return Given(script=place, submission=named(folder / "submission", submission),
                 references=named(folder / "references", references))


def write_folder(folder: Path, files: Mapping[str, str]) -> Path:
    """A folder with these texts."""
    named(folder, {name: text.encode() for name, text in files.items()})
    return folder
