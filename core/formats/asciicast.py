"""Asciicasts: a recorded terminal as `[seconds, kind, data]` events after a header (asciinema, versions 1 to 3)."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import msgspec

from core.domain.events import TerminalOutput
from core.formats.imported import SessionBuilder
from core.formats.source import Source
from core.formats.values import dict_of, float_of, int_of, time_of

_INLINE = 4096
"""Bytes of output that an event holds itself; more are a payload."""

_SIZES = (("cols", "width"), ("rows", "height"))
_WIDEST = 1000

_MOMENT = 0.1
"""Output within so many seconds is one event."""


class Cast(msgspec.Struct):
    """The header, the events with seconds since the start, and sentences on what could not be read."""

    header: dict[str, Any]
    events: list[tuple[float, str, str]]
    problems: list[str]
    moment: float = -1.0

    @property
    def size(self) -> tuple[int, int]:
        """Columns and rows; 0 where the header does not say them, or not sensibly."""
        term = dict_of(self.header.get("term"))
        columns, rows = (int_of(term.get(short, self.header.get(long))) or 0 for short, long in _SIZES)
        return (columns, rows) if 2 <= columns <= _WIDEST and 1 <= rows <= _WIDEST else (0, 0)

    def time(self, seconds: float, started: datetime | None) -> datetime | None:
        """The moment of an event: by the header's clock, else by the given start, else unknown."""
        start = time_of(self.header.get("timestamp")) or started
        return start + timedelta(seconds=min(seconds, 1e9)) if start else None

    def is_same_moment(self, seconds: float) -> bool:
        """Whether output at that time belongs to what is being gathered; if not, a new moment begins."""
        if seconds - self.moment < _MOMENT:
            return True
        self.moment = seconds
        return False


def is_header(value: Any) -> bool:
    """Whether a value is the header of a cast."""
    header = dict_of(value)
    return header.get("version") in (1, 2, 3) and ("width" in header or "term" in header)


def read_cast(source: Source) -> Cast:
    """All events of a file that can be read."""
    if source.shape != "lines":
        header = source.object
        cast = Cast(header, [], [source.json.problem] if source.json.problem else [])
        pairs = header.pop("stdout", []) if header.get("version") == 1 else []
        _collect(cast, [[*pair[:1], "o", *pair[1:]] for pair in pairs if isinstance(pair, list)], relative=True)
        return cast
    cast = Cast({}, [], [])
    rows: list[Any] = []
    for line, parsed in source.records():
        if not cast.header and is_header(parsed.value):
            cast.header = dict_of(parsed.value)
        elif line.data.lstrip().startswith(b"#"):
            continue
        elif parsed.problem or not isinstance(parsed.value, list):
            cast.problems.append(f"Line {line.number} (byte {line.start}) was left out: {parsed.problem}".strip())
        else:
            rows.append(parsed.value)
    _collect(cast, rows, relative=cast.header.get("version") == 3)
    del cast.problems[5:]
    return cast


def _collect(cast: Cast, rows: list[Any], *, relative: bool) -> None:
    """Take the well-formed events; the times of versions 1 and 3 count from the event before."""
    now = 0.0
    for row in rows:
        seconds = float_of(row[0]) if len(row) == 3 else None
        if seconds is None or not isinstance(row[1], str) or not isinstance(row[2], str):
            cast.problems.append("An event is not [seconds, kind, data] and was left out.")
            continue
        now = now + max(0.0, seconds) if relative else max(now, seconds)
        cast.events.append((now, row[1], row[2]))


def add_output(builder: SessionBuilder, terminal: str, offset: int, data: bytes,
               at: datetime | None, size: tuple[int, int] = (0, 0)) -> tuple[int, bytes]:
    """One stretch of output as an event; gives the stream's new length and nothing that waits."""
    if data:
        inline = len(data) <= _INLINE
        columns, rows = (0, 0) if offset else size
        builder.fact(TerminalOutput(host="main", terminal=terminal, offset=offset, size=len(data),
                                    data=data if inline else b"", blob="" if inline else builder.blob(data),
                                    columns=columns, rows=rows), at=at)
    return offset + len(data), b""
