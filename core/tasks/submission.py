"""Taking a submission out of a sandbox: regular files only, within bounds, nothing followed or unpacked."""

from __future__ import annotations

import io
import posixpath
import tarfile
from collections.abc import Mapping, Sequence

from core.domain.errors import InvalidInput, LimitReached
from core.sandbox.sandbox import Sandbox

MAX_FILES = 2000
MAX_FILE = 32 << 20
MAX_TOTAL = 64 << 20
MAX_STORED = 16 << 20
"""The largest submission in bytes that is kept in the log; larger ones are scored all the same."""


async def collect(sandbox: Sandbox, names: Sequence[str]) -> dict[str, bytes]:
    """The files under the named paths of the workspace, by relative path; links and devices are left out.

    Raises NotFound for a missing path, LimitReached beyond the bounds, InvalidInput for a path outside.
    """
    files: dict[str, bytes] = {}
    waiting = [_inside(name) for name in names]
    seen = 0
    while waiting:
        name = waiting.pop(0)
        found = await sandbox.stat(posixpath.join(sandbox.workspace, name))
        seen += 1
        if seen > MAX_FILES:
            raise LimitReached("submission_too_large", f"The submission has more than {MAX_FILES} files.")
        if found.kind == "dir":
            children = await sandbox.list(posixpath.join(sandbox.workspace, name))
            waiting.extend(posixpath.join(name, posixpath.basename(one.path)) for one in children)
        elif found.kind == "file":
            files[name] = await sandbox.read_file(posixpath.join(sandbox.workspace, name), MAX_FILE)
            if sum(map(len, files.values())) > MAX_TOTAL:
                raise LimitReached("submission_too_large", f"The submission has more than {MAX_TOTAL} bytes.")
    return dict(sorted(files.items()))


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
