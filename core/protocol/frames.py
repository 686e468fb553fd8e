"""Binary frames: one piece of one blob, zstd-compressed as a whole blob and cut into pieces; or a packed text frame.

Layout of a piece, big endian: 1 byte kind (1), 32 bytes BLAKE2b-256 of the raw payload, 8 bytes offset of this piece,
8 bytes total length (both of the compressed payload), then the piece. An absent blob is total = 2⁶⁴−1.
Of a text frame for those who say in Hello that they can unpack it (`PACKED` in `capabilities`): 1 byte kind (2), then
one zstd frame of the text. The server packs what several subscribers get, once.
"""

import struct
import sys
from collections.abc import Iterator

import msgspec

from core.domain.errors import InvalidInput
from core.protocol.codec import MAX_TEXT_FRAME

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_HEAD = struct.Struct("!B32sQQ")
_KIND = 1
_ABSENT = 2**64 - 1
PIECE = 256 * 1024
MAX_BLOB = 256 * 1024 * 1024
"""Largest compressed blob that is accepted, in bytes."""

PACKED = "zstd"
_PACKED_KIND = b"\x02"
_LEVEL = 1
_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MiB: twice the largest text frame."""


class Piece(msgspec.Struct, frozen=True):
    """One piece of a compressed blob; `total` is None when the sender does not hold the blob."""

    hash: str
    offset: int
    total: int | None
    data: bytes


def pieces(hash: str, compressed: bytes, begin: int = 0, total: int | None = None) -> Iterator[bytes]:
    """The frames that carry a compressed blob, or the part of one that begins at `begin` (`total`: of the whole)."""
    total = len(compressed) if total is None else total
    for offset in range(0, max(1, len(compressed)), PIECE):
        head = _HEAD.pack(_KIND, bytes.fromhex(hash), begin + offset, total)
        yield head + compressed[offset : offset + PIECE]


def absent(hash: str) -> bytes:
    """The frame that says that the blob is not held here."""
    return _HEAD.pack(_KIND, bytes.fromhex(hash), 0, _ABSENT)


def parse_piece(frame: bytes) -> Piece:
    """The piece of a binary frame. Raises InvalidInput."""
    if len(frame) < _HEAD.size:
        raise InvalidInput("bad_frame", f"A binary frame of {len(frame)} bytes is too short.")
    kind, raw, offset, total = _HEAD.unpack_from(frame)
    data = frame[_HEAD.size :]
    if kind != _KIND or len(data) > PIECE:
        raise InvalidInput("bad_frame", f"A binary frame has kind {kind} and {len(data)} bytes of data.")
    if total == _ABSENT:
        return Piece(raw.hex(), 0, None, b"")
    if total > MAX_BLOB or offset + len(data) > total:
        raise InvalidInput("bad_frame", f"A piece {offset}+{len(data)} does not fit a blob of {total} bytes.")
    return Piece(raw.hex(), offset, total, data)


class Assembly:
    """Puts pieces together; pieces of one blob come in order, those of several may be mixed."""

    def __init__(self) -> None:
        self._parts: dict[str, bytearray] = {}
        self._bytes = 0

    @property
    def held(self) -> int:
        """Bytes of payloads that are not whole yet; each counts as 1 KiB at least, so that many empty ones count."""
        return self._bytes + 1024 * len(self._parts)

    def add(self, piece: Piece) -> bytes | None:
        """The whole compressed blob when this piece completes it. Raises InvalidInput on a gap."""
        part = self._parts.setdefault(piece.hash, bytearray())
        if piece.total is None:
            self._drop(piece.hash)
            return None
        if piece.offset == 0:
            self._bytes -= len(part)
            part.clear()
        if piece.offset != len(part):
            self._drop(piece.hash)
            raise InvalidInput("bad_frame", f"A piece of {piece.hash[:12]} starts at {piece.offset}, not {len(part)}.")
        part += piece.data
        self._bytes += len(piece.data)
        return None if len(part) < piece.total else self._drop(piece.hash)

    def _drop(self, hash: str) -> bytes:
        part = bytes(self._parts.pop(hash))
        self._bytes -= len(part)
        return part


def pack(text: bytes) -> bytes:
    """The binary frame that stands for a text frame."""
    return _PACKED_KIND + zstd.compress(text, level=_LEVEL)


def is_packed(frame: bytes) -> bool:
    """Whether a binary frame is a packed text frame (the others are pieces of payloads)."""
    return frame[:1] == _PACKED_KIND


def unpack(frame: bytes) -> bytes:
    """The text frame. Raises InvalidInput for anything but one whole zstd frame of at most MAX_TEXT_FRAME bytes."""
    unpacker = zstd.ZstdDecompressor(options=_WINDOW)
    try:
        text = unpacker.decompress(frame[1:], max_length=MAX_TEXT_FRAME + 1)
    except zstd.ZstdError as error:
        raise InvalidInput("bad_frame", f"A packed frame cannot be read: {error}") from error
    if len(text) > MAX_TEXT_FRAME or not unpacker.eof or unpacker.unused_data:
        raise InvalidInput("bad_frame", "A packed frame is too large, cut short, or something follows it.")
    return text
