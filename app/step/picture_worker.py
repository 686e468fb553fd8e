"""Decodes pictures as a process of its own: what a hostile file does to a decoder, it does to this process.

    python -m app.step.picture_worker

It reads requests of `core.workers.pictures` and answers with pixels. Only the kinds of SIGNATURES are decoded, never
one that may refer to other files; size and memory are bounded before a pixel is read.
"""

from __future__ import annotations

import contextlib
import os
import sys

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import msgspec
from PySide6.QtCore import QBuffer, QByteArray, QSize, Qt
from PySide6.QtGui import QImage, QImageReader

from core.domain.errors import InvalidInput, LimitReached
from core.domain.picture import LARGEST_PICTURE
from core.workers.pictures import MOST_SIDE, DecodedPicture, DecodePicture
from core.workers.serve import answer_line, serve

SIGNATURES = ((b"\x89PNG\r\n\x1a\n", b"png"), (b"\xff\xd8\xff", b"jpeg"), (b"GIF8", b"gif"), (b"BM", b"bmp"),
              (b"RIFF", b"webp"))
"""How the files begin that are decoded, and their kinds."""

MOST_PIXELS = 50_000_000
"""Pixels of a picture that is decoded at all."""

MEMORY_MB = 256
"""What a decoder may take for pixels."""

ADDRESS_SPACE = 4 * 1024**3
"""Bytes of address space that this process may take altogether, where the system can hold it to that."""

_DECODER = msgspec.json.Decoder(DecodePicture)


def decoded(request: DecodePicture) -> DecodedPicture:
    """The pixels. Raises InvalidInput (picture_kind, picture_unreadable), LimitReached (picture_too_large)."""
    kind = next((kind for begins, kind in SIGNATURES if request.data.startswith(begins)), b"")
    if not kind or (kind == b"webp" and request.data[8:12] != b"WEBP"):
        raise InvalidInput("picture_kind", "The picture is of a kind that is not decoded here.")
    if len(request.data) > LARGEST_PICTURE:
        raise LimitReached("picture_too_large", f"The picture's file has {len(request.data):,} bytes.")
    buffer = QBuffer()
    buffer.setData(request.data)
    buffer.open(QBuffer.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer, QByteArray(kind))
    whole = reader.size()
    if not whole.isValid() or whole.isEmpty():
        raise InvalidInput("picture_unreadable", "The picture's file is damaged: its size cannot be read.")
    if whole.width() * whole.height() > MOST_PIXELS:
        raise LimitReached("picture_too_large", f"The picture has {whole.width():,} × {whole.height():,} pixels.")
    return _pixels(reader, whole)


def _pixels(reader: QImageReader, whole: QSize) -> DecodedPicture:
    if max(whole.width(), whole.height()) > MOST_SIDE:
        reader.setScaledSize(whole.scaled(MOST_SIDE, MOST_SIDE, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(
            QSize(1, 1)))
    image = reader.read()
    if image.isNull():
        raise InvalidInput("picture_unreadable", f"The picture's file is damaged: {reader.errorString()}")
    image = image.convertToFormat(QImage.Format.Format_RGBA8888)
    rows = bytes(image.constBits())
    wide = 4 * image.width()
    pixels = b"".join(rows[y * image.bytesPerLine() : y * image.bytesPerLine() + wide] for y in range(image.height()))
    return DecodedPicture(width=image.width(), height=image.height(), pixels=pixels)


def main() -> int:
    """Answer until stdin ends."""
    QImageReader.setAllocationLimit(MEMORY_MB)
    with contextlib.suppress(ImportError, ValueError, OSError):  # not on Windows, or less is allowed already
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    return serve(lambda send: lambda line: answer_line(line, _DECODER, decoded, send))


if __name__ == "__main__":
    sys.exit(main())
