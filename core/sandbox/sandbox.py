"""What a sandbox is: one host of a session, its terminals, commands, files and snapshots.

Everything that comes out of a sandbox is hostile: replies are read into the closed types of this module
with limits of size and time. Troubles of the engine or of the sandbox raise `Unavailable`; what the agent
named wrongly raises `NotFound`, `InvalidInput` or `Conflict`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Callable, Sequence
from typing import Annotated, Literal, Protocol

import msgspec
from msgspec import Meta

from core.domain.task import Host

FILE_LIMIT = 64 << 20
"""The most bytes that one read or write of a file may move."""

Progress = Callable[[int], None]
"""Called with how many bytes have moved so far, after each piece."""


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """How a one-off command ended. `output` holds both streams, cut at the caller's limit."""

    exit_code: int
    output: bytes
    truncated: bool = False
    timed_out: bool = False


Count = Annotated[int, Meta(ge=0, le=1 << 62)]
Name = Annotated[str, Meta(max_length=100, pattern=r"^[A-Za-z0-9_.-]*$")]
Text = Annotated[str, Meta(max_length=8192)]
ExitCode = Annotated[int, Meta(ge=0, le=255)]
# Bounded, because these structs are what a hostile daemon's answers are read into.


class FileStat(msgspec.Struct, frozen=True, kw_only=True):
    """One file inside a sandbox; `kind` is file, dir, link or other; `mtime` in seconds since 1970."""

    path: Text
    kind: Literal["file", "dir", "link", "other"] = "file"
    size: Count = 0
    mtime: float = 0.0


class FileChange(msgspec.Struct, frozen=True, kw_only=True):
    """A file under the workspace that is new, altered or gone since the scan before."""

    path: Text
    size: Count = 0
    gone: bool = False
    new: bool = False


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """One process of a terminal, below its shell."""

    pid: Count
    state: Name = ""
    command: Text = ""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A command given to a terminal, by the id its giver chose.

    `start` and `end` are byte offsets of its output in the terminal's stream; `exit_code` is None while it
    runs, and stays None where the shell died without telling (`ended` is True then).
    """

    id: Name
    terminal: Name
    start: Count = 0
    end: Count = 0
    exit_code: ExitCode | None = None
    ended: bool = False
    started_at: float = 0.0
    ended_at: float = 0.0


class TerminalInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A terminal now. Bytes first..total of its stream can be read again; `job` is the command that runs.

    `exit_code` is that of the shell once it ended (`alive` False). `quiet_s` is how long nothing was printed.
    """

    name: Name
    pid: Count = 0
    alive: bool = True
    busy: bool = False
    job: Name = ""
    first: Count = 0
    total: Count = 0
    exit_code: ExitCode | None = None
    quiet_s: float = 0.0
    cwd: Text = ""


class Chunk(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes of a terminal's stream at an absolute offset. `lost` bytes just before it were dropped."""

    offset: int
    data: bytes
    lost: int = 0

    @property
    def end(self) -> int:
        """The offset just behind these bytes."""
        return self.offset + len(self.data)


Processes = list[Process]
Jobs = list[Job]
TerminalInfos = list[TerminalInfo]
FileStats = list[FileStat]
FileChanges = list[FileChange]
# Named, because inside the classes below `list` is a method.


class TerminalHost(Protocol):
    """The named, long-lived shells of one host. They outlive the connection and the process that opened them."""

    async def open(self, name: str, *, rows: int = 32, cols: int = 120, cwd: str = "", offset: int = 0,
                   recall: bytes = b"") -> TerminalInfo:
        """Open a terminal, or give the one of that name as it is; its shell is started anew if it had ended.

        `offset` is the length of the stream so far as the caller knows it: the stream of a terminal that the
        sandbox no longer remembers goes on there. `recall` is the end of that stream, to be read again.
        """
        ...

    async def list(self) -> TerminalInfos:
        """All terminals, ended ones too until they are closed."""
        ...

    async def command(self, name: str, job: str, text: str) -> None:
        """Give the shell a command, of any number of lines. Raises Conflict `busy`, NotFound `no_terminal`."""
        ...

    async def write(self, name: str, data: bytes) -> None:
        """Type raw bytes."""
        ...

    async def interrupt(self, name: str) -> None:
        """SIGINT to the foreground process group, as Ctrl-C does."""
        ...

    async def kill(self, name: str, *, force: bool = False) -> Processes:
        """Send SIGTERM (or SIGKILL) to all processes of a terminal but its shell; gives those it was sent to."""
        ...

    async def processes(self, name: str) -> Processes:
        """The processes of a terminal below its shell."""
        ...

    async def end(self, name: str) -> None:
        """End a terminal's shell and all below it; its stream stays, and `open` starts a shell anew."""
        ...

    async def close(self, name: str) -> None:
        """End a terminal with all its processes, and forget its output."""
        ...

    async def resize(self, name: str, rows: int, cols: int) -> None:
        """Change the size of the screen."""
        ...

    async def read(self, name: str, start: int, end: int) -> Chunk:
        """A range of the stream, as far as it is kept; at most 8 MiB, the first part of a longer range."""
        ...

    def subscribe(self, name: str, offset: int = 0) -> AsyncIterator[Chunk]:
        """The stream from an offset on, live; ends when the terminal is closed. Reconnects by itself."""
        ...

    async def is_busy(self, name: str) -> bool:
        """Whether a command or program runs in the foreground."""
        ...

    async def jobs(self, name: str = "") -> Jobs:
        """The commands that terminals were given, oldest first (the last 1,000)."""
        ...

    async def wait_job(self, job: str, timeout: float) -> Job:
        """The job once it has ended, or as it is after `timeout` seconds. Raises NotFound."""
        ...

    def ended_jobs(self) -> AsyncIterator[Job]:
        """Every job that has ended, as far back as it is known, and each that ends from now on."""
        ...


class ByteStream(Protocol):
    """A program that runs in a sandbox; close it, also after its end."""

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Give it input, and wait until it has taken it; `last` ends its input. Raises Unavailable."""
        ...

    def output(self) -> AsyncIterator[bytes]:
        """What it prints, to its end. Raises InvalidInput (program_failed) for an exit status other than 0."""
        ...

    async def close(self) -> None:
        """End the program if it runs still."""
        ...


class Sandbox(Protocol):
    """One host of a session."""

    host: Host
    confined: bool
    """False for the unconfined local sandbox: whatever runs there can do all that its user can."""
    workspace: str
    """The absolute path, inside the sandbox, of the folder to work in."""
    folders: dict[str, str]
    """The folders that a snapshot holds: a name that is the same on every sandbox, and where it lies in this one."""
    is_new: bool
    """Whether `start` made it with empty folders, by the last call."""
    terminals: TerminalHost

    async def start(self) -> None:
        """Make the sandbox, or re-attach to the one that runs already. Raises Unavailable."""
        ...

    async def run(self, argv: Sequence[str], *, input: bytes = b"", cwd: str = "", timeout: float = 60.0,
                  limit: int = 1 << 20) -> Ran:
        """Run one program outside the terminals, with limits of seconds and of bytes of output."""
        ...

    async def read_file(self, path: str, max_bytes: int = FILE_LIMIT) -> bytes:
        """A whole file. Raises NotFound, LimitReached when it is longer, InvalidInput for a folder."""
        ...

    async def write_file(self, path: str, data: bytes) -> None:
        """Replace or create a file, and the folders above it."""
        ...

    async def program(self, argv: Sequence[str]) -> ByteStream:
        """Start a program with input and output of any length. Raises NotFound, Conflict, Unavailable."""
        ...

    def pack(self, names: Sequence[str], base: str = "", *,
             progress: Progress | None = None) -> AsyncGenerator[bytes, None]:
        """Files and folders below `base` ("": the workspace) as one tar, of any size, piece by piece; links stay links.

        Raises InvalidInput (program_failed) where one is missing or unreadable, Unavailable when the sandbox is lost.
        """
        ...

    async def unpack(self, tar: AsyncIterable[bytes], base: str = "", *, progress: Progress | None = None) -> int:
        """Unpack a tar of any size below `base` ("": the workspace); gives its length in bytes.

        Raises InvalidInput (program_failed) for what is no tar or leads outside, Unavailable, what the pieces raise.
        """
        ...

    async def stat(self, path: str) -> FileStat:
        """What lies at a path. Raises NotFound."""
        ...

    async def list(self, path: str) -> FileStats:
        """The entries of a folder by name, at most 10,000. Raises NotFound."""
        ...

    async def stock(self) -> FileChanges:
        """The files under the workspace now, the first few hundred of them."""
        ...

    async def changed(self) -> FileChanges:
        """Files under the workspace that changed since the last call; the first call only takes stock. Bounded."""
        ...

    async def disk_used(self) -> int:
        """How many bytes its files take on the engine's disk, measured from outside. Raises Unavailable."""
        ...

    async def as_image(self, tag: str) -> str:
        """Save all of a container's own files as an image of its engine, and give its reference. Raises Unavailable
        (no_state) for a host whose files are no image's."""
        ...

    async def listen(self, port: int) -> int:
        """Listen at a port of the sandbox's own loopback (0: any) for programs inside; gives it. Raises Unavailable,
        InvalidInput where the port is taken."""
        ...

    async def accept(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """The next connection of a program inside to that port; it waits there until it is accepted. Raises
        Unavailable."""
        ...

    async def close(self) -> None:
        """Let go of the connection; terminals go on."""
        ...

    async def stop(self) -> None:
        """End everything that runs; files stay."""
        ...

    async def remove(self) -> None:
        """End everything and delete it, the files of a container too."""
        ...
