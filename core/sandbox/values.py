"""What a sandbox gives: jobs, terminals, processes, files; bounded, as all of it comes from where an agent works."""

from collections.abc import Callable
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

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
# Named, because inside the classes that give them `list` is a method.
