"""A file that another program is writing: whether it has changed, and reading it again at the price of what is new."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import Unavailable
from core.formats import registry
from core.formats.json_text import Parsed, parse
from core.formats.source import FileLine, Source

_TAIL = 4096


def stamp(path: Path) -> str:
    """What changes when a file changes, or one of its newest parts in a folder of events; "" where there is no file."""
    folders = list(dict.fromkeys(folder for known in registry.formats() for folder in known.parts_of(path)))
    states = [_state(path), *map(_state, folders), *(_state(part) for folder in folders for part in _newest(folder))]
    return " ".join(filter(None, states)) if states[0] and path.is_file() else ""


def _state(path: Path) -> str:
    try:
        state = path.stat()
    except OSError:
        return ""
    return f"{state.st_ino}:{state.st_size}:{state.st_mtime_ns}"


def _newest(folder: Path) -> list[Path]:
    """The last files by name; the number of digits counts first."""
    try:
        names = [entry.name for entry in os.scandir(folder)]
    except OSError:
        return []
    return [folder / name for name in heapq.nlargest(3, names, key=lambda n: (len(n.partition(".")[0]), n))]


def _inode(source: Source) -> int:
    with source.opened() as file:
        return os.fstat(file.fileno()).st_ino


class _LinesRead(msgspec.Struct):
    """The lines that were read before, each with its value; where the next one begins, and the bytes before that."""

    inode: int
    records: list[tuple[FileLine, Parsed]] = []
    offset: int = 0
    tail: bytes = b""
    head: bytes = b""
    held: dict[Any, Any] = {}


class LiveSource(Source):
    """The file as it is now. Of lines only those after the ones of `before` are read; one without an end waits.

    `json` raises Unavailable (file_incomplete) where the file is being written over at this moment.
    """

    def __init__(self, path: Path, before: LiveSource | None = None) -> None:
        super().__init__(path)
        inode = _inode(self)
        earlier: _LinesRead | None = before._earlier if before is not None else None
        if (earlier is None or earlier.inode != inode or self._before(earlier.offset) != earlier.tail
                or not self.head.startswith(earlier.head)):
            earlier = _LinesRead(inode)  # it was written anew
        self._earlier: _LinesRead = earlier
        self.held = earlier.held

    def _before(self, offset: int) -> bytes:
        with self.opened() as file:
            file.seek(max(0, offset - _TAIL))
            return file.read(min(offset, _TAIL))

    def part(self, path: Path) -> Source:
        """A part is as little read before it is whole."""
        return LiveSource(path)

    @property
    def is_read_again(self) -> bool:
        """Never: what was decoded once is remembered, for it is asked for as often as the file grows."""
        return False

    def lines(self, start: int = 0, number: int = 0) -> Iterator[FileLine]:
        """The lines, without a last one that is still being written."""
        for line in super().lines(start, number):
            if line.whole or not parse(line.data).problem:
                yield line

    def records(self, members: tuple[str, ...] | None = None) -> Iterator[tuple[FileLine, Parsed]]:
        """All lines with their whole values; those that were read before are not read again."""
        earlier = self._earlier
        yield from earlier.records
        number = earlier.records[-1][0].number if earlier.records else 0
        for line in self.lines(earlier.offset, number):
            record = (msgspec.structs.replace(line, data=line.data[:1]), parse(line.data))
            if line.whole:
                earlier.records.append(record)
                earlier.offset = line.stop
            yield record
        earlier.tail, earlier.head = self._before(earlier.offset), self.head[: earlier.offset]

    @cached_property
    def json(self) -> Parsed:
        """The file as one JSON value, when it is whole."""
        parsed = parse(self.data)
        if parsed.problem:
            raise Unavailable("file_incomplete", f"{self.path} is being written now.", path=str(self.path))
        return parsed
