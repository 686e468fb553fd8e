"""Reading a task's folder, which is foreign: regular files that lie in it, within bounds, and nothing else.

A link may lead to another file of the same folder. What leads outside, and what is neither file nor folder (a pipe
would block its reader, a device never ends), is refused by name instead of being left out in silence.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath

from core.domain.errors import InvalidInput, LimitReached
from core.domain.host_rights import is_absolute

MAX_FILE = 64 << 20
MAX_TEXT = 1 << 20
MAX_TOTAL = 512 << 20
MAX_FILES = 200_000
"""Bounds of one file, of a text that is read as such (task.toml, a description, a script), of a folder."""


def check_path(name: str) -> None:
    """Raises InvalidInput unless a task may name the path: relative, without a step up."""
    parts = PureWindowsPath(name).parts
    if not name or "\0" in name or is_absolute(name) or ".." in parts or len(name) > 1000:
        raise InvalidInput("bad_task_file", f"{name[:80]!r} is no path inside a task's folder: it must be relative and "
                           "stay inside.", path=name[:200])


def inside(folder: Path, name: str) -> Path:
    """The file or folder that a task names in its folder, its links resolved.

    Raises InvalidInput where it leaves the folder or is missing.
    """
    check_path(name)
    try:
        path = (folder / name).resolve()
        is_there = path.is_relative_to(folder.resolve()) and path.exists()
    except (OSError, ValueError, RuntimeError) as error:
        raise InvalidInput("bad_task_file", f"{name[:80]!r} cannot name a file: {error}", path=name[:200]) from error
    if not is_there:
        raise InvalidInput("bad_task_file", f"{name} is not a file of the task in {folder}.", path=name[:200])
    return path


def read_file(path: Path, limit: int = MAX_FILE) -> bytes:
    """A regular file, which is not waited for and not followed. Raises InvalidInput, LimitReached (task_too_large)."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise InvalidInput("bad_task_file", f"{path} is no regular file.", path=str(path))
            data = file.read(limit + 1)
    except OSError as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error
    if len(data) > limit:
        raise _too_large(path, f"more than {limit >> 20} MiB")
    return data


def read_text(path: Path) -> str:
    """A file's text. Raises InvalidInput, LimitReached."""
    try:
        return read_file(path, MAX_TEXT).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error


def read_folder(folder: Path, root: Path | None = None) -> dict[str, bytes]:
    """The files below a folder of the task, by relative path.

    A link may lead to a file below `root`, which is the folder itself unless it is given.
    Raises InvalidInput (bad_task_file) for what is no such file, LimitReached (task_too_large).
    """
    files: dict[str, bytes] = {}
    total = 0
    for path in _entries(folder):
        data = read_file(_resolved(path, root or folder))
        total += len(data)
        if total > MAX_TOTAL:
            raise _too_large(folder, f"more than {MAX_TOTAL >> 20} MiB")
        files[path.relative_to(folder).as_posix()] = data
    return files


def list_folder(folder: Path, root: Path | None = None) -> list[tuple[str, Path]]:
    """The regular files below a folder of the task, by relative path, with where each lies; links as `read_folder`.

    Raises InvalidInput (bad_task_file) for what is no such file, LimitReached (task_too_large) for too many.
    """
    found = []
    for path in _entries(folder):
        target = _resolved(path, root or folder)
        if not stat.S_ISREG(target.lstat().st_mode):
            raise InvalidInput("bad_task_file", f"{path} is no regular file.", path=str(path))
        found.append((path.relative_to(folder).as_posix(), target))
    return found


def digest(folder: Path) -> str:
    """What a task's folder holds, in 64 digits: another name or byte in it gives another digest.

    A file of more than `MAX_FILE` counts by its length and by when it last changed, which no copy keeps: to read
    gigabytes before each start would take longer than the start. Raises as `read_folder`.
    """
    whole = hashlib.sha256()
    total = 0
    for path in _entries(folder):
        target = _resolved(path, folder)
        found = target.lstat()
        if stat.S_ISREG(found.st_mode) and found.st_size > MAX_FILE:
            data = b"%d at %d ns" % (found.st_size, found.st_ctime_ns)
        else:
            data = read_file(target)
        total += len(data)
        if total > MAX_TOTAL:
            raise _too_large(folder, f"more than {MAX_TOTAL >> 20} MiB")
        name = os.fsencode(path.relative_to(folder).as_posix())
        whole.update(b"%d:%b%d:" % (len(name), name, len(data)))
        whole.update(hashlib.sha256(data).digest())
    return whole.hexdigest()


def _entries(folder: Path) -> Iterator[Path]:
    """All that is no folder below a folder, in a fixed order; links to folders are not entered."""
    seen = 0
    waiting = [folder]
    while waiting:
        try:
            entries = sorted(os.scandir(waiting.pop()), key=lambda e: e.name)
        except OSError as error:
            raise InvalidInput("bad_task_file", f"{folder} cannot be read: {error}", path=str(folder)) from error
        seen += len(entries)
        if seen > MAX_FILES:
            raise _too_large(folder, f"more than {MAX_FILES} files")
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            else:
                yield Path(entry.path)


def _resolved(path: Path, root: Path) -> Path:
    """The file itself, or the one that a link leads to."""
    if not path.is_symlink():
        return path
    try:
        target = path.resolve()
        if target.is_relative_to(root.resolve()) and target.is_file():
            return target
    except (OSError, RuntimeError):
        pass  # a circle of links leads nowhere
    raise InvalidInput("bad_task_file", f"{path} is a link that leads to no file of the task.", path=str(path))


def _too_large(path: Path, what: str) -> LimitReached:
    return LimitReached("task_too_large", f"{path} has {what}, which is the most that a task may have.", path=str(path))
