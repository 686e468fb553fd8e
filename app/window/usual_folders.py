"""Where well-known programs keep their runs on this computer, and how many: names are counted, nothing is read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

USUAL = ((".claude/projects", "Claude Code", ".jsonl"), (".codex/sessions", "Codex", ".jsonl"),
         ("logs", "Inspect", ".eval"))
"""Folder below the home, program, suffix of its runs."""

MOST = 10_000
"""So many names are looked at in each at most."""


@dataclass(frozen=True)
class FoundFolder:
    """Runs in a folder; `shown` is its name as a person writes it."""

    folder: str
    shown: str
    program: str
    count: int


def look(home: Path) -> list[FoundFolder]:
    """What the usual folders below a home hold; a folder that cannot be read holds nothing."""
    found = []
    for folder, program, suffix in USUAL:
        names = (name for _, _, files in os.walk(home / folder) for name in files)
        count = sum(name.endswith(suffix) for name in islice(names, MOST))
        if count:
            found.append(FoundFolder(str(home / folder), f"~/{folder}", program, count))
    return found
