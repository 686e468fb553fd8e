"""A file that another program is writing: whether it has changed, and reading it again at the price of what is new."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

import msgspec

from core.domain.errors import Unavailable
from core.formats.json_text import Parsed, parse
from core.formats.source import Line, Source

_TAIL = 4096


def stamp(path: Path) -> str:
    """What changes when a file changes, or one of the folders that hold its parts; "" where there is no file."""
    told = []
    for one in (path, path.parent / "events", path.parent / "sessions"):
        try:
            state = one.stat()
        except OSError:
            continue
        told.append(f"{state.st_ino}:{state.st_size}:{state.st_mtime_ns}")
    if path.parent.name == "events":
        told.append(str(path.parent.stat().st_mtime_ns) if path.parent.exists() else "")
    return " ".join(told) if path.exists() else ""


class _Known(msgspec.Struct):
    """The lines that were read before, each with its value; where the next one begins, and the bytes before that."""

    inode: int
    records: list[tuple[Line, Parsed]] = []
    offset: int = 0
    tail: bytes = b""


class GrowingSource(Source):
    """The file as it is now. Of lines only those after the ones of `before` are read; one without an end waits.

    `json` raises Unavailable (file_incomplete) where the file is being written over at this moment.
    """

    def __init__(self, path: Path, before: GrowingSource | None = None) -> None:
        super().__init__(path)
        inode = path.stat().st_ino
        known: _Known | None = before._known if before is not None else None
        if known is None or known.inode != inode or self._before(known.offset) != known.tail:
            known = _Known(inode)  # it was written anew
        self._known: _Known = known

    def _before(self, offset: int) -> bytes:
        with self.path.open("rb") as file:
            file.seek(max(0, offset - _TAIL))
            return file.read(min(offset, _TAIL))

    def lines(self, start: int = 0, number: int = 0) -> Iterator[Line]:
        """The lines, without a last one that is still being written."""
        for line in super().lines(start, number):
            if line.whole or not parse(line.data).problem:
                yield line

    def records(self) -> Iterator[tuple[Line, Parsed]]:
        """All lines with their values; those that were read before are not read again."""
        known = self._known
        yield from known.records
        number = known.records[-1][0].number if known.records else 0
        for line in self.lines(known.offset, number):
            told = (msgspec.structs.replace(line, data=line.data[:1]), parse(line.data))
            if line.whole:
                known.records.append(told)
                known.offset = line.stop
            yield told
        known.tail = self._before(known.offset)

    @cached_property
    def json(self) -> Parsed:
        """The file as one JSON value, when it is whole."""
        parsed = parse(self.data)
        if parsed.problem:
            raise Unavailable("file_incomplete", f"{self.path} is being written now.", path=str(self.path))
        return parsed
