"""Rolls a model out on tasks: all sessions at once, each by the product's agent, answered in batches by its policy."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
from study.session import Store, play
from study.tasks import StudyTask

from core.aio import TaskScope
from core.domain.task import AgentSettings
from core.llm.foreign_model import SAFE, load_model
from core.llm.local_policy import LocalPolicy
from core.rollouts.batching import Batcher, PolicySession


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """How a session on a task ended: `score` by the evaluator, 0–100: the share of its chores that were done."""

    task: str
    family: str
    score: float
    steps: int
    errors: int
    summaries: int
    reason: str


def load_policy(folder: Path, *, half: bool, temperature: float) -> LocalPolicy:
    """The policy as `tiphys rollout` makes it; `half`: its weights in bfloat16."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = load_model(AutoModelForCausalLM, folder, dtype=torch.bfloat16 if half else torch.float32).eval()
    tokenizer = AutoTokenizer.from_pretrained(str(folder), **SAFE)
    return LocalPolicy(model, tokenizer, name=folder.name, temperature=temperature)


async def roll_out(store: Store, name: str, tasks: Sequence[StudyTask], policy: LocalPolicy, settings: AgentSettings
                   ) -> list[Outcome]:
    """One session of the policy per task, in the store's log as `NAME-TASK`; how each ended."""
    running = len(tasks)
    batcher = Batcher(policy, lambda: running, in_step=True)

    async def one(task: StudyTask) -> Outcome:
        nonlocal running
        session = f"{name}-{task.id}"
        try:
            await play(store, session, task.id, PolicySession(batcher, session), settings)
        finally:
            running -= 1
        return outcome_of(store, session, task)

    async with TaskScope(f"roll-out {name}") as scope:
        scope.spawn(batcher.run(), name="policy")
        return list(await asyncio.gather(*(scope.spawn(one(task), name=task.id) for task in tasks)))


def outcome_of(store: Store, session: str, task: StudyTask) -> Outcome:
    """How a session ended, as its log tells it. Raises RuntimeError where the evaluator broke."""
    read = store.read(session)
    if not read.scores or read.scores[-1].failed:
        raise RuntimeError(f"The evaluator of {task.id} broke: {read.scores}")
    row = read.row
    return Outcome(task=task.id, family=task.family, score=row.score or 0.0, steps=row.steps, errors=row.errors,
                   summaries=len(read.summaries), reason=row.reason)
