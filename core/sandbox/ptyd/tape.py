"""The output of one terminal by absolute byte offset: the newest part in memory, older parts in a bounded spool.

What is no longer kept is a gap that the reader sees in the offsets, never silently closed.
"""

from __future__ import annotations

import os
from typing import NamedTuple

RING = 1 << 20
SEGMENT = 1 << 20
SEGMENTS = 16


class Segment(NamedTuple):
    """Bytes start..stop of the stream in a file."""

    start: int
    stop: int
    path: str


class OutputTape:
    """Appends bytes, and reads them again from any offset that is still kept."""

    def __init__(self, folder: str, start: int = 0) -> None:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        self.folder = folder
        self.total = start
        self._ring = bytearray()
        self._segments: list[Segment] = []

    @property
    def first(self) -> int:
        """The oldest offset that is kept."""
        return self._segments[0].start if self._segments else self.total - len(self._ring)

    def append(self, data: bytes) -> None:
        """Take more output."""
        self._ring += data
        self.total += len(data)
        if len(self._ring) >= RING + SEGMENT:
            self._spool(bytes(self._ring[:SEGMENT]), self.total - len(self._ring))
            del self._ring[:SEGMENT]

    def read(self, offset: int, size: int) -> tuple[int, bytes]:
        """At most `size` bytes from `offset`, or from the next offset that is kept; and where they begin."""
        in_memory = self.total - len(self._ring)
        while offset < in_memory:
            segment = next((s for s in self._segments if s.stop > offset), None)
            if segment is None:
                break
            offset = max(offset, segment.start)
            data = _read(segment, offset, size)
            if data:
                return offset, data
            self._segments.remove(segment)  # somebody in the sandbox took the file away
        offset = min(max(offset, in_memory), self.total)
        at = offset - in_memory
        return offset, bytes(self._ring[at : at + size])

    def discard(self) -> None:
        """Delete the spool."""
        while self._segments:
            self._drop()

    def _spool(self, data: bytes, start: int) -> None:
        path = os.path.join(self.folder, str(start))
        while len(self._segments) >= SEGMENTS:
            self._drop()
        while True:
            try:
                with open(path, "wb") as file:
                    file.write(data)
            except OSError:  # the spool is full: give up our oldest part, or this one
                _remove(path)
                if not self._segments:
                    return
                self._drop()
            else:
                self._segments.append(Segment(start, start + len(data), path))
                return

    def _drop(self) -> None:
        _remove(self._segments.pop(0).path)


def _read(segment: Segment, offset: int, size: int) -> bytes:
    try:
        with open(segment.path, "rb") as file:
            file.seek(offset - segment.start)
            return file.read(min(size, segment.stop - offset))
    except OSError:
        return b""


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        pass
