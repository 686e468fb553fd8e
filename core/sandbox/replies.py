"""What a sandbox's daemon may say: closed types, bounded in every field. The daemon is hostile."""

from typing import Annotated

import msgspec
from msgspec import Meta

from core.sandbox.values import Count, ExitCode, FileChange, FileStat, Job, Process, TerminalInfo, Text


class DaemonReply(msgspec.Struct, frozen=True, kw_only=True, tag_field="type"):
    """An answer to the request `rid`."""

    rid: Count = 0


class HelloReply(DaemonReply, frozen=True, kw_only=True, tag="hello"):
    """The first answer of a connection."""

    version: int
    pid: Count
    workspace: Text


class DoneReply(DaemonReply, frozen=True, kw_only=True, tag="done"):
    """It was done."""


class DataReply(DaemonReply, frozen=True, kw_only=True, tag="part"):
    """Data of the answer that follows."""


class ErrorReply(DaemonReply, frozen=True, kw_only=True, tag="error"):
    """The request cannot be met."""

    code: Annotated[str, Meta(max_length=40, pattern="^[a-z_]+$")]
    text: Text


class TerminalReply(DaemonReply, frozen=True, kw_only=True, tag="terminal"):
    """One terminal."""

    terminal: TerminalInfo


class Terminals(DaemonReply, frozen=True, kw_only=True, tag="terminals"):
    """All terminals."""

    terminals: Annotated[list[TerminalInfo], Meta(max_length=500)]


class Jobs(DaemonReply, frozen=True, kw_only=True, tag="jobs"):
    """Some jobs; `count` is how many have ended in all."""

    jobs: Annotated[list[Job], Meta(max_length=2000)]
    count: Count = 0


class Range(DaemonReply, frozen=True, kw_only=True, tag="range"):
    """Bytes of a stream from `offset`; `over` when the terminal was closed."""

    offset: Count
    over: bool = False


class RanReply(DaemonReply, frozen=True, kw_only=True, tag="ran"):
    """A one-off command ended; its output is the data."""

    exit_code: ExitCode
    truncated: bool = False
    timed_out: bool = False


class StreamReply(DaemonReply, frozen=True, kw_only=True, tag="stream"):
    """A program with streams has begun."""

    number: Count


class FedReply(DaemonReply, frozen=True, kw_only=True, tag="fed"):
    """A stream took so many bytes of those that were given."""

    size: Count


class DrawnReply(DaemonReply, frozen=True, kw_only=True, tag="drawn"):
    """What a stream's program has printed since is the data. `exit_code` once it has ended; `text` are its errors."""

    exit_code: ExitCode | None = None
    text: Text = ""


class FilePart(DaemonReply, frozen=True, kw_only=True, tag="file"):
    """A part of a file of `size` bytes."""

    size: Count


class Entries(DaemonReply, frozen=True, kw_only=True, tag="entries"):
    """Files."""

    entries: Annotated[list[FileStat], Meta(max_length=10_000)]


class PortReply(DaemonReply, frozen=True, kw_only=True, tag="port"):
    """The port of the sandbox's own loopback that the daemon listens at."""

    port: Annotated[int, Meta(ge=1, le=65535)]


class Changes(DaemonReply, frozen=True, kw_only=True, tag="changes"):
    """Changed files."""

    changes: Annotated[list[FileChange], Meta(max_length=1000)]


class Processes(DaemonReply, frozen=True, kw_only=True, tag="processes"):
    """Processes of a terminal."""

    processes: Annotated[list[Process], Meta(max_length=1000)]


AnyReply = (HelloReply | DoneReply | DataReply | ErrorReply | TerminalReply | Terminals | Jobs | Range | RanReply
            | StreamReply | FedReply | DrawnReply | FilePart | Entries | Changes | Processes | PortReply)
DECODER: msgspec.json.Decoder[AnyReply] = msgspec.json.Decoder(AnyReply)
