"""What every sandbox with a daemon inside has in common: one-off commands and files through the link."""

from __future__ import annotations

import asyncio
import contextlib
import os
import posixpath
import stat
from collections.abc import AsyncGenerator, AsyncIterable, Sequence
from pathlib import Path

from core.domain.errors import LimitReached, Unavailable
from core.domain.task import Host
from core.sandbox.daemon_link import DaemonLink, Streams
from core.sandbox.replies import Changes, DoneReply, Entries, FilePart, PortReply, RanReply
from core.sandbox.sandbox import FILE_LIMIT, FileChanges, FileStat, FileStats, Progress, Ran, TerminalHost
from core.sandbox.streams import ProgramStream, pack_argv, read_stream, unpack_argv, write_stream
from core.sandbox.terminals import LinkedTerminals

PIECE = 1 << 19
BOOT = "import sys; sys.path[0] = sys.argv.pop(1); from ptyd.__main__ import main; sys.exit(main(sys.argv[1:]))"
"""What python3 runs to be the daemon: the folder above the package `ptyd` is the first argument."""


class LinkedSandbox:
    """The part of a `Sandbox` that goes through its daemon."""

    def __init__(self, host: Host, workspace: str) -> None:
        self.host = host
        self.workspace = workspace
        self.folders = {"workspace": workspace}
        self.is_new = False
        self.link = DaemonLink(self._connect, host.name)
        self.terminals: TerminalHost = LinkedTerminals(self.link)

    async def _connect(self) -> Streams:
        raise NotImplementedError

    async def run(self, argv: Sequence[str], *, input: bytes = b"", cwd: str = "", timeout: float = 60.0,
                  limit: int = 1 << 20) -> Ran:
        """See Sandbox."""
        reply, output = await self.link.ask(RanReply, "run", input, timeout=timeout + 15, argv=[*argv], cwd=cwd,
                                            limit=limit, timeout_s=timeout)
        return Ran(exit_code=reply.exit_code, output=output, truncated=reply.truncated, timed_out=reply.timed_out)

    async def as_image(self, tag: str) -> str:
        """See Sandbox."""
        raise Unavailable("no_state", f"The files of host {self.host.name} are no image's: a host with `workdir` has "
                          "such ones.", host=self.host.name)

    async def program(self, argv: Sequence[str]) -> ProgramStream:
        """See Sandbox."""
        return await ProgramStream.begin(self.link, argv)

    async def read_file(self, path: str, max_bytes: int = FILE_LIMIT) -> bytes:
        """See Sandbox."""
        data = bytearray()
        while True:
            size = min(8 << 20, max_bytes + 1 - len(data))
            _, piece = await self.link.ask(FilePart, "read_file", path=path, offset=len(data), size=size)
            data += piece
            if len(data) > max_bytes:
                raise LimitReached("too_large", f"{path} is longer than {max_bytes:,} bytes.", limit=max_bytes)
            if len(piece) < size:
                return bytes(data)

    async def write_file(self, path: str, data: bytes) -> None:
        """See Sandbox."""
        if len(data) > FILE_LIMIT:
            raise LimitReached("too_large", f"{path} would be longer than {FILE_LIMIT:,} bytes.", limit=FILE_LIMIT)
        for at in range(0, max(1, len(data)), PIECE):
            await self.link.ask(DoneReply, "write_file", data[at : at + PIECE], path=path, append=at > 0)

    async def pack(self, names: Sequence[str], base: str = "", *,
                   progress: Progress | None = None) -> AsyncGenerator[bytes, None]:
        """See Sandbox."""
        pieces = read_stream(self.link, pack_argv(self._place(base), names), progress=progress)
        async with contextlib.aclosing(pieces):  # who stops listening ends the program, too
            async for piece in pieces:
                yield piece

    async def unpack(self, tar: AsyncIterable[bytes], base: str = "", *, progress: Progress | None = None) -> int:
        """See Sandbox."""
        return await write_stream(self.link, unpack_argv(self._place(base)), tar, progress=progress)

    async def stat(self, path: str) -> FileStat:
        """See Sandbox."""
        return (await self._entries("stat", path))[0]

    async def list(self, path: str) -> FileStats:
        """See Sandbox."""
        return await self._entries("entries", path)

    async def changed(self) -> FileChanges:
        """See Sandbox."""
        return (await self.link.ask(Changes, "changed"))[0].changes

    async def stock(self) -> FileChanges:
        """See Sandbox."""
        return (await self.link.ask(Changes, "stock"))[0].changes

    async def listen(self, port: int) -> int:
        """See Sandbox."""
        return (await self.link.ask(PortReply, "listen", port=port))[0].port

    async def accept(self) -> Streams:
        """See Sandbox."""
        return await self.link.accept()

    async def close(self) -> None:
        """See Sandbox."""
        await self.link.close()

    def _place(self, base: str) -> str:
        return posixpath.join(self.workspace, base) if base else self.workspace

    async def _entries(self, op: str, path: str) -> FileStats:
        entries = (await self.link.ask(Entries, op, path=path))[0].entries
        if op == "stat" and len(entries) != 1:
            raise Unavailable("sandbox_nonsense", f"Sandbox {self.host.name} gave an unreadable answer.")
        return entries


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
