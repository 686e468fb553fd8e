"""Programs of a sandbox with input and output of any length, and files that travel through them as one tar.

Memory stays bounded on both sides: each piece is asked for, so whoever is slower sets the pace. A stream lives on one
connection; where that is lost, the stream is (`Unavailable`), and its program ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Sequence

from core.aio import TaskScope
from core.domain.errors import InvalidInput, ReportableError, Unavailable
from core.sandbox.daemon_link import DaemonLink
from core.sandbox.replies import DoneReply, DrawnReply, FedReply, StreamReply
from core.sandbox.values import Progress

LAUNCHER = "/opt/tiphys/python3"
"""What starts the daemon's Python in an image that was made fit to be a sandbox."""

PIECE = 1 << 20
"""Bytes of one piece of input; as many at most in one of output."""

AHEAD = 4
"""Pieces of output that may wait for who works on them."""

ANSWER_S = 120.0
"""The daemon answers within 10 s whatever its program does; the rest is patience with a machine that is overloaded."""

_PACK = """
import os, sys, tarfile
base, names = sys.argv[1], sys.argv[2:]
os.chdir(base)
with tarfile.open(fileobj=sys.stdout.buffer, mode="w|", bufsize=1 << 20, copybufsize=1 << 20,
                  format=tarfile.PAX_FORMAT) as tar:
    def light(one):
        tar.members.clear()
        return one if one.isreg() or one.isdir() or one.issym() or one.islnk() else None
    for name in names:
        tar.add(name, filter=light)
"""

_UNPACK = """
import os, sys, tarfile
base = sys.argv[1]
os.makedirs(base, exist_ok=True)
def light(tar):
    for one in tar:
        if os.geteuid():
            one.uid, one.gid, one.uname, one.gname = os.geteuid(), os.getegid(), "", ""
        yield one
        tar.members.clear()
with tarfile.open(fileobj=sys.stdin.buffer, mode="r|", bufsize=1 << 20, copybufsize=1 << 20) as tar:
    tar.extractall(base, light(tar), **({"filter": "tar"} if hasattr(tarfile, "tar_filter") else {}))
while sys.stdin.buffer.read(1 << 20):
    pass
"""
"""Neither holds more than the member at hand, however many there are."""


class ProgramStream:
    """A program that runs in a sandbox; close it, also after its end."""

    def __init__(self, link: DaemonLink, number: int) -> None:
        self._link, self._number = link, number

    @classmethod
    async def begin(cls, link: DaemonLink, argv: Sequence[str], cwd: str = "") -> ProgramStream:
        """Start a program. Raises NotFound where there is none of that name, Conflict when there are too many."""
        reply, _ = await link.ask(StreamReply, "stream", argv=[*argv], cwd=cwd)
        return cls(link, reply.number)

    async def write(self, data: bytes, *, last: bool = False) -> None:
        """Give it input, and wait until it has taken it; `last` ends its input. Raises Unavailable."""
        view = memoryview(data)
        while True:
            piece = bytes(view[:PIECE])
            is_last = last and len(piece) == len(view)
            reply, _ = await self._link.ask(FedReply, "feed", piece, timeout=ANSWER_S, number=self._number,
                                           last=is_last)
            if reply.size > len(piece):
                raise Unavailable("sandbox_nonsense", f"Sandbox {self._link.name} took more than it was given.")
            view = view[reply.size :]
            if not len(view) and reply.size == len(piece):
                return

    async def output(self) -> AsyncIterator[bytes]:
        """What it prints, to its end. Raises InvalidInput (program_failed) for an exit status other than 0."""
        while True:
            reply, data = await self._link.ask(DrawnReply, "draw", timeout=ANSWER_S, number=self._number)
            if data:
                yield data
            if reply.exit_code is not None:
                if reply.exit_code:
                    why = (reply.text.splitlines() or [f"exit status {reply.exit_code}"])[-1]
                    raise InvalidInput("program_failed", f"A program on {self._link.name} failed: {why[-500:]}.",
                                       exit_code=reply.exit_code)
                return

    async def close(self) -> None:
        """End the program if it runs still; the daemon has done so where the connection is gone."""
        if not self._link.is_open:
            return
        try:
            await self._link.ask(DoneReply, "drop", number=self._number)
        except Unavailable:
            pass
        except InvalidInput as error:
            if error.code != "no_stream":
                raise


async def read_stream(link: DaemonLink, argv: Sequence[str], progress: Progress | None) -> AsyncGenerator[bytes, None]:
    """The output of a program, piece by piece. Raises as `ProgramStream.output`."""
    stream, moved = await ProgramStream.begin(link, argv), 0
    try:
        await stream.write(b"", last=True)
        async for piece in stream.output():
            yield piece
            moved += len(piece)
            if progress is not None:
                progress(moved)
    finally:
        await stream.close()


async def write_stream(link: DaemonLink, argv: Sequence[str], pieces: AsyncIterable[bytes],
                       progress: Progress | None) -> int:
    """Give a program its input piece by piece and wait for its end; how many bytes it was given. Its output is
    let go. Raises as `ProgramStream.output`, and what the pieces raise.
    """
    stream, moved = await ProgramStream.begin(link, argv), 0
    try:
        async with TaskScope(f"stream to {link.name}") as scope:
            ended = scope.spawn(_drained(stream), name="output")
            async for piece in pieces:
                if ended.done():
                    break
                await stream.write(piece)
                moved += len(piece)
                if progress is not None:
                    progress(moved)
            if not ended.done():
                await stream.write(b"", last=True)
            if (error := await ended) is not None:
                raise error
        return moved
    finally:
        await stream.close()


async def _drained(stream: ProgramStream) -> InvalidInput | None:
    try:
        async for _ in stream.output():
            pass
    except InvalidInput as error:
        return error
    return None


async def ahead(pieces: AsyncIterator[bytes], scope: TaskScope) -> AsyncIterator[bytes]:
    """The same pieces, of which the next few are asked for while one is worked on, as long as the scope lasts."""
    waiting: asyncio.Queue[bytes | Exception | None] = asyncio.Queue(AHEAD)

    async def draw() -> None:
        try:
            async for piece in pieces:
                await waiting.put(piece)
            await waiting.put(None)
        except (ReportableError, OSError) as error:
            await waiting.put(error)

    scope.spawn(draw(), name="draw")
    while (piece := await waiting.get()) is not None:
        if isinstance(piece, Exception):
            raise piece
        yield piece


def own_python(*arguments: str) -> list[str]:
    """The command that runs a program of ours in whatever sandbox: by the daemon's own Python, where it has one."""
    return ["/bin/sh", "-c", f'[ -x {LAUNCHER} ] && exec {LAUNCHER} "$@"; exec python3 "$@"', "sh", *arguments]


def pack_argv(base: str, names: Sequence[str]) -> list[str]:
    """The program that prints files and folders below a base as one tar, links as links."""
    return own_python("-I", "-B", "-c", _PACK, base, *names)


def unpack_argv(base: str) -> list[str]:
    """The program that unpacks a tar below a base. Nothing in it leads outside (PEP 706's filter `tar`)."""
    return own_python("-I", "-B", "-c", _UNPACK, base)
