"""What a judging key is about, and whether the reader sees just that: what is out of sight is never judged unasked."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.desk.cursor import Cursor
from app.desk.in_sight import InSight
from core.domain.trajectory import StepEntry, Trajectory

Sight = Literal["shown", "revealed", "unseen"]
"""`shown`: judge it. `revealed`: the one step was out of sight and is not any more. `unseen`: ask first."""


class Target(msgspec.Struct, frozen=True):
    """The steps that a key judges, the first of them to be looked at; `action`: of one step that action alone, counted
    from 1. `unseen` of the steps are not shown as selected and in sight."""

    entries: tuple[StepEntry, ...] = ()
    action: int = 0
    unseen: int = 0


def target_of(sight: InSight, cursor: Cursor, trajectory: Trajectory) -> Target:
    """The marked steps, else the one that is looked at: at the live tail the newest."""
    if len(cursor.marks) > 1:
        found = [trajectory.index_of(step) for step in cursor.marks]
        entries = tuple(trajectory.steps[at] for at in found if at is not None)
        return Target(entries, 0, _unseen(cursor, cursor.marks))
    if sight.step is None:
        return Target(tuple(trajectory.steps[-1:]), _action(cursor, trajectory.steps[-1:]))
    at = trajectory.index_of(sight.step)
    steps = trajectory.steps[at : at + 1] if at is not None else []
    return Target(tuple(steps), _action(cursor, steps), _unseen(cursor, (sight.step,)))


def _action(cursor: Cursor, steps: list[StepEntry]) -> int:
    return cursor.action if steps and cursor.action <= len(steps[0].head.tools) > 1 else 0


def _unseen(cursor: Cursor, steps: tuple[int, ...]) -> int:
    """How many of the steps the open list does not show as selected; where it shows another one as well, all are."""
    if cursor.list is None:
        return 0
    shown = cursor.list.shown()
    if shown is None:  # the list is closed: the panels name one step, and no more
        return len(steps) if len(steps) > 1 else 0
    return len(steps) if shown.selected - set(steps) else sum(step not in shown.in_sight for step in steps)


def sight_of(target: Target, cursor: Cursor) -> Sight:
    """Whether the reader sees what the key is about. One step that is out of sight is brought there."""
    if not target.unseen:
        return "shown"
    if len(target.entries) == 1 and cursor.list is not None and cursor.list.reveal(target.entries[0].head.number):
        return "revealed"
    return "unseen"
