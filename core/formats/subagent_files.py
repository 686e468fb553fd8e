"""Subagents whose records have a file of their own: which step of which file called them.

Several programs lay them out alike: `agent-ID.jsonl`, with `agent-ID.meta.json` of who called it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import ReportableError
from core.formats.source import is_plain
from core.formats.values import dict_of

PREFIX = "agent-"
_META = ".meta.json"
_MOST = 64 * 1024
_NAME = re.compile(r"[0-9A-Za-z_][0-9A-Za-z_.-]{0,200}\Z")


def notes_beside(files: Sequence[Path]) -> Iterable[Path]:
    """What the program notes of a subagent beside its records: it is read with them."""
    names = {path.name for path in files}
    return (p for p in files if p.name.startswith(PREFIX) and p.name.endswith(_META)
            and f"{p.name.removesuffix(_META)}.jsonl" in names)


def note_of(path: Path) -> dict[str, Any]:
    """What is noted of the subagent whose records a file holds; nothing where nobody did."""
    file = path.with_name(f"{path.stem}{_META}")
    with suppress(OSError, msgspec.DecodeError):
        if is_plain(file) and file.stat().st_size <= _MOST:
            return dict_of(msgspec.json.decode(file.read_bytes()))
    return {}


def is_name(text: str) -> bool:
    """Whether a foreign text is a name as programs give their files, and neither a path nor a pattern."""
    return bool(_NAME.match(text))


def calling_step(files: Iterable[Path], read: Callable[[Path], Mapping[str, int]], *names: str) -> int:
    """The step of the first of some files that called what bears one of the names, the first that fits; 0 where none
    did. `read` gives the steps of a file by names of what they called. A session may have hundreds of subagents, so
    what was found is remembered while the file stays."""
    found = (steps[name] for steps in map(partial(_steps_in, read), files) for name in names if name in steps)
    return next(found, 0)


def _steps_in(read: Callable[[Path], Mapping[str, int]], path: Path) -> Mapping[str, int]:
    """None where the file cannot be read."""
    with suppress(OSError, ReportableError):
        if is_plain(path):
            state = path.stat()
            return _steps_of(read, path, state.st_size, state.st_mtime_ns)
    return {}


@lru_cache(maxsize=64)
def _steps_of(read: Callable[[Path], Mapping[str, int]], path: Path, size: int, changed: int) -> Mapping[str, int]:
    return read(path)
