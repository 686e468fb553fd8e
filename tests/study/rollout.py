"""Rolls a model out on held-out tasks: all sessions at once, each by the product's agent, answered in one batch.

`BatchModel` is the product's local model but for two things: it waits until every session that still runs has asked,
and it may hold its weights in bfloat16 or on a GPU.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import msgspec
from study.session import Store, play, settings_for
from study.tasks import StudyTask

from core.aio import TaskScope
from core.domain.task import ModelSettings
from core.llm.local import LocalModel, asked_of, completion_of
from core.llm.model import Completion, OnText, Request


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a session on a task ended: `score` by the evaluator, 0–100."""

    task: str
    family: str
    score: float
    steps: int
    errors: int
    reason: str


class BatchModel(LocalModel):
    """Answers the waiting questions of `sessions` sessions together. `leave` says that one of them is over."""

    def __init__(self, folder: Path, sessions: int, device: str, *, half: bool, temperature: float = 0.0) -> None:
        super().__init__(ModelSettings(kind="local", name=str(folder), actions="text", temperature=temperature))
        self._running, self._device, self._half = sessions, device, half
        self._waiting: list[tuple[Request, asyncio.Future[Completion]]] = []
        self._asked = 0

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The answer, once everybody has asked."""
        future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._answer_all()
        return await future

    def leave(self) -> None:
        """A session is over and will not ask again."""
        self._running -= 1
        self._answer_all()

    def _answer_all(self) -> None:
        if not self._waiting or len(self._waiting) < self._running:
            return
        waiting, self._waiting = self._waiting, []
        answers = self.answers([request for request, _ in waiting])
        for (_, future), answer in zip(waiting, answers, strict=True):
            if not future.done():
                future.set_result(answer)

    def answers(self, requests: Sequence[Request]) -> list[Completion]:
        """The answers to several requests in one batch, padded on the left."""
        import torch

        from core.llm.generation import generate

        tokenizer, model, prompter = self._load()
        if self._half:
            model.to(torch.bfloat16)
        model.to(self._device)
        started = datetime.now(UTC)
        prompts = [prompter.prompt(request) for request in requests]
        asked = [asked_of(model, self._seeded(request), prompt.ids, self._temperature, self._top_p, self.name)
                 for request, prompt in zip(requests, prompts, strict=True)]
        given = generate(model, asked, prompter.ends, tokenizer.pad_token_id or 0)
        return [completion_of(prompter, *one, self.name, 0, started)
                for one in zip(requests, prompts, asked, given, strict=True)]

    def _seeded(self, request: Request) -> Request:
        """Each question has a number of its own to draw by, the same in each run."""
        self._asked += 1
        return msgspec.structs.replace(request, seed=self._asked)


async def roll_out(store: Store, name: str, tasks: Sequence[StudyTask], folder: Path, *, device: str,
                   temperature: float = 0.0) -> list[Outcome]:
    """One session of the model in `folder` per task, in the store's log as `NAME-TASK`; how each ended."""
    model = BatchModel(folder, len(tasks), device, half=True, temperature=temperature)
    found: list[Outcome] = []

    async def one(task: StudyTask) -> None:
        session = f"{name}-{task.id}"
        try:
            await play(store, session, task.id, model, settings_for("local", folder.name))
        finally:
            model.leave()
        told = store.read(session)
        assert told.scores and not told.scores[-1].failed, f"the evaluator of {task.id} broke: {told.scores}"
        row = told.row
        found.append(Outcome(task=task.id, family=task.family, score=row.score or 0.0, steps=row.steps,
                             errors=row.errors, reason=row.reason))

    async with TaskScope(f"roll-out {name}") as scope:
        await asyncio.gather(*(scope.spawn(one(task), name=task.id) for task in tasks))
    await model.close()
    return sorted(found, key=lambda o: o.task)
