"""Server-sent events out of a stream of bytes (WHATWG HTML §9.2), as far as model endpoints use them."""

import json
from collections.abc import Iterator
from typing import Any

import msgspec

LONGEST_EVENT = 32 << 20
_MARK = b"\xef\xbb\xbf"


class EventReader:
    """Takes pieces as they come and gives whole events; data that is no JSON object is passed over (`[DONE]`)."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._after_return = False
        """Whether a line feed that comes now belongs to the line's end before it."""
        self._begun = b""
        """What came before it is known whether a byte order mark stands at the beginning."""
        self._is_marked: bool | None = None

    def take(self, piece: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
        """The events that end in this piece, as name ("" without one) and data. Costs what the piece is long, however
        much of its event came before; of one beyond LONGEST_EVENT nothing is read."""
        searched = max(0, len(self._rest) - 1)
        self._rest += self._lines(self._unmarked(piece))
        while (end := self._rest.find(b"\n\n", searched)) >= 0:
            event = bytes(self._rest[:end])
            del self._rest[: end + 2]
            searched = 0
            yield from _read(event)
        if len(self._rest) > LONGEST_EVENT:
            del self._rest[:-1]

    def _unmarked(self, piece: bytes) -> bytes:
        if self._is_marked is None:
            piece = self._begun + piece
            self._begun = piece if len(piece) < len(_MARK) and _MARK.startswith(piece) else b""
            if self._begun:
                return b""
            self._is_marked = piece.startswith(_MARK)
            piece = piece.removeprefix(_MARK)
        return piece

    def _lines(self, piece: bytes) -> bytes:
        """The piece with one way to end a line: agents take a lone carriage return at once, so that is done here, too.
        """
        if self._after_return and piece:
            piece = piece.removeprefix(b"\n")
            self._after_return = False
        if piece:
            self._after_return = piece.endswith(b"\r")
        return piece.replace(b"\r\n", b"\n").replace(b"\r", b"\n") if b"\r" in piece else piece

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
    decoded = loose_json(b"\n".join(data)) if data else None
    if isinstance(decoded, dict):
        yield name, decoded


def loose_json(data: bytes) -> Any:
    """The value of JSON bytes as agents read it, whose own decoders mend broken UTF-8 and take halves of surrogate
    pairs: what they act on is to be logged. None where it is no JSON even so."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:
        mended = json.dumps(json.loads(data.decode("utf-8", "replace")), ensure_ascii=False)
        return msgspec.json.decode(mended.encode("utf-8", "replace"))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return None
