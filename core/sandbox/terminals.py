"""Terminals of one host through the link to its daemon."""

import asyncio
import re
from collections.abc import AsyncIterator
from typing import Any

from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.sandbox.daemon_link import DaemonLink
from core.sandbox.replies import DoneReply, Jobs, Processes, Range, TerminalReply, Terminals
from core.sandbox.values import Chunk, Job, TerminalInfo, TerminalInfos
from core.sandbox.values import Jobs as JobList
from core.sandbox.values import Processes as ProcessList

WAIT = 20.0
"""How long one request waits inside the daemon for something new, in seconds."""
BACK_OFF = (0.05, 0.2, 1.0, 3.0, 10.0)
_JOB = re.compile(r"[A-Za-z0-9_-]{1,80}\Z")


class TerminalHost:
    """The named, long-lived shells of one host. They outlive the connection and the process that opened them. Following
    goes on over lost connections, from the offset reached."""

    def __init__(self, link: DaemonLink) -> None:
        self._link = link

    async def open(self, name: str, *, rows: int = 32, cols: int = 120, cwd: str = "",
                   offset: int = 0, recall: bytes = b"") -> TerminalInfo:
        """Open a terminal, or give the one of that name as it is; its shell is started anew if it had ended.

        `offset` is the length of the stream so far as the caller knows it: the stream of a terminal that the
        sandbox no longer remembers goes on there. `recall` is the end of that stream, to be read again.
        """
        reply, _ = await self._link.ask(TerminalReply, "open", recall, name=name, rows=rows, cols=cols, cwd=cwd,
                                        offset=offset)
        return reply.terminal

    async def list(self) -> TerminalInfos:
        """All terminals, ended ones too until they are closed."""
        return (await self._link.ask(Terminals, "list"))[0].terminals

    async def command(self, name: str, job: str, text: str) -> None:
        """Give the shell a command, of any number of lines. Raises Conflict `busy`, NotFound `no_terminal`."""
        if not _JOB.match(job):
            raise InvalidInput("bad_job", f"A job's id cannot be {job!r}.")
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > 900_000 or "\0" in text:
            raise InvalidInput("bad_command", "A command is at most 900,000 bytes and has no NUL in it.")
        await self._link.ask(DoneReply, "command", data, name=name, job=job)

    async def write(self, name: str, data: bytes) -> None:
        """Type raw bytes."""
        await self._link.ask(DoneReply, "write", data[: 1 << 19], name=name)

    async def interrupt(self, name: str) -> None:
        """SIGINT to the foreground process group, as Ctrl-C does."""
        await self._link.ask(DoneReply, "interrupt", name=name)

    async def kill(self, name: str, *, force: bool = False) -> ProcessList:
        """Send SIGTERM (or SIGKILL) to all processes of a terminal but its shell; gives those it was sent to."""
        return await self._processes("kill", name=name, force=force)

    async def processes(self, name: str) -> ProcessList:
        """The processes of a terminal below its shell."""
        return await self._processes("processes", name=name)

    async def end(self, name: str) -> None:
        """End a terminal's shell and all below it; its stream stays, and `open` starts a shell anew."""
        await self._link.ask(DoneReply, "end", name=name)

    async def close(self, name: str) -> None:
        """End a terminal with all its processes, and forget its output."""
        await self._link.ask(DoneReply, "close", name=name)

    async def read(self, name: str, start: int, end: int) -> Chunk:
        """A range of the stream, as far as it is kept; at most 8 MiB, the first part of a longer range."""
        reply, data = await self._link.ask(Range, "read", name=name, start=start, end=end)
        return Chunk(offset=reply.offset, data=data, lost=max(0, reply.offset - start))

    async def is_busy(self, name: str) -> bool:
        """Whether a command or program runs in the foreground."""
        return any(t.busy for t in await self.list() if t.name == name)

    async def jobs(self, name: str = "") -> JobList:
        """The commands that terminals were given, oldest first (the last 1,000)."""
        return (await self._link.ask(Jobs, "jobs", name=name))[0].jobs

    async def wait_job(self, job: str, timeout: float) -> Job:
        """The job once it has ended, or as it is after `timeout` seconds. Raises NotFound."""
        until = asyncio.get_running_loop().time() + timeout
        while True:
            left = until - asyncio.get_running_loop().time()
            reply, _ = await self._link.ask(Jobs, "wait_job", job=job, wait=max(0.0, min(left, WAIT)))
            if not reply.jobs:
                raise NotFound("no_job", f"There is no job {job}.")
            if reply.jobs[0].ended or left <= WAIT:
                return reply.jobs[0]

    async def subscribe(self, name: str, offset: int = 0) -> AsyncIterator[Chunk]:
        """The stream from an offset on, live; ends when the terminal is closed. Reconnects by itself."""
        while True:
            reply, data = await self._persist(Range, "next", name=name, offset=offset)
            if data:
                # An offset below what was asked for would be a repetition: the daemon was made anew.
                lost = max(0, reply.offset - offset)
                yield Chunk(offset=reply.offset, data=data, lost=lost)
                offset = reply.offset + len(data)
            elif reply.over:
                return

    async def ended_jobs(self) -> AsyncIterator[Job]:
        """Every job that has ended, as far back as it is known, and each that ends from now on."""
        count = 0
        while True:
            reply, _ = await self._persist(Jobs, "ended", count=count)
            count = reply.count
            for job in reply.jobs:
                yield job

    async def _persist(self, kind: Any, op: str, **fields: Any) -> Any:
        """Ask a question that waits, again and again while the daemon cannot be reached."""
        tries = 0
        while True:
            try:
                return await self._link.ask(kind, op, wait=WAIT, timeout=WAIT + 15, **fields)
            except Unavailable:
                await asyncio.sleep(BACK_OFF[min(tries, len(BACK_OFF) - 1)])
                tries += 1

    async def _processes(self, op: str, **fields: Any) -> ProcessList:
        return (await self._link.ask(Processes, op, **fields))[0].processes
