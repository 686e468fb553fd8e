"""Makes the training material: sessions of the scripted agent in a real log, judged by the rules and by a person.

Every training task is worked on three times: alone; alone again; and a third time with the very chances of the second,
watched by a person who helps once the agent goes wrong.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from study.policy import Policy
from study.session import PERSON, Link, Store, play, settings_for
from study.tasks import StudyTask

from core.domain.events import VerdictGiven, encode_event, make_event
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import final_verdict
from core.store import blobs, log
from core.store.sqlite import Connection
from core.supervision.propose import propose

Kind = Literal["alone", "unwatched", "watched"]
KINDS: tuple[Kind, ...] = ("alone", "unwatched", "watched")
DONE = "All is done, so finish."
RESOURCES = Path(__file__).parent / "resources"

_TASK_FILE = """id = "{id}"
title = "{id}"
description = "{told}"
workspace = "workspace"

[limits]
steps = {steps}

[evaluator]
script = "evaluate.py"
submission = ["."]
references = "references"
"""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a recorded session: its steps, how many were wrong, how many verdicts mask and by whom."""

    session: str
    task: str
    kind: Kind
    steps: int
    wrong: int
    masked: int
    by_rules: int
    over_ruled: int
    solved: bool
    guidance: int


def write_tasks(folder: Path, tasks: Sequence[StudyTask]) -> None:
    """Lay the tasks out as a catalogue reads them: task.toml, the workspace, the evaluator and its references."""
    for task in tasks:
        place = folder / task.id
        for name, text in task.files.items():
            path = place / "workspace" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        (place / "references").mkdir()
        wanted = {"equal": dict(task.equal), "absent": list(task.absent)}
        (place / "references" / "wanted.json").write_bytes(msgspec.json.encode(wanted))
        shutil.copy(RESOURCES / "evaluate.py", place)
        (place / "task.toml").write_text(_TASK_FILE.format(id=task.id, told=task.description, steps=task.steps))


async def record(store: Store, task: StudyTask, kind: Kind, seed: int) -> Recorded:
    """Record one session, let the rules judge it, then the person."""
    session = session_name(seed, task, kind)
    policy = Policy(task, random.Random(f"{task.id} {seed} {kind == 'alone'}"))
    advice = random.Random(session).choice(task.advice)

    async def watch(link: Link, step: int) -> None:
        if kind == "watched" and not policy.good[step] and sum(not g for g in policy.good.values()) == 1:
            await link.guide(DONE if policy.begun else advice)

    await play(store, session, task.id, policy, settings_for("scripted", "scripted"), watch)
    by_rules = await _judge_by_rules(store, session)
    over_ruled = await _judge_by_person(store, session, policy.good)
    told = store.read(session)
    return Recorded(
        session=session, task=task.id, kind=kind, steps=len(told.steps), by_rules=by_rules, over_ruled=over_ruled,
        wrong=sum(not g for g in policy.good.values()), masked=sum(_is_masked(told, n) for n in policy.good),
        solved=told.row.score == 100.0, guidance=sum(g.delivered_step is not None for g in told.guidance.values()))


def session_name(seed: int, task: StudyTask, kind: Kind) -> str:
    """The id of a recorded session."""
    return f"s{seed}-{task.id}-{kind}"


async def _judge_by_rules(store: Store, session: str) -> int:
    """What `tiphys judge --rules-only` does; gives how many steps the rules mask."""

    def rules(conn: Connection) -> list[bytes]:
        def body(name: str) -> StepBody:
            return decode_body(blobs.get(conn, name))

        return [encode_event(e) for e in propose(fold(session, log.read_all(conn, session)), body)]

    await store.append(session, await store.writer.do(rules))
    told = store.read(session)
    return sum(_is_masked(told, e.head.number) for e in told.steps)


async def _judge_by_person(store: Store, session: str, good: dict[int, bool]) -> int:
    """The person masks what the rules could not see, and keeps what they masked wrongly; gives how many."""
    told = store.read(session)
    bodies = []
    for step, is_good in good.items():
        if is_good == _is_masked(told, step):
            reason = "This was right." if is_good else "Not like this."
            verdict = VerdictGiven(step=step, value="keep" if is_good else "mask", reason=reason)
            bodies.append(encode_event(make_event(verdict, PERSON)))
    await store.append(session, bodies)
    return len(bodies)


def _is_masked(told: Trajectory, step: int) -> bool:
    return final_verdict(told.step(step).verdicts.values()) == "mask"
