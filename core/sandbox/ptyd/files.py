"""Files inside the sandbox: read, write, look, and see what changed under the workspace."""

from __future__ import annotations

import os
import stat
from typing import Any

from .terminal import Refused

ENTRIES = 10_000
SCANNED = 20_000
CHANGES = 200
SKIPPED = {".git", "node_modules", "__pycache__", ".venv", "venv", ".cache", ".mypy_cache", ".pytest_cache"}


def read(path: str, offset: int, size: int) -> tuple[int, bytes]:
    """The size of a regular file and a part of it. Pipes and devices are refused: they could block for ever."""
    with open(_opened(path, os.O_RDONLY), "rb") as file:
        total = os.fstat(file.fileno()).st_size
        file.seek(offset)
        return total, file.read(size)


def write(path: str, data: bytes, append: bool) -> None:
    """Replace or extend a file, making the folders above it; its mode stays as it was."""
    os.makedirs(os.path.dirname(path) or "/", exist_ok=True)
    flags = os.O_WRONLY | os.O_CREAT | (os.O_APPEND if append else os.O_TRUNC)
    with open(_opened(path, flags), "wb") as file:
        file.write(data)


def _opened(path: str, flags: int) -> int:
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise Refused("not_a_file", f"{path} is not a regular file.")
    return fd


def look(path: str) -> dict[str, Any]:
    """What lies at a path."""
    found = os.lstat(path)
    kinds = ((stat.S_ISREG, "file"), (stat.S_ISDIR, "dir"), (stat.S_ISLNK, "link"))
    kind = next((name for test, name in kinds if test(found.st_mode)), "other")
    return {"path": path, "kind": kind, "size": found.st_size, "mtime": found.st_mtime}


def entries(path: str) -> list[dict[str, Any]]:
    """The entries of a folder by name, links as what they point to."""
    names = sorted(os.listdir(path))[:ENTRIES]
    return [e for e in (_entry(os.path.join(path, n)) for n in names) if e is not None]


def _entry(path: str) -> dict[str, Any] | None:
    try:
        found = look(path)
        if found["kind"] == "link" and os.path.isdir(path):
            found["kind"] = "dir"
    except OSError:
        return None
    return found


class ChangeWatch:
    """What changed under a folder between two looks, by size and time of change. Bounded in files and answers."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._known: dict[str, tuple[int, int]] | None = None

    def stock(self) -> list[dict[str, Any]]:
        """All files as they are now, the first few hundred; changes are counted from the first stock-taking on."""
        seen = self._look()
        if self._known is None:
            self._known = seen
        return [{"path": p, "size": s[0], "gone": False, "new": False} for p, s in seen.items()][: 2 * CHANGES]

    def changes(self) -> list[dict[str, Any]]:
        """New, altered and vanished files since the last call; the first call takes stock and tells nothing."""
        seen = self._look()
        known, self._known = self._known, seen
        if known is None:
            return []
        fresh = [{"path": p, "size": s[0], "gone": False, "new": p not in known}
                 for p, s in seen.items() if known.get(p) != s]
        gone = [{"path": p, "size": 0, "gone": True, "new": False} for p in known if p not in seen]
        return (fresh + gone)[:CHANGES]

    def _look(self) -> dict[str, tuple[int, int]]:
        seen: dict[str, tuple[int, int]] = {}
        for folder, folders, names in os.walk(self.folder):
            folders[:] = sorted(f for f in folders if f not in SKIPPED and not f.startswith(".tiphys"))
            for name in names:
                path = os.path.join(folder, name)
                try:
                    found = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISREG(found.st_mode):
                    seen[path] = (found.st_size, found.st_mtime_ns)
                if len(seen) >= SCANNED:
                    return seen
        return seen
