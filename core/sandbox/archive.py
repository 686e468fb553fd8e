"""Tars that this machine makes of its own files for a sandbox, and tars that a hostile sandbox gives it: both in
pieces, so that gigabytes pass through a few megabytes of memory.
"""

import asyncio
import os
import posixpath
import tarfile
import threading
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from pathlib import Path

from core.aio import TaskScope
from core.domain.errors import InvalidInput, LimitReached, ReportableError
from core.store.regular_file import open_unlinked

PIECE = 1 << 20
_BLOCK = 512
_HEADER = 1 << 20
"""The most bytes that the description of one member may take."""


async def tar_of(files: Iterable[tuple[str, Path]]) -> AsyncIterator[bytes]:
    """Regular files of this machine, each under a name of its own, as one tar whose owner is nobody in particular.

    Raises InvalidInput (unreadable_file) for what is no regular file, cannot be read or changes its length meanwhile.
    """
    for name, path in files:
        file = await asyncio.to_thread(open_unlinked, path, "unreadable_file")
        try:
            found = os.fstat(file)
            info = tarfile.TarInfo(name)
            info.size, info.mtime = found.st_size, int(found.st_mtime)
            info.mode = 0o755 if found.st_mode & 0o111 else 0o644
            yield info.tobuf(tarfile.PAX_FORMAT, "utf-8", "surrogateescape")
            left = info.size
            while left:
                data = await asyncio.to_thread(os.read, file, min(PIECE, left))
                if not data:
                    raise InvalidInput("unreadable_file", f"{path} became shorter while it was read.", path=str(path))
                left -= len(data)
                yield data
            yield bytes(-info.size % _BLOCK)
        finally:
            os.close(file)
    yield bytes(2 * _BLOCK)


class Bounds:
    """How much a sandbox may give: files and folders, bytes in all."""

    def __init__(self, files: int, size: int) -> None:
        self.files, self.size = files, size


async def receive(pieces: AsyncIterable[bytes], folder: Path, bounds: Bounds) -> list[str]:
    """Write the regular files of a sandbox's tar into a new, empty folder; gives their names, sorted.

    Links and devices are left out; nothing lies outside the folder. Raises InvalidInput (bad_tar) for a tar that
    breaks the rules, LimitReached (tar_too_large) beyond the bounds, OSError of this disk, what the pieces raise.
    """
    feed = _Feed()
    async with TaskScope("receive") as scope:
        writing = scope.spawn(asyncio.to_thread(_written, feed, folder, bounds), name="write")
        try:
            async for piece in pieces:
                if not await feed.put(piece):
                    break
        finally:
            feed.end()
        result = await writing
    if isinstance(result, BaseException):
        raise result
    return sorted(result)


class _Feed:
    """A file object whose bytes come from a coroutine: one piece waits at a time."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._taken = asyncio.Event()
        self._filled = threading.Event()
        self._piece = b""
        self._over = False
        self._closed = False
        self.budget = _HEADER

    async def put(self, piece: bytes) -> bool:
        """Hand a piece over once the one before is taken; False when nobody reads any more."""
        self._piece, self._taken = piece, asyncio.Event()
        self._filled.set()
        await self._taken.wait()
        return not self._closed

    def end(self) -> None:
        """No more pieces come."""
        self._over = True
        self._filled.set()

    def close(self) -> None:
        """Nobody reads any more."""
        self._closed = True
        self._loop.call_soon_threadsafe(lambda: self._taken.set())

    def read(self, size: int) -> bytes:
        """Some bytes, b"" at the end. Called in a thread."""
        while not self._piece and not self._over:
            self._filled.wait()
            self._filled.clear()
        data, self._piece = self._piece[:size], self._piece[size:]
        if not self._piece:
            self._loop.call_soon_threadsafe(lambda: self._taken.set())
        self.budget -= len(data)
        if self.budget < 0:
            raise InvalidInput("bad_tar", "A sandbox's tar describes a file with more than a megabyte.")
        return data


def _written(feed: _Feed, folder: Path, bounds: Bounds) -> list[str] | BaseException:
    """The names of all files, written; or what went wrong, as a value, since a coroutine waits for both ends."""
    try:
        return _write(feed, folder, bounds)
    except (ReportableError, OSError) as error:
        return error
    except (tarfile.TarError, ValueError, EOFError, RecursionError) as error:
        return InvalidInput("bad_tar", f"A sandbox gave a tar that cannot be read: {str(error)[:200]}.")
    finally:
        feed.close()


def _write(feed: _Feed, folder: Path, bounds: Bounds) -> list[str]:
    names: list[str] = []
    size = count = 0
    with tarfile.open(fileobj=feed, mode="r|", bufsize=_BLOCK * 128) as tar:  # type: ignore[call-overload]
        for one in tar:
            tar.members.clear()
            count, size = count + 1, size + max(0, one.size)
            if count > bounds.files or size > bounds.size:
                raise LimitReached("tar_too_large", f"A sandbox gives more than {bounds.files:,} files or "
                                   f"{bounds.size >> 20:,} MiB.", files=bounds.files, size=bounds.size)
            feed.budget = max(0, one.size) + _HEADER
            target = folder / _plain_name(one.name)
            if one.isdir():
                target.mkdir(parents=True, exist_ok=True)
            elif one.isreg():
                target.parent.mkdir(parents=True, exist_ok=True)
                _fill(tar, one, target)
                names.append(_plain_name(one.name))
    return names


def _fill(tar: tarfile.TarFile, one: tarfile.TarInfo, target: Path) -> None:
    source = tar.extractfile(one)
    mode = 0o755 if one.mode & 0o100 else 0o644
    file = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_NOFOLLOW", 0), mode)
    with os.fdopen(file, "wb") as out:
        while source is not None and (data := source.read(PIECE)):
            out.write(data)


def _plain_name(name: str) -> str:
    plain = posixpath.normpath(name)
    if plain.startswith(("/", "..")) or "\0" in plain or "\\" in plain:
        raise InvalidInput("bad_tar", f"A sandbox's tar holds {name[:80]!r}, which lies outside.")
    return plain
