"""Zip files without a table of contents: copies that were cut off.

Each member has a header before its bytes (APPNOTE.TXT 4.3.7), so what stands before the cut can be read, and of the
member at the cut what unpacks.
"""

from __future__ import annotations

import struct
import sys
import zlib
from pathlib import Path
from typing import BinaryIO

import msgspec

if sys.version_info >= (3, 14):
    from compression.zstd import ZstdDecompressor, ZstdError
else:
    from backports.zstd import ZstdDecompressor, ZstdError

_HEADER, _CONTENTS = b"PK\x03\x04", b"PK\x01\x02"
_FIELDS = struct.Struct("<4s5H3I2H")
_STORED, _DEFLATE, _ZSTD = 0, 8, 93
_SECRET, _SIZES_FOLLOW, _UTF8 = 1, 8, 0x800
"""Flags of a member: it is encrypted; its sizes stand behind it; its name is UTF-8."""
_WIDE = 0xFFFFFFFF
"""In place of a size of 32 bits: it stands in the extra field 1 (ZIP64)."""
_SPARSE, _FREE = 300, 32 * 1024 * 1024
"""Bytes that one packed byte may unpack to, in a member beyond so many."""


class LocalMember(msgspec.Struct, frozen=True):
    """A member by its own header: where its packed bytes start and stop in the file."""

    name: str
    method: int
    start: int
    stop: int
    is_whole: bool
    """Whether the file holds all of it."""
    sum: int
    """CRC-32 of what is in a whole one."""
    is_secret: bool


def local_members(path: Path, most: int) -> tuple[list[LocalMember], str]:
    """The members up to the damage, or one more than `most`, and one sentence on where that is. Raises OSError."""
    found: list[LocalMember] = []
    size, at = path.stat().st_size, 0
    with path.open("rb") as file:
        while len(found) <= most and (member := _member(file, at, size)) is not None:
            found.append(member)
            at = member.stop
        file.seek(at)
        if file.read(len(_CONTENTS)) == _CONTENTS:
            return found, "The archive's table of contents is damaged. Its members were read one by one."
    return found, f"The archive is cut off or damaged at byte {at:,}. What stands before was read."


def _member(file: BinaryIO, at: int, size: int) -> LocalMember | None:
    """The member whose header starts at a byte; None where there is none that can be unpacked."""
    file.seek(at)
    head = file.read(_FIELDS.size)
    if len(head) < _FIELDS.size or not head.startswith(_HEADER):
        return None
    _, _, flags, method, _, _, crc, packed, _, name_size, extra_size = _FIELDS.unpack(head)
    name, extra = file.read(name_size), file.read(extra_size)
    start = at + _FIELDS.size + name_size + extra_size
    if start > size or method not in (_STORED, _DEFLATE, _ZSTD):
        return None
    stop = start + (_wide(extra) if packed == _WIDE else packed)
    whole = stop <= size and not flags & _SIZES_FOLLOW
    text = name.decode("utf-8" if flags & _UTF8 else "cp437", "replace")
    return LocalMember(text, method, start, stop if whole else size, whole, crc, bool(flags & _SECRET))


def _wide(extra: bytes) -> int:
    """The packed size of a member beyond 4 GiB: the second number of the extra field 1."""
    while len(extra) >= 4:
        kind, length = struct.unpack_from("<HH", extra)
        if kind == 1 and len(extra) >= 20:
            return int(struct.unpack_from("<Q", extra, 12)[0])
        extra = extra[4 + length:]
    return _WIDE


def unpacked(path: Path, member: LocalMember, most: int) -> bytes:
    """What is in a member, of a cut one as far as it goes, up to `most` bytes.

    Raises ValueError where it is damaged, or unpacks to more than that or than its packed bytes can mean.
    """
    with path.open("rb") as file:
        file.seek(member.start)
        packed = file.read(min(member.stop - member.start, most))
    bound = min(most, max(_FREE, _SPARSE * len(packed)))
    try:
        data = _plain(member.method, packed, bound + 1)
    except (zlib.error, ZstdError, EOFError) as error:
        raise ValueError(str(error)) from error
    if len(data) > bound:
        raise ValueError(f"it unpacks to more than {bound:,} bytes")
    if member.is_whole and zlib.crc32(data) != member.sum:
        raise ValueError("its check sum differs")
    return data


def _plain(method: int, packed: bytes, most: int) -> bytes:
    if method == _STORED:
        return packed
    if method == _DEFLATE:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    return ZstdDecompressor().decompress(packed, most)
