"""Where well-known programs keep their runs on this computer, how many and since when: names are looked at, nothing is
read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path


@dataclass(frozen=True)
class Usual:
    """Below which folder of the home a program keeps its runs, and the names that one run each has; the variable by
    which a person moves the folder, with what lies below it then."""

    folder: str
    program: str
    names: str
    moved: str = ""
    below: str = ""


USUAL = (Usual(".claude/projects", "Claude Code", "*.jsonl", "CLAUDE_CONFIG_DIR", "projects"),
         Usual(".codex/sessions", "Codex", "rollout-*.jsonl", "CODEX_HOME", "sessions"),
         Usual(".gemini/tmp", "Gemini CLI", "session-*.json"),
         Usual(".qwen/projects", "Qwen Code", "*.jsonl"),
         Usual(".kimi/sessions", "Kimi CLI", "context.jsonl"),
         Usual(".copilot/session-state", "Copilot CLI", "events.jsonl"),
         Usual("logs", "Inspect", "*.eval", "INSPECT_LOG_DIR"))

PART = "agent-*"
"""Files of subagents: they are parts of the run that called them."""

MOST = 10_000
"""So many names are looked at in each at most."""


@dataclass(frozen=True)
class FoundFolder:
    """Runs in a folder; `shown` is its name as a person writes it, `newest` the seconds after 1970 of the last change
    of one, `is_all` false where there are more names than are looked at."""

    folder: str
    shown: str
    program: str
    count: int
    newest: float
    is_all: bool = True


def look(home: Path, moved: Mapping[str, str] | None = None) -> list[FoundFolder]:
    """What the usual folders hold; a folder that cannot be read holds nothing. `moved`: the variables of the
    environment."""
    return [found for usual in USUAL if (found := _look_into(_folder_of(usual, home, moved or {}), usual, home))]


def _folder_of(usual: Usual, home: Path, moved: Mapping[str, str]) -> Path:
    elsewhere = moved.get(usual.moved, "") if usual.moved else ""
    return Path(elsewhere, usual.below) if Path(elsewhere).is_absolute() else home / usual.folder


def _look_into(folder: Path, usual: Usual, home: Path) -> FoundFolder | None:
    entries = list(islice(_files(folder), MOST + 1))
    times = [time for one in entries[:MOST] if fnmatchcase(one.name, usual.names)
             and not fnmatchcase(one.name, PART) and (time := _changed(one)) is not None]
    if not times:
        return None
    shown = f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
    return FoundFolder(str(folder), shown, usual.program, len(times), max(times), len(entries) <= MOST)


def _changed(file: os.DirEntry[str]) -> float | None:
    try:
        return file.stat(follow_symlinks=False).st_mtime
    except OSError:
        return None  # it has gone since the folder was listed


def _files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The regular files below a folder; what nobody may read, and links, are passed over."""
    try:
        with os.scandir(folder) as entries:
            inside = list(entries)
    except OSError:
        return
    for entry in inside:
        if entry.is_dir(follow_symlinks=False):
            yield from _files(Path(entry))
        elif entry.is_file(follow_symlinks=False):
            yield entry
