"""What a sandbox is: one host of a session, its terminals, commands, files and snapshots.

Everything that comes out of a sandbox is hostile: replies are read into closed types (`values.py`)
with limits of size and time. Troubles of the engine or of the sandbox raise `Unavailable`; what the agent
named wrongly raises `NotFound`, `InvalidInput` or `Conflict`.
"""

import contextlib
import posixpath
from collections.abc import AsyncGenerator, AsyncIterable, Sequence

from core.domain.errors import LimitReached, Unavailable
from core.domain.task import Host
from core.sandbox.daemon_link import DaemonLink, Streams
from core.sandbox.replies import Changes, DoneReply, Entries, FilePart, PortReply, RanReply
from core.sandbox.streams import ProgramStream, pack_argv, read_stream, unpack_argv, write_stream
from core.sandbox.terminals import TerminalHost
from core.sandbox.values import FILE_LIMIT, FileChanges, FileStat, FileStats, Progress, Ran

PIECE = 1 << 19


class Sandbox:
    """One host of a session. What differs by kind says how it begins and ends; the rest goes through its daemon."""

    confined: bool
    """False for the unconfined local sandbox: whatever runs there can do all that its user can."""

    def __init__(self, host: Host, workspace: str) -> None:
        self.host = host
        self.workspace = workspace
        """The absolute path, inside the sandbox, of the folder to work in."""
        self.folders = {"workspace": workspace}
        """What a snapshot holds: a name that is the same on every sandbox, and where it lies in this one."""
        self.is_new = False
        """Whether `start` made it with empty folders, by the last call."""
        self.link = DaemonLink(self._connect, host.name)
        self.terminals = TerminalHost(self.link)

    async def start(self) -> None:
        """Make the sandbox, or re-attach to the one that runs already. Raises Unavailable."""
        raise NotImplementedError

    async def stop(self) -> None:
        """End everything that runs; files stay."""
        raise NotImplementedError

    async def remove(self) -> None:
        """End everything and delete it, the files of a container too."""
        raise NotImplementedError

    async def disk_used(self) -> int:
        """How many bytes its files take on the engine's disk, measured from outside. Raises Unavailable."""
        raise NotImplementedError

    async def _connect(self) -> Streams:
        raise NotImplementedError

    async def run(self, argv: Sequence[str], *, input: bytes = b"", cwd: str = "", timeout: float = 60.0,
                  limit: int = 1 << 20) -> Ran:
        """Run one program outside the terminals, with limits of seconds and of bytes of output."""
        reply, output = await self.link.ask(RanReply, "run", input, timeout=timeout + 15, argv=[*argv], cwd=cwd,
                                            limit=limit, timeout_s=timeout)
        return Ran(exit_code=reply.exit_code, output=output, truncated=reply.truncated, timed_out=reply.timed_out)

    async def as_image(self, tag: str) -> str:
        """Save all of a container's own files as an image of its engine, and give its reference. Raises Unavailable
        (no_state) for a host whose files are no image's."""
        raise Unavailable("no_state", f"The files of host {self.host.name} are no image's: a host with `workdir` has "
                          "such ones.", host=self.host.name)

    async def program(self, argv: Sequence[str]) -> ProgramStream:
        """Start a program with input and output of any length. Raises NotFound, Conflict, Unavailable."""
        return await ProgramStream.begin(self.link, argv)

    async def read_file(self, path: str, max_bytes: int = FILE_LIMIT) -> bytes:
        """A whole file. Raises NotFound, LimitReached when it is longer, InvalidInput for a folder."""
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
        """Replace or create a file, and the folders above it."""
        if len(data) > FILE_LIMIT:
            raise LimitReached("too_large", f"{path} would be longer than {FILE_LIMIT:,} bytes.", limit=FILE_LIMIT)
        for at in range(0, max(1, len(data)), PIECE):
            await self.link.ask(DoneReply, "write_file", data[at : at + PIECE], path=path, append=at > 0)

    async def pack(self, names: Sequence[str], base: str = "", *,
                   progress: Progress | None = None) -> AsyncGenerator[bytes, None]:
        """Files and folders below `base` ("": the workspace) as one tar, of any size, piece by piece; links stay links.

        Raises InvalidInput (program_failed) where one is missing or unreadable, Unavailable when the sandbox is lost.
        """
        pieces = read_stream(self.link, pack_argv(self._place(base), names), progress=progress)
        async with contextlib.aclosing(pieces):  # who stops listening ends the program, too
            async for piece in pieces:
                yield piece

    async def unpack(self, tar: AsyncIterable[bytes], base: str = "", *, progress: Progress | None = None) -> int:
        """Unpack a tar of any size below `base` ("": the workspace); gives its length in bytes.

        Raises InvalidInput (program_failed) for what is no tar or leads outside, Unavailable, what the pieces raise.
        """
        return await write_stream(self.link, unpack_argv(self._place(base)), tar, progress=progress)

    async def stat(self, path: str) -> FileStat:
        """What lies at a path. Raises NotFound."""
        return (await self._entries("stat", path))[0]

    async def list(self, path: str) -> FileStats:
        """The entries of a folder by name, at most 10,000. Raises NotFound."""
        return await self._entries("entries", path)

    async def changed(self) -> FileChanges:
        """Files under the workspace that changed since the last call; the first call only takes stock. Bounded."""
        return (await self.link.ask(Changes, "changed"))[0].changes

    async def stock(self) -> FileChanges:
        """The files under the workspace now, the first few hundred of them."""
        return (await self.link.ask(Changes, "stock"))[0].changes

    async def listen(self, port: int) -> int:
        """Listen at a port of the sandbox's own loopback (0: any) for programs inside; gives it. Raises Unavailable,
        InvalidInput where the port is taken."""
        return (await self.link.ask(PortReply, "listen", port=port))[0].port

    async def accept(self) -> Streams:
        """The next connection of a program inside to that port; it waits there until it is accepted. Raises
        Unavailable."""
        return await self.link.accept()

    async def close(self) -> None:
        """Let go of the connection; terminals go on."""
        await self.link.close()

    def _place(self, base: str) -> str:
        return posixpath.join(self.workspace, base) if base else self.workspace

    async def _entries(self, op: str, path: str) -> FileStats:
        entries = (await self.link.ask(Entries, op, path=path))[0].entries
        if op == "stat" and len(entries) != 1:
            raise Unavailable("sandbox_nonsense", f"Sandbox {self.host.name} gave an unreadable answer.")
        return entries
