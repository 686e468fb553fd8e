"""Where the phases of a session begin: people's turns, summaries, scores, other plans and long pauses. No Qt."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from core.domain.guidance import UNKNOWN_USER
from core.domain.plan import working_on
from core.domain.trajectory import Item, Trajectory
from core.formats.tools import table_of

PAUSE_S = 1800.0
"""A pause between two steps that is longer begins a phase."""

MOST_PLANS = 400
"""Steps that write a plan and are read for it; what comes after so many begins phases by the rest alone."""


class Phase(msgspec.Struct, frozen=True):
    """Items first..last. `item` began it, or a plan whose work is `words`, or a pause alone; `pause_s` is the time in
    which nothing happened before it, of a long pause, whatever began it."""

    first: int
    last: int
    begun_by: Literal["", "item", "plan", "pause"] = ""
    item: Item | None = None
    words: str = ""
    pause_s: float = 0.0


def phases_of(trajectory: Trajectory) -> list[Phase]:
    """The phases in order; a score that is the same as before begins none."""
    end = len(trajectory.items)
    if not end:
        return []
    starts = {phase.first: phase for made in (_plans, _items) for phase in made(trajectory)}
    starts.setdefault(0, Phase(0, 0))
    for place, pause in _pauses(trajectory):
        begun = starts.setdefault(place, Phase(place, 0, "pause"))
        starts[place] = msgspec.structs.replace(begun, pause_s=pause)
    order = sorted(starts)
    ends = [place - 1 for place in order[1:]] + [end - 1]
    return [msgspec.structs.replace(starts[place], last=last) for place, last in zip(order, ends, strict=True)]


def _items(trajectory: Trajectory) -> Iterator[Phase]:
    score: float | None = None
    for place, item in zip(trajectory.items.places, trajectory.items.others, strict=True):
        if item.kind == "submission" or _may_be_output(trajectory, item):
            continue
        if item.kind == "score":
            total = trajectory.scores[int(item.ref)].total
            if total is None or total == score:
                continue
            score = total
        yield Phase(place, place, "item", item)


def _may_be_output(trajectory: Trajectory, item: Item) -> bool:
    return item.kind == "guidance" and trajectory.guidance[str(item.ref)].author == UNKNOWN_USER


def _pauses(trajectory: Trajectory) -> Iterator[tuple[int, float]]:
    """The first item after each long pause, and its seconds: a turn of a person before the step ended it."""
    steps, items = trajectory.steps, trajectory.items
    for at in range(1, len(steps.started)):
        if (pause := steps.started[at] - steps.ended[at - 1]) > PAUSE_S:
            place = items.of_step(at)
            while items[place - 1].kind in ("guidance", "summary"):
                place -= 1
            yield place, pause


def _plans(trajectory: Trajectory) -> Iterator[Phase]:
    """Where another item of the plan is taken up; a plan that is ticked off at once begins nothing."""
    before = ""
    for at in plan_steps(trajectory)[:MOST_PLANS]:
        words = working_on(trajectory.steps[at].head.title)
        if words and words != before:
            before = words
            yield Phase(trajectory.items.of_step(at), 0, "plan", words=words)


def plan_steps(trajectory: Trajectory) -> list[int]:
    """The steps that write a plan: only their shapes are looked at."""
    table = table_of(trajectory.created.origin if trajectory.created else "")
    steps = trajectory.steps
    shapes = {number for number, shape in enumerate(steps.shapes)
              if any(table.tool(tool).kind == "todo" for tool in shape.tools)}
    return [at for at, shape in enumerate(steps.shape_of) if shape in shapes] if shapes else []
