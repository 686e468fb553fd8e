"""A lock that lives as long as the process that holds it: it cannot go stale, whatever kills its holder."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from pathlib import Path

_PATIENCE_S, _PAUSE_S = 0.05, 0.01
_DIGITS = 20

if os.name == "nt":
    import msvcrt
else:
    import fcntl


class FileLock:
    """An exclusive lock on a file, between processes. The file stays; only the lock on it counts."""

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    def take(self, patience_s: float = _PATIENCE_S) -> bool:
        """Take it if it is free, or gets free in so many seconds; whether it is held by this object now.

        Never less than 50 ms are right, as `is_held` of another process holds a free lock for an instant.
        """
        until = time.monotonic() + patience_s
        while not self._try():
            if time.monotonic() >= until:
                return False
            time.sleep(_PAUSE_S)
        return True

    def _try(self) -> bool:
        if self._handle is not None:
            return True
        handle = os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600)
        if not _lock(handle, shared=False):
            os.close(handle)
            return False
        self._handle = handle
        self._name(os.getpid())
        return True

    def _name(self, pid: int | None) -> None:
        """Write who holds it, behind the byte that Windows locks; a full disk is in nobody's way."""
        assert self._handle is not None
        with suppress(OSError):
            os.lseek(self._handle, 1, os.SEEK_SET)
            os.write(self._handle, f"{pid or '':<{_DIGITS}}".encode())

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def release(self) -> None:
        """Let go. May be called again."""
        if self._handle is not None:
            self._name(None)
            os.close(self._handle)
            self._handle = None


def is_held(path: Path | str) -> bool:
    """Whether some process holds the lock of that file."""
    try:
        handle = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        return not _lock(handle, shared=True)  # shared: those who only ask do not see each other
    finally:
        os.close(handle)


def holder(path: Path | str) -> int | None:
    """The process that holds the lock of that file, by its own word; None where none does, or its program is an
    older one that does not say."""
    if not is_held(path):
        return None
    with suppress(OSError, ValueError), Path(path).open("rb") as file:
        file.seek(1)
        return int(file.read(_DIGITS))
    return None


def _lock(handle: int, *, shared: bool) -> bool:
    try:
        if os.name == "nt":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
        else:
            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
