"""A text frame packed with zstd, for those who say in Hello that they can unpack it (`PACKED` in `capabilities`).

Layout: 1 byte kind (2), then one zstd frame of the text. The server packs what several subscribers get, once.
"""

from __future__ import annotations

import sys

from core.domain.errors import InvalidInput
from core.protocol.codec import MAX_TEXT_FRAME

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKED = "zstd"
_KIND = b"\x02"
_LEVEL = 1
_WINDOW: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 23}
"""8 MiB: twice the largest text frame."""


def pack(text: bytes) -> bytes:
    """The binary frame that stands for a text frame."""
    return _KIND + zstd.compress(text, level=_LEVEL)


def is_packed(frame: bytes) -> bool:
    """Whether a binary frame is a packed text frame (the others are pieces of payloads)."""
    return frame[:1] == _KIND


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
