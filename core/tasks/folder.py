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
from core.store.regular_file import open_unlinked

MAX_TEXT = 1 << 20
MAX_FILES = 200_000
"""Bounds of a text that is read as such (task.toml, a description, a script), and of a folder. Files that are only
passed on may have any size: they go through in pieces."""

MAX_FILE = 64 << 20
"""The largest file that is read for a digest."""

_PIECE = 1 << 20


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


def read_text(path: Path) -> str:
    """A file's text. Raises InvalidInput, LimitReached (task_too_large)."""
    try:
        with os.fdopen(open_unlinked(path, "bad_task_file"), "rb") as file:
            data = file.read(MAX_TEXT + 1)
        if len(data) > MAX_TEXT:
            raise _too_large(path, f"more than {MAX_TEXT >> 20} MiB")
        return data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error


def list_folder(folder: Path, root: Path | None = None) -> list[tuple[str, Path]]:
    """The regular files below a folder of the task, by relative path, with where each lies; or a single file.

    A link may lead to a file below `root`, which is the folder itself unless it is given.
    Raises InvalidInput (bad_task_file) for what is no such file, LimitReached (task_too_large) for too many.
    """
    if not folder.is_dir():
        return [(folder.name, require_regular(_resolved(folder, root or folder.parent)))]
    return [(path.relative_to(folder).as_posix(), require_regular(_resolved(path, root or folder)))
            for path in _entries(folder)]


def digest(folder: Path) -> str:
    """What a task's folder holds, in 64 digits: another name or byte in it gives another digest.

    A file of more than `MAX_FILE` counts by its length and by when it last changed, which no copy keeps: to read
    gigabytes before each start would take longer than the start. Raises as `list_folder`.
    """
    whole = hashlib.sha256()
    for path in _entries(folder):
        size, content = content_of(_resolved(path, folder))
        name = os.fsencode(path.relative_to(folder).as_posix())
        whole.update(b"%d:%b%d:" % (len(name), name, size))
        whole.update(content)
    return whole.hexdigest()


def content_of(path: Path) -> tuple[int, bytes]:
    """How long a file is, and its digest, or its time for one beyond `MAX_FILE`. Raises InvalidInput."""
    size, content = 0, hashlib.sha256()
    found = path.lstat()
    if stat.S_ISREG(found.st_mode) and found.st_size > MAX_FILE:
        content.update(b"%d at %d ns" % (found.st_size, found.st_ctime_ns))
        return found.st_size, content.digest()
    try:
        with os.fdopen(open_unlinked(path, "bad_task_file"), "rb") as file:
            while data := file.read(_PIECE):
                size += len(data)
                content.update(data)
    except OSError as error:
        raise InvalidInput("bad_task_file", f"{path} cannot be read: {error}", path=str(path)) from error
    return size, content.digest()


def require_regular(path: Path) -> Path:
    """The file, which must be one that could be read now. Raises InvalidInput."""
    os.close(open_unlinked(path, "bad_task_file"))
    return path


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
