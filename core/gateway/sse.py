"""Server-sent events out of a stream of bytes (WHATWG HTML §9.2), as far as model endpoints use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

LONGEST_EVENT = 32 << 20


class EventReader:
    """Takes pieces as they come and gives whole events; data that is no JSON object is passed over (`[DONE]`)."""

    def __init__(self) -> None:
        self._rest = b""

    def take(self, piece: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events that end in this piece, as name ("" without one) and data."""
        self._rest = (self._rest + piece).replace(b"\r\n", b"\n") if b"\r" in piece else self._rest + piece
        *whole, self._rest = self._rest.split(b"\n\n")
        self._rest = self._rest[-LONGEST_EVENT:]
        for event in whole:
            yield from _read(event)

    def end(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The event that the end of the stream ends."""
        rest, self._rest = self._rest, b""
        yield from _read(rest)


def _read(event: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    name, data = "", []
    for line in event.split(b"\n"):
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"event":
            name = value.decode("utf-8", "replace")
        elif field == b"data":
            data.append(value)
    try:
        decoded = msgspec.json.decode(b"\n".join(data)) if data else None
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return
    if isinstance(decoded, dict):
        yield name, decoded
