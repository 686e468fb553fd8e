"""Taking a submission out of a sandbox: regular files only, nothing followed or unpacked, of any size that its host
may hold."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

from core.domain.errors import InvalidInput, LimitReached, NotFound
from core.sandbox.archive import Bounds, receive
from core.sandbox.sandbox import Sandbox

MAX_FILES = 200_000
MAX_STORED = 16 << 20
"""The largest submission in bytes that is kept in the log; larger ones are scored all the same."""


async def collect(sandbox: Sandbox, names: Sequence[str], folder: Path) -> list[tuple[str, Path]]:
    """Write the files under the named paths of the workspace below a new folder of this machine, by relative path;
    links and devices are left out. Gives names and places, sorted.

    Raises NotFound (not_handed_in) for a named path that is not there, LimitReached (submission_too_large) beyond the
    bounds, InvalidInput for a path outside, OSError of this disk, Unavailable and other errors where the sandbox does
    not answer.
    """
    plain = [_inside(name) for name in names]
    for name in plain:
        await _require(sandbox, name)
    if not plain:
        return []
    size = sandbox.host.disk_mb << 20
    try:
        async with aclosing(sandbox.pack(plain)) as pieces:
            found = await receive(pieces, folder, Bounds(MAX_FILES, size))
    except LimitReached as error:
        raise LimitReached(
            "submission_too_large", f"The submission has more than {MAX_FILES:,} files or {size >> 20:,} MiB, which is "
            "the most that its host may hold.") from error
    return [(name, folder / name) for name in found]


def pack(files: Mapping[str, bytes]) -> bytes:
    """The files as one tar whose bytes depend on names and contents alone."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def stored(files: Sequence[tuple[str, Path]]) -> bytes:
    """What of a submission goes into the log: all of it as a tar, or nothing where that would be too large."""
    if not files or sum(path.stat().st_size for _, path in files) > MAX_STORED:
        return b""
    packed = pack({name: path.read_bytes() for name, path in files})
    return packed if len(packed) <= MAX_STORED else b""


async def _require(sandbox: Sandbox, name: str) -> None:
    try:
        await sandbox.stat(posixpath.join(sandbox.workspace, name))
    except NotFound as error:
        if error.code != "not_found":
            raise
        raise NotFound("not_handed_in", f"{name} was not handed in.", path=name) from error


def _inside(name: str) -> str:
    path = posixpath.normpath(name)
    if path.startswith(("/", "..")) or "\0" in path:
        raise InvalidInput("bad_submission", f"{name!r} does not lie in the workspace.", path=name)
    return path
