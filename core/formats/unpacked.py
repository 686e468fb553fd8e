"""Files in another dress: compressed with gzip, or text in UTF-16. What is in them is put into a temporary file."""

from __future__ import annotations

import codecs
import os
import tempfile
import weakref
import zlib
from collections.abc import Iterator
from pathlib import Path

from core.domain.errors import LimitReached

MOST = 16 * 1024 * 1024 * 1024
"""Bytes that a file may unpack to."""

_CHUNK = 1024 * 1024
_PACKED = 64 * 1024
"""Read at once of a compressed file: what follows one of its parts is copied for each of them."""
_GZIP, _GZIP_WINDOW = b"\x1f\x8b\x08", 31


class Unpacked:
    """What a file holds, as long as somebody refers to it; `trouble` says what of it could not be read."""

    def __init__(self, path: Path, encoding: str) -> None:
        """`encoding` is gzip, or that of the text. Raises LimitReached beyond MOST."""
        self.trouble = ""
        handle, name = tempfile.mkstemp(prefix="tiphys-unpacked-")
        self.path = Path(name)
        weakref.finalize(self, self.path.unlink, missing_ok=True)
        size = 0
        with os.fdopen(handle, "wb") as out:
            for chunk in self._inside(path) if encoding == "gzip" else _text(path, encoding):
                size += len(chunk)
                if size > MOST:
                    raise LimitReached("file_too_large", f"{path} unpacks to more than {MOST:,} bytes.")
                out.write(chunk)

    def _inside(self, path: Path) -> Iterator[bytes]:
        """What can be unpacked up to the end or the damage, of several parts one after the other."""
        unpacker, at = zlib.decompressobj(_GZIP_WINDOW), 0
        with path.open("rb") as file:
            while chunk := file.read(_PACKED):
                at += len(chunk)
                try:
                    while chunk:
                        yield unpacker.decompress(chunk, _CHUNK)
                        chunk = unpacker.unconsumed_tail or unpacker.unused_data.lstrip(b"\0")
                        if chunk and unpacker.eof:
                            unpacker = zlib.decompressobj(_GZIP_WINDOW)
                except zlib.error as error:
                    self.trouble = f"The compressed file is damaged before byte {at:,}: {error}."
                    return
        yield unpacker.flush()
        if not unpacker.eof:
            self.trouble = f"The compressed file is cut off at byte {at:,}."


def _text(path: Path, encoding: str) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield decoder.decode(chunk).encode("utf-8", "replace")
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def dress(head: bytes) -> str:
    """How a file is packed by its first bytes: gzip, utf-16 (with or without its mark), or "" for plain ones."""
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    if head[:1] in (b"{", b"[") and head[1:2] == b"\0":
        return "utf-16-le"
    return "utf-16-be" if head[:1] == b"\0" and head[1:2] in (b"{", b"[") else ""
