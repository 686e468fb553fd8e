"""Making tasks: draft after draft through four phases and their gates, until so many are accepted."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from core.aio import TaskScope
from core.domain.drafts import PHASES, DraftRecord, Phase
from core.domain.errors import Conflict, InvalidInput, Unavailable
from core.store.drafts import DraftRecords
from core.tasks.generation.bench import DraftBench
from core.tasks.generation.draft import Draft, TaskAuthor
from core.tasks.generation.folders import write_harbor, write_own
from core.tasks.generation.gates import GateRefusal, Originality
from core.tasks.generation.in_progress import Answer, DraftInProgress

OnRecord = Callable[[DraftRecord], None]

MOST_DRAFTS = 6
"""How many drafts are begun for each task that is wanted, before it is given up."""


class DraftPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be made: so many tasks below `folder`; `tries` answers for each phase; `base` is Harbor's image."""

    count: int
    folder: Path
    tries: int = 3
    at_once: int = 2
    base: str


class Solved(msgspec.Struct, frozen=True, kw_only=True):
    """How often a policy solved a draft, and in which sessions."""

    solved: int
    sessions: tuple[str, ...]


Drive = Callable[[DraftInProgress, DraftBench], Awaitable[str]]
"""Takes one draft through its phases, to its end; gives the session in which that happened, "" for none."""

Solve = Callable[[Draft, DraftBench], Awaitable[Solved]]
"""Lets a policy try a draft that passed all other gates."""


class Generator:
    """One run."""

    def __init__(self, drive: Drive, plan: DraftPlan, open_bench: Callable[[], DraftBench], on_record: OnRecord,
                 solve: Solve | None = None) -> None:
        self._drive, self._plan, self._open_bench, self._on_record = drive, plan, open_bench, on_record
        self._solve = solve
        self._records = DraftRecords(plan.folder)
        self._originality = Originality()
        self._number, self._accepted = 0, 0
        self._changed = asyncio.Condition()
        self._open = 0

    async def run(self) -> int:
        """How many were accepted. Raises what an endpoint or the engine raises."""
        async with TaskScope("drafts") as scope:
            workers = [scope.spawn(self._work(), name=f"bench {n}")
                       for n in range(min(self._plan.at_once, self._plan.count))]
            await asyncio.gather(*workers)
        return self._accepted

    async def _work(self) -> None:
        bench = self._open_bench()
        try:
            while number := await self._next():
                record = await self._one(number, bench)
                async with self._changed:
                    self._accepted += record.state == "accepted"
                    self._open -= 1
                    self._changed.notify_all()
                self._records.put(record)
                self._on_record(record)
        finally:
            await bench.close()

    async def _next(self) -> int:
        """The number of the draft to begin; 0 once enough were accepted, or too many begun."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._accepted + self._open < self._plan.count or not self._open)
            if self._accepted >= self._plan.count or self._number >= self._plan.count * MOST_DRAFTS:
                return 0
            self._open += 1
            self._number += 1
            return self._number

    async def _one(self, number: int, bench: DraftBench) -> DraftRecord:
        making = DraftInProgress(number, bench, self._originality, self._records.put_answer, tries=self._plan.tries,
                                 base=self._plan.base)
        session = await self._drive(making, bench)
        record = msgspec.structs.replace(making.record(), session=session)
        if record.state != "accepted":
            return record
        draft = making.draft()
        if self._solve is not None:
            tried = await self._solve(draft, bench)
            record = msgspec.structs.replace(record, solved=tried.solved, attempts=len(tried.sessions),
                                             solvers=tried.sessions)
            if not tried.solved:
                return msgspec.structs.replace(
                    record, state="refused", phase=PHASES[-1], gate="solved sometimes",
                    reason=f"none of {len(tried.sessions)} attempts of the policy solved it")
        write_own(draft, self._plan.folder / "tiphys" / draft.id)
        write_harbor(draft, self._plan.folder / "harbor" / draft.id, self._plan.base)
        return record


class AuthorDrive:
    """Drives drafts by an author that is asked phase by phase; an answer that a gate refuses is asked for again, with
    the reason."""

    def __init__(self, author: TaskAuthor) -> None:
        self._author = author
        self._turn = asyncio.Lock()

    async def __call__(self, making: DraftInProgress, bench: DraftBench) -> str:
        """See Drive."""
        async with self._turn:  # in the order of the numbers, so that of two alike the first one stays
            await self._phase(making, "description")
        for phase in PHASES[1:]:
            await self._phase(making, phase)
        return ""

    async def _phase(self, making: DraftInProgress, phase: Phase) -> None:
        mend = ""
        while making.phase == phase and not making.is_over:
            try:
                answer = await self._asked(making, phase, mend)
            except InvalidInput as error:
                refusal: GateRefusal | None = making.refuse(GateRefusal("form", error.sentence), "")
            else:
                refusal = await making.take(answer)
            mend = f"{refusal.gate}: {refusal.reason}" if refusal else ""

    async def _asked(self, making: DraftInProgress, phase: Phase, mend: str) -> Answer:
        author, idea = self._author, making.idea
        if phase == "description" or idea is None:
            return await author.describe(making.number, mend)
        if phase == "initial tests":
            return await author.initial_tests(idea, mend)
        if phase == "image":
            return await author.image(idea, making.initial, mend)
        return await author.final_tests(idea, making.initial, making.image, mend)


def prepare(folder: Path) -> None:
    """Make the folder of a run. Raises Conflict (folder_not_empty), Unavailable."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise Conflict("folder_not_empty", f"{folder} is there and not empty; name a new folder.", path=str(folder))
    try:
        (folder / ".work").mkdir(parents=True)
    except OSError as error:
        raise Unavailable("folder_unusable", f"{folder} cannot be made: {error}", path=str(folder)) from error


def clear(folder: Path) -> None:
    """Remove what a run needed while it worked."""
    shutil.rmtree(folder / ".work", ignore_errors=True)
