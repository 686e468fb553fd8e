"""The payloads of a session that is being read: in memory while they are few, beyond that in a file without a name."""

from __future__ import annotations

import tempfile
from collections.abc import Collection, Iterator, Mapping

from core.domain.blob import blob_hash

IN_MEMORY = 8 * 1024 * 1024
"""Bytes that are held in memory; what comes later is written to the disk."""


def exact(data: bytes) -> bytes:
    """The same bytes in as much memory as they need: an encoder leaves up to half of its own unused."""
    return bytes(memoryview(data))


class BlobSpool(Mapping[str, bytes]):
    """Payloads by their names. The file goes with the last one who refers to it."""

    def __init__(self) -> None:
        self.size = 0
        self._in_memory: dict[str, bytes] = {}
        self._spilled: dict[str, tuple[int, int]] = {}
        self._file: tempfile._TemporaryFileWrapper[bytes] | None = None
        self._end = 0

    def put(self, data: bytes) -> str:
        """Store a payload; gives its name."""
        name = blob_hash(data)
        if name in self._in_memory or name in self._spilled:
            return name
        self.size += len(data)
        if self.size <= IN_MEMORY:
            self._in_memory[name] = exact(data)
            return name
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # type: ignore[assignment]  # noqa: SIM115 - it lives as long as we do
        assert self._file is not None
        self._file.seek(self._end)
        self._file.write(data)
        self._spilled[name] = (self._end, len(data))
        self._end += len(data)
        return name

    def __getitem__(self, name: str) -> bytes:
        if name in self._in_memory:
            return self._in_memory[name]
        start, size = self._spilled[name]
        assert self._file is not None
        self._file.seek(start)
        return self._file.read(size)

    def __iter__(self) -> Iterator[str]:
        yield from self._in_memory
        yield from self._spilled

    def __len__(self) -> int:
        return len(self._in_memory) + len(self._spilled)


class BlobSelection(Mapping[str, bytes]):
    """Some payloads of others, which are read when they are asked for."""

    def __init__(self, whole: Mapping[str, bytes], names: Collection[str]) -> None:
        self._whole = whole
        self._names = dict.fromkeys(name for name in names if name in whole)

    def __getitem__(self, name: str) -> bytes:
        if name not in self._names:
            raise KeyError(name)
        return self._whole[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
