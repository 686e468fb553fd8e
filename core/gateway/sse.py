"""Server-sent events out of a stream of bytes (WHATWG HTML §9.2), as far as model endpoints use them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

LONGEST_EVENT = 32 << 20


class EventReader:
    """Takes pieces as they come and gives whole events; data that is no JSON object is passed over (`[DONE]`)."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._return = b""
        """A carriage return at the end of a piece: whether it belongs to a line's end says the next one."""

    def take(self, piece: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events that end in this piece, as name ("" without one) and data. Costs what the piece is long, however
        much of its event came before; of one beyond LONGEST_EVENT nothing is read."""
        piece = self._return + piece
        self._return = piece[-1:] if piece.endswith(b"\r") else b""
        piece = piece.removesuffix(b"\r").replace(b"\r\n", b"\n")
        searched = max(0, len(self._rest) - 1)
        self._rest += piece
        while (end := self._rest.find(b"\n\n", searched)) >= 0:
            event = bytes(self._rest[:end])
            del self._rest[: end + 2]
            searched = 0
            yield from _read(event)
        if len(self._rest) > LONGEST_EVENT:
            del self._rest[:-1]

    def end(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The event that the end of the stream ends."""
        rest, self._rest = bytes(self._rest), bytearray()
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
