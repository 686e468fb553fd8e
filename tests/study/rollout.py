"""Rolls a model out on held-out tasks: all sessions at once, each by the product's agent, answered in one batch.

`BatchModel` is the product's local model but for two things: it waits until every session that still runs has asked,
and it may hold its weights in bfloat16 or on a GPU.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
from study.session import Store, play, settings_for
from study.tasks import StudyTask

from core.aio import TaskScope
from core.domain.step import Usage
from core.domain.task import ModelSettings
from core.llm.local import LocalModel
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

        tokenizer, model = self._load()
        if self._half:
            model.to(torch.bfloat16)
        model.to(self._device)
        prompts = [self._prompt(tokenizer, request) for request in requests]
        width = max(map(len, prompts))
        ids = torch.tensor([[tokenizer.pad_token_id] * (width - len(p)) + p for p in prompts], device=self._device)
        seen = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts], device=self._device)
        chosen = {"do_sample": True, "temperature": self._temperature, "top_k": 0} if self._temperature else \
            {"do_sample": False}
        with torch.inference_mode():
            out = model.generate(ids, attention_mask=seen, max_new_tokens=max(r.max_tokens for r in requests),
                                 pad_token_id=tokenizer.pad_token_id, **chosen)
        told = [_until_stop([int(i) for i in row[width:]], tokenizer.eos_token_id) for row in out]
        return [self._told(tokenizer, prompt, answer) for prompt, answer in zip(prompts, told, strict=True)]

    def _told(self, tokenizer: Any, prompt: list[int], answer: list[int]) -> Completion:
        now = datetime.now(UTC)
        ended = bool(answer) and answer[-1] == tokenizer.eos_token_id
        text = tokenizer.decode(answer[:-1] if ended else answer, skip_special_tokens=False)
        return Completion(message=self._message(text, False), model=self.name, started_at=now, ended_at=now,
                          usage=Usage(input_tokens=len(prompt), output_tokens=len(answer)),
                          finish_reason="stop" if ended else "length")


def _until_stop(ids: list[int], stop: int) -> list[int]:
    return ids[: ids.index(stop) + 1] if stop in ids else ids


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
