"""Commands that go on after their action: who started each, when it ended and how, and who was told."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from core.aio import TaskScope
from core.domain.blob import blob_hash
from core.domain.errors import ReportableError
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import Job

MOST_NOTES = 500


class JobNote(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A job and the action that started it. `reported` once an observation has reported its end."""

    id: str
    call_id: str
    step: int
    host: str
    terminal: str
    command: str = ""
    ended: bool = False
    exit_code: int | None = None
    reported: bool = msgspec.field(default=False, name="told")  # the name that journals have

    @property
    def failed(self) -> bool:
        """Whether it ended otherwise than with 0."""
        return self.ended and self.exit_code != 0

    @property
    def sentence(self) -> str:
        """One line for the model."""
        code = "without an exit code" if self.exit_code is None else f"with exit code {self.exit_code}"
        return f"Job {self.id} (step {self.step}: {self.command[:80]}) in {self.host}/{self.terminal} ended {code}."


def job_id(step: int, call_id: str) -> str:
    """The id of the job that an action starts: made of the action, so that a restarted runner finds it again."""
    return f"s{step}-{blob_hash(call_id.encode())[:6]}"


class JobBook:
    """Knows the jobs of all hosts. `ended` is set whenever one ended that nobody was told of."""

    def __init__(self, hosts: Mapping[str, Sandbox]) -> None:
        self._hosts = hosts
        self._notes: dict[str, JobNote] = {}
        self.ended = asyncio.Event()
        self._news = asyncio.Event()

    def knows(self, job: str) -> bool:
        """Whether a job runs, or its end was not told yet."""
        return job in self._notes

    def running(self) -> set[str]:
        """The hosts with jobs that run, as far as anybody knows."""
        return {note.host for note in self._notes.values() if not note.ended}

    async def wait_end(self, jobs: Sequence[str] = ()) -> None:
        """Wait until one of these jobs has ended (or any whose end was not told); one that has ended is enough."""
        if not jobs:
            await self.ended.wait()
            return
        while not any(note is None or note.ended for note in map(self._notes.get, jobs)):
            self._news.clear()
            await self._news.wait()

    async def start_watch(self, scope: TaskScope, notes: Iterable[JobNote]) -> None:
        """Take the notes of a runner before, and hear of every job's end, those of the meantime too."""
        self._notes = {n.id: n for n in notes}
        for name, sandbox in self._hosts.items():
            try:
                known = {job.id for job in await sandbox.terminals.jobs()}
            except ReportableError:
                known = set()
            for note in [n for n in self._notes.values() if n.host == name and n.id not in known]:
                self.note_end(Job(id=note.id, terminal=note.terminal, ended=True))  # its sandbox was made anew
            scope.spawn(self._listen(name), name=f"jobs of {name}")

    def start(self, note: JobNote) -> None:
        """A job begins."""
        self._notes[note.id] = note
        while len(self._notes) > MOST_NOTES:
            del self._notes[next(iter(self._notes))]

    def note_end(self, job: Job) -> None:
        """A job may have ended."""
        note = self._notes.get(job.id)
        if note is not None and job.ended and not note.ended:
            self._notes[job.id] = msgspec.structs.replace(note, ended=True, exit_code=job.exit_code)
            self.ended.set()
            self._news.set()

    def lost(self, host: str, terminal: str = "") -> None:
        """A terminal, or a whole sandbox, is gone: its jobs ended, nobody knows how."""
        for note in [n for n in self._notes.values() if n.host == host and terminal in ("", n.terminal)]:
            self.note_end(Job(id=note.id, terminal=note.terminal, ended=True))

    def forget(self, job: str) -> None:
        """A job that ended within its own action needs no report."""
        self._notes.pop(job, None)
        self._settle()

    def tell(self, host: str = "", terminal: str = "") -> list[JobNote]:
        """The ends not told yet, of one terminal or of all; they count as told now."""
        fresh = [n for n in self._notes.values() if n.ended and not n.reported
                 and host in ("", n.host) and terminal in ("", n.terminal)]
        for note in fresh:
            self._notes[note.id] = msgspec.structs.replace(note, reported=True)
        self._settle()
        return fresh

    def last(self, host: str, terminal: str) -> JobNote | None:
        """The job that a terminal was given last."""
        return next((n for n in reversed(self._notes.values()) if (n.host, n.terminal) == (host, terminal)), None)

    def notes(self) -> tuple[JobNote, ...]:
        """What to keep over a restart: jobs that run or whose end was not told."""
        return tuple(n for n in self._notes.values() if not n.reported)

    def _settle(self) -> None:
        if not any(n.ended and not n.reported for n in self._notes.values()):
            self.ended.clear()

    async def _listen(self, host: str) -> None:
        async for job in self._hosts[host].terminals.ended_jobs():
            self.note_end(job)
