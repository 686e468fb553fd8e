"""How a daemon on this computer is started and reached: its program, and the folder of its socket."""

import asyncio
import contextlib
import os
import stat
from pathlib import Path

from core.domain.errors import Unavailable
from core.sandbox.daemon_link import Streams

BOOT = "import sys; sys.path[0] = sys.argv.pop(1); from ptyd.__main__ import main; sys.exit(main(sys.argv[1:]))"
"""What python3 runs to be the daemon: the folder above the package `ptyd` is the first argument."""


def make_socket_folder(folder: Path) -> None:
    """A folder that only its owner may enter, for the daemon's socket. Raises Unavailable."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        folder.chmod(0o700)
    except OSError as error:
        raise Unavailable("sandbox_folder", f"The sandbox's folder cannot be made: {error}.") from error


def size_of(folder: Path) -> int:
    """How many bytes the files below a folder take on the disk; links are not followed, what vanishes counts as 0."""
    size = 0
    for place, _, names in os.walk(folder, onerror=None):
        for name in names:
            with contextlib.suppress(OSError):
                size += 512 * os.lstat(os.path.join(place, name)).st_blocks  # noqa: PTH118 - speed
    return size


async def connect_socket(folder: Path) -> Streams:
    """Connect to the socket `s` of a folder that a hostile container can write.

    It must be a socket itself: a link that the container put there could lead to another one of this
    machine. Going through an open descriptor also lifts the limit of 107 bytes on the path. Raises OSError.
    """
    fd = os.open(folder / "s", getattr(os, "O_PATH", 0) | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISSOCK(os.fstat(fd).st_mode):
            raise ConnectionRefusedError(f"{folder / 's'} is not a socket")
        return await asyncio.open_unix_connection(f"/proc/self/fd/{fd}")
    finally:
        os.close(fd)
