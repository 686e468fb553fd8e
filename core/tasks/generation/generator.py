"""Making tasks: draft after draft through four phases and their gates, until so many are accepted."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec

from core.aio import TaskScope
from core.domain.errors import Conflict, InvalidInput, Unavailable
from core.tasks.generation.authored import check_final, check_idea, check_image, check_tests
from core.tasks.generation.bench import DraftBench
from core.tasks.generation.draft import Draft, DraftRecord, FinalTests, Idea, Image, Phase, TaskAuthor
from core.tasks.generation.folders import TRAILER, write_harbor, write_own
from core.tasks.generation.gates import GateRefusal, Originality, gives_away, prove_draft
from core.tasks.generation.records import DraftRecords

T = TypeVar("T")
Ask = Callable[[str], Awaitable[T]]
Check = Callable[[T], Awaitable[GateRefusal | None]]
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


class _Refused(Exception):
    """The end of a draft: the last answer of a phase did not pass its gate."""

    def __init__(self, phase: Phase, refusal: GateRefusal) -> None:
        super().__init__(refusal.reason)
        self.phase, self.refusal = phase, refusal


class Generator:
    """One run of an author."""

    def __init__(self, author: TaskAuthor, plan: DraftPlan, open_bench: Callable[[], DraftBench],
                 on_record: OnRecord) -> None:
        self._author, self._plan, self._open_bench, self._on_record = author, plan, open_bench, on_record
        self._records = DraftRecords(plan.folder)
        self._originality = Originality()
        self._turn, self._number, self._accepted = asyncio.Lock(), 0, 0
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
        making = _Making(number, self._author, bench, self._plan, self._originality, self._turn)
        try:
            draft = await making.draft()
        except _Refused as end:
            idea = making.idea
            return DraftRecord(number=number, id=_id(number, idea), state="refused", title=idea.title if idea else "",
                               phase=end.phase, gate=end.refusal.gate, reason=end.refusal.reason, mended=making.mended)
        write_own(draft, self._plan.folder / "tiphys" / draft.id)
        write_harbor(draft, self._plan.folder / "harbor" / draft.id, self._plan.base)
        return DraftRecord(number=number, id=draft.id, state="accepted", title=draft.idea.title, mended=making.mended)


class _Making:
    """One draft through its phases; each answer that a gate refuses is asked for again with the reason."""

    def __init__(self, number: int, author: TaskAuthor, bench: DraftBench, plan: DraftPlan, originality: Originality,
                 turn: asyncio.Lock) -> None:
        self._number, self._author, self._bench, self._plan = number, author, bench, plan
        self._originality, self._turn = originality, turn
        self.idea: Idea | None = None
        self.mended = 0

    async def draft(self) -> Draft:
        """The draft that passed all gates. Raises _Refused, Unavailable."""
        author, number = self._author, self._number
        async with self._turn:  # in the order of the numbers, so that of two alike the first one stays
            idea = await self._phase("description", lambda mend: author.describe(number, mend), self._idea_gate)
        initial = await self._phase("initial tests", lambda mend: author.initial_tests(idea, mend), _tests_gate)
        image = await self._phase("image", lambda mend: self._image(idea, initial, mend),
                                  lambda made: self._image_gate(idea, initial, made))
        draft = Draft(id=_id(number, idea), idea=idea, initial=initial, image=image)
        final = await self._phase("final tests", lambda mend: author.final_tests(idea, initial, image, mend),
                                  lambda answer: self._final_gate(draft, answer))
        return msgspec.structs.replace(draft, final=final)

    async def _phase(self, phase: Phase, ask: Ask[T], check: Check[T]) -> T:
        """The first answer of at most `tries` that passes. Raises _Refused."""
        refusal: GateRefusal | None = None
        for tried in range(self._plan.tries):
            self.mended += tried > 0
            try:
                answer = await ask(f"{refusal.gate}: {refusal.reason}" if refusal else "")
                refusal = await check(answer)
            except InvalidInput as error:
                refusal = GateRefusal("form", error.sentence)
                continue
            if refusal is None:
                return answer
        raise _Refused(phase, refusal or GateRefusal("form", "nothing was asked for"))

    async def _idea_gate(self, idea: Idea) -> GateRefusal | None:
        check_idea(idea)
        self.idea = idea
        return gives_away(idea) or self._originality.admit(_id(self._number, idea), idea)

    async def _image(self, idea: Idea, initial: str, mend: str) -> Image:
        image = await self._author.image(idea, initial, mend)
        check_image(image)
        return await self._bench.make(image, idea.folder)

    async def _image_gate(self, idea: Idea, initial: str, image: Image) -> GateRefusal | None:
        check_image(image)
        problem = await self._bench.initial_problem(image, idea.folder, initial + TRAILER)
        return GateRefusal("initial tests pass", problem) if problem else None

    async def _final_gate(self, draft: Draft, final: FinalTests) -> GateRefusal | None:
        check_final(final)
        return await prove_draft(msgspec.structs.replace(draft, final=final), self._bench, self._plan.base)


async def _tests_gate(source: str) -> GateRefusal | None:
    check_tests(source)
    return None


def _id(number: int, idea: Idea | None) -> str:
    return f"gen-{number:04d}-{idea.folder[:40]}" if idea else f"gen-{number:04d}"


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
