"""What stands out in a session: failures that cluster, files, what was masked, answers. No step is read for it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Literal

import msgspec

from app.desk.step_words import verdict_state
from core.domain.blindness import seen
from core.domain.session import FINAL_STATES
from core.domain.steps import ERROR, Steps
from core.domain.trajectory import Trajectory

NEAR = 2
"""Failures with at most so many steps between the numbers of two are one cluster."""

FEW = 12
"""Where a session has at most so many failures, one alone is named too."""

MOST_FILES = 6
"""Of more files that one phase changed only their number is named."""


class Find(msgspec.Struct, frozen=True):
    """Steps first..last of a session (by place) that stand out; `path` of a file, `count` of those that count."""

    kind: Literal["errors", "masked", "file", "files", "answer"]
    first: int
    last: int
    count: int = 1
    path: str = ""
    is_new: bool = False


def finds_in(trajectory: Trajectory, first: int, stop: int, reader: str = "") -> list[Find]:
    """What stands out from one step to before another, by place and in order; of masks those that `reader` may see."""
    if first >= stop:
        return []
    found = [*_clusters(trajectory.steps, first, stop), *_masked(trajectory.steps, first, stop, reader),
             *_files(trajectory, first, stop), *_answers(trajectory, first, stop)]
    return sorted(found, key=lambda find: (find.first, find.kind))


def _clusters(steps: Steps, first: int, stop: int) -> Iterator[Find]:
    failed = [at for at in range(first, stop) if steps.flags[at] & ERROR]
    least = 1 if sum(1 for flags in steps.flags if flags & ERROR) <= FEW else 2
    start = 0
    for end in range(1, len(failed) + 1):
        if end == len(failed) or failed[end] - failed[end - 1] > NEAR:
            if end - start >= least:
                yield Find("errors", failed[start], failed[end - 1], end - start)
            start = end


def _masked(steps: Steps, first: int, stop: int, reader: str) -> Iterator[Find]:
    """What a person masked; what a machine proposes is the list's to show."""
    places = sorted(at for at, opinions in steps.opinions.items() if first <= at < stop and verdict_state(
        seen(opinions.verdicts, reader).values(), len(steps.shape(at).tools)) in ("mask", "partly"))
    for _, run in groupby(enumerate(places), key=lambda pair: pair[1] - pair[0]):
        group = [at for _, at in run]
        yield Find("masked", group[0], group[-1], len(group))


def _files(trajectory: Trajectory, first: int, stop: int) -> list[Find]:
    numbers, made = trajectory.steps.numbers, dict[tuple[str, str], Find]()
    low, high = numbers[first], numbers[stop - 1]
    for change in trajectory.files:
        key = (change.host, change.path)
        if low <= change.step <= high and key not in made and (at := trajectory.index_of(change.step)) is not None:
            made[key] = Find("file", at, at, 1, change.path, not change.before)
    if len(made) <= MOST_FILES:
        return list(made.values())
    places = [find.first for find in made.values()]
    return [Find("files", min(places), max(places), len(made))]


def _answers(trajectory: Trajectory, first: int, stop: int) -> Iterator[Find]:
    """Steps without an action after which a person speaks, or the session ends."""
    steps, items = trajectory.steps, trajectory.items
    wordless = {number for number, shape in enumerate(steps.shapes) if not shape.tools}
    for at in range(first, stop):
        if steps.shape_of[at] in wordless:
            place = items.of_step(at)
            is_last = at == len(steps) - 1 and trajectory.row.state in FINAL_STATES
            if is_last or (place + 1 < len(items) and items[place + 1].kind == "guidance"):
                yield Find("answer", at, at)
