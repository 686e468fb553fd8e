"""Makes the training material: sessions of the scripted agent in a real log.

Every training task is worked on three times: alone; alone again; and a third time with the very chances of the second,
watched by a person who helps where the agent goes wrong, at most HELP times.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from study.policy import Policy
from study.session import Link, Store, play
from study.tasks import StudyTask

from core.domain.message import Message
from core.domain.task import AgentSettings

Kind = Literal["alone", "unwatched", "watched"]
KINDS: tuple[Kind, ...] = ("alone", "unwatched", "watched")
HELP = {"short": 1, "long": 3}
DONE = "All is done, so finish."
GO_ON = "You know that already: go on."
RESOURCES = Path(__file__).parent / "resources"

_TASK_FILE = """id = "{id}"
title = "{id}"
description = "{description}"
workspace = "workspace"

[limits]
steps = {steps}

[evaluator]
script = "evaluate.py"
submission = ["."]
references = "references"
"""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a recorded session: which of its steps were right, in their order, and how it went."""

    session: str
    task: str
    kind: Kind
    good: tuple[bool, ...]
    solved: bool
    guidance: int
    summaries: int


class Masked(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody's verdicts do to the sessions of a seed that guided variants learn from: how many `wrong` actions
    and `right` ones there are, and how many of each are masked."""

    wrong: int
    right: int
    wrong_masked: int
    right_masked: int


def write_tasks(folder: Path, tasks: Sequence[StudyTask]) -> None:
    """Lay the tasks out as a catalogue reads them: task.toml, the workspace, the evaluator and its references."""
    for task in tasks:
        place = folder / task.id
        for name, text in task.files.items():
            path = place / "workspace" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (place / "references").mkdir()
        wanted = [{"equal": dict(chore.equal), "absent": list(chore.absent)} for chore in task.chores]
        (place / "references" / "wanted.json").write_bytes(msgspec.json.encode(wanted))
        shutil.copy(RESOURCES / "evaluate.py", place)
        (place / "task.toml").write_text(_TASK_FILE.format(id=task.id, description=task.description, steps=task.steps))


async def record(store: Store, task: StudyTask, kind: Kind, seed: int, settings: AgentSettings,
                 count: Callable[[Message], tuple[int, bool]]) -> Recorded:
    """Record one session."""
    session = session_name(seed, task, kind)
    policy = Policy(task, random.Random(f"{task.id} {seed} {kind == 'alone'}"), count)
    chance = random.Random(session)
    helped = 0

    async def watch(link: Link, step: int) -> None:
        nonlocal helped
        if kind == "watched" and not policy.good[step] and helped < HELP["long" if task.is_long else "short"]:
            helped += 1
            await link.guide(_advice(policy, chance))

    await play(store, session, task.id, policy, settings, watch)
    read = store.read(session)
    return Recorded(session=session, task=task.id, kind=kind, good=_in_order(policy.good),
                    solved=read.row.score == 100.0, summaries=len(read.summaries),
                    guidance=sum(g.delivered_step is not None for g in read.guidance.values()))


def session_name(seed: int, task: StudyTask, kind: Kind) -> str:
    """The id of a recorded session."""
    return f"s{seed}-{task.id}-{kind}"


def _advice(policy: Policy, chance: random.Random) -> str:
    if policy.chore is None:
        return DONE
    return GO_ON if policy.begun else chance.choice(policy.chore.advice)


def _in_order(good: Mapping[int, bool]) -> tuple[bool, ...]:
    return tuple(good[step] for step in sorted(good))
