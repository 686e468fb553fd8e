"""Taking a submission out of a sandbox: regular files only, within bounds, nothing followed or unpacked."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Mapping, Sequence

from core.domain.errors import InvalidInput, LimitReached, NotFound
from core.sandbox.sandbox import Sandbox

MAX_FILES = 2000
MAX_FILE = 32 << 20
MAX_TOTAL = 64 << 20
MAX_STORED = 16 << 20
"""The largest submission in bytes that is kept in the log; larger ones are scored all the same."""


async def collect(sandbox: Sandbox, names: Sequence[str]) -> dict[str, bytes]:
    """The files under the named paths of the workspace, by relative path; links and devices are left out.

    Raises NotFound (not_handed_in) for a named path that is not there, LimitReached (submission_too_large) beyond the
    bounds, InvalidInput for a path outside, Unavailable and other errors where the sandbox does not answer.
    """
    files: dict[str, bytes] = {}
    named = [_inside(name) for name in names]
    waiting = list(named)
    seen = 0
    while waiting:
        name = waiting.pop(0)
        path = posixpath.join(sandbox.workspace, name)
        try:
            found = await sandbox.stat(path)
        except NotFound as error:
            if name in named and error.code == "not_found":
                raise NotFound("not_handed_in", f"{name} was not handed in.", path=name) from error
            raise
        seen += 1
        if seen > MAX_FILES:
            raise _too_large(f"more than {MAX_FILES:,} files")
        if found.kind == "dir":
            waiting.extend(posixpath.join(name, posixpath.basename(one.path)) for one in await sandbox.list(path))
        elif found.kind == "file":
            files[name] = await _read(sandbox, name, path)
            if sum(map(len, files.values())) > MAX_TOTAL:
                raise _too_large(f"more than {MAX_TOTAL >> 20} MiB")
    return dict(sorted(files.items()))


async def _read(sandbox: Sandbox, name: str, path: str) -> bytes:
    try:
        return await sandbox.read_file(path, MAX_FILE)
    except LimitReached as error:
        raise _too_large(f"a file {name} of more than {MAX_FILE >> 20} MiB") from error


def _too_large(what: str) -> LimitReached:
    return LimitReached("submission_too_large", f"The submission has {what}; it may have {MAX_FILES:,} files, "
                        f"{MAX_TOTAL >> 20} MiB in all and {MAX_FILE >> 20} MiB in each.")


def pack(files: Mapping[str, bytes]) -> bytes:
    """The files as one tar whose bytes depend on names and contents alone."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(files.items()):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _inside(name: str) -> str:
    path = posixpath.normpath(name)
    if path.startswith(("/", "..")) or "\0" in path:
        raise InvalidInput("bad_submission", f"{name!r} does not lie in the workspace.", path=name)
    return path
