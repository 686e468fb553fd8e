"""Files of many sessions: a JSON Lines file, or a JSON list, or a single object, with one session a row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.formats.format import Format, any_sample
from core.formats.imported import Imported
from core.formats.json_items import JsonItems
from core.formats.json_text import Parsed
from core.formats.source import Source

_ENCODER = json.JSONEncoder(sort_keys=True)


class SourceRow(msgspec.Struct, frozen=True):
    """One row of a file: where it stands, and its value."""

    where: str
    parsed: Parsed

    @property
    def data(self) -> bytes:
        """Bytes that are the same for the same value, however the file writes it."""
        return canonical(self.parsed.value)

    @property
    def value(self) -> dict[str, Any]:
        """The row's object, or an empty one."""
        return self.parsed.value if isinstance(self.parsed.value, dict) else {}


def canonical(value: Any) -> bytes:
    """JSON that equal values share, so that a reformatted file keeps its sessions' identities."""
    return b"".join(canonical_parts(value))


def canonical_parts(value: Any) -> Iterator[bytes]:
    """The same piece by piece, so that of a long list (also as a member of an object) one item is held at a time."""
    if not isinstance(value, dict) and isinstance(value, (JsonItems, Iterator)):
        begin = b"["
        for part in map(canonical, value):
            yield begin + part
            begin = b", "
        yield b"]" if begin == b", " else b"[]"
    elif isinstance(value, dict) and any(isinstance(held, JsonItems) for held in value.values()):
        for number, key in enumerate(sorted(value)):
            yield (b", " if number else b"{") + json.dumps(key).encode() + b": "
            yield from canonical_parts(value[key])
        yield b"}"
    else:
        yield _ENCODER.encode(value).encode()


def rows(source: Source) -> Iterator[SourceRow]:
    """All rows in order; a damaged one has a problem."""
    return _lines(source) if source.shape == "lines" else _whole(source)


def row_format(name: str, title: str, fits: Callable[[Any], bool], what: str,
               read: Callable[[Source, SourceRow], Imported | str], rank: int = 0) -> Format:
    """The format of files with a session a row, known by one of the first rows (see `read_rows`)."""
    return Format(name=name, title=title, rank=rank, recognises=any_sample(fits),
                  read=lambda source: read_rows(source, fits, what, lambda row: read(source, row)))


def read_rows(source: Source, fits: Callable[[Any], bool], what: str,
              read: Callable[[SourceRow], Imported | str]) -> Iterator[Imported]:
    """The sessions of the file in order. What cannot be read is a warning of the session before it.

    `read` gives a row's session, or one sentence on why there is none; `what` says what a row should hold.
    Raises InvalidInput (no_sessions) where no row gives one.
    """
    return joined(source.path, ((row.where, _read_row(row, fits, what, read)) for row in rows(source)))


def joined(path: Path, found: Iterable[tuple[str, Imported | str]]) -> Iterator[Imported]:
    """Sessions with their places in the file; sentences in place of some become warnings of the one before.

    Raises InvalidInput (no_sessions) where there is no session at all.
    """
    held: Imported | None = None
    troubles: list[str] = []
    seen: dict[str, str] = {}
    for where, made in found:
        if isinstance(made, str):
            troubles.append(made)
        elif made.session in seen:
            troubles.append(f"{where} repeats {seen[made.session]}.")
        else:
            seen[made.session] = where
            if held:
                yield _with_warnings(held, troubles)
                troubles = []
            held = made
    if held is None:
        why = " ".join(troubles[:5])
        raise InvalidInput("no_sessions", f"{path}: {why}", path=str(path), why=why)
    yield _with_warnings(held, troubles)


def _read_row(
    row: SourceRow, fits: Callable[[Any], bool], what: str, read: Callable[[SourceRow], Imported | str]
) -> Imported | str:
    if row.parsed.problem and "UTF-8" not in row.parsed.problem:
        return f"{row.where} was left out: {row.parsed.problem}"
    if not fits(row.parsed.value):
        return f"{row.where} was left out: it holds no {what}."
    made = read(row)
    if isinstance(made, str):
        return f"{row.where} was left out: {made}"
    if row.parsed.problem:
        return _with_warnings(made, [f"{row.where}: {row.parsed.problem}"])
    return made


def _with_warnings(made: Imported, troubles: list[str]) -> Imported:
    return msgspec.structs.replace(made, warnings=(*made.warnings, *troubles)) if troubles else made


def _lines(source: Source) -> Iterator[SourceRow]:
    for line, parsed in source.records():
        cut = "" if line.whole or not parsed.problem else " The file ends inside this line."
        problem = f"{parsed.problem}{cut}" if parsed.problem else ""
        yield SourceRow(f"Line {line.number} (byte {line.start})", Parsed(parsed.value, problem))


def _whole(source: Source) -> Iterator[SourceRow]:
    """The rows of a file that is one JSON value."""
    value = source.json.value
    problem = source.json.problem
    if not isinstance(value, list):
        yield SourceRow("Line 1 (byte 0)", Parsed(value, problem))
        return
    for number, row in enumerate(value, 1):
        yield SourceRow(f"Row {number}", Parsed(row))
    if problem:
        yield SourceRow("The end", Parsed(None, problem))
