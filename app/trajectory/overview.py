"""A trajectory at a glance: what each item means, kept up as it grows, and time with its idle spans squeezed. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, chain, pairwise, repeat
from operator import sub

from core.domain.blindness import seen
from core.domain.step_entry import Opinions
from core.domain.steps import ERROR, Steps
from core.domain.trajectory import Trajectory
from core.domain.verdict import PEOPLE, masked_actions, step_outcome

LEVELS = (0.35, 0.5, 0.65, 0.82, 1.0)
"""How strongly a lane shows, from the fewest to the most."""

SHARES = (0.08, 0.2, 0.4, 0.7)
"""Up to these shares of a cell's items its lane has the first, second, … level: 2 % all over are an even pale lane,
and a cluster is dark."""

_LINES = {"guidance": "person", "score": "ink", "submission": "ink"}
"""The colour of what is a line over all lanes."""

_FAILS = bytes(int(bool(flags & ERROR)) for flags in range(256))


class Overview:
    """The meanings of a trajectory's items. `refresh` takes what is new."""

    def __init__(self, trajectory: Trajectory | None = None, reader: str = "") -> None:
        """With a blind `reader` (an author's key) nothing shows of what others think of a step."""
        self.trajectory, self._reader = trajectory, reader
        self.failed, self.masked = bytearray(), bytearray()
        """For each item 1 where it is a failed step, and where it is masked, at least in part."""
        self.lines: list[tuple[int, str]] = []
        """Items that are a line over all lanes, and its colour."""
        self.notes: list[int] = []
        """The items with notes, in order."""
        self._steps = self._touched = 0
        self.refresh()

    def __len__(self) -> int:
        return len(self.failed)

    def refresh(self) -> bool:
        """Take what the trajectory got since; whether anything did."""
        if self.trajectory is None:
            return False
        steps = self.trajectory.steps
        touched = steps.touched[self._touched :] if self._steps else list(steps.opinions)
        grown = len(self.trajectory.items) - len(self)
        if grown:
            self._take_new()
        self._touched = len(steps.touched)
        for step in touched:
            self._judge(steps, step)
        return bool(grown or touched)

    def _take_new(self) -> None:
        assert self.trajectory is not None
        items, steps = self.trajectory.items, self.trajectory.steps
        start = len(self)
        fresh = bytearray(bytes(steps.flags[self._steps :]).translate(_FAILS))
        for at in items.others_in(start, len(items)):
            fresh.insert(items.places[at] - start, 0)
            other = items.others[at]
            is_user = other.kind == "guidance" and not self.trajectory.guidance[str(other.ref)].by_person
            if (ink := _LINES.get(other.kind)) is not None and not is_user:
                self.lines.append((items.places[at], ink))
        self.failed += fresh
        self.masked += bytes(len(fresh))
        self._steps = len(steps)

    def _judge(self, steps: Steps, step: int) -> None:
        assert self.trajectory is not None
        item, opinions = self.trajectory.items.of_step(step), steps.opinions.get(step, Opinions())
        verdicts = seen(opinions.verdicts, self._reader)
        people = [v for v in verdicts.values() if v.author.kind in PEOPLE]  # what a machine proposes is a row's to show
        count = len(steps.shape(step).tools) if people else 0
        self.failed[item] = bool(steps.flags[step] & ERROR)
        self.masked[item] = bool(people) and (step_outcome(people, count) == "mask"
                                              or bool(masked_actions(people, count)))
        at = bisect_left(self.notes, item)
        is_noted = bool(opinions.notes) and bool(verdicts or not self._reader)
        if is_noted != (at < len(self.notes) and self.notes[at] == item):
            self.notes.insert(at, item) if is_noted else self.notes.pop(at)


def strength(lane: bytearray, start: int, stop: int) -> float:
    """How strongly a lane shows over items start..stop-1: 0 where none of them counts, else one of LEVELS."""
    count = lane.count(1, start, stop)
    return LEVELS[bisect_left(SHARES, count / (stop - start))] if count else 0.0


def spans(count: int, cells: int) -> list[tuple[int, int]]:
    """So many items cut into at most so many cells: the first of each, and the one behind the last."""
    if count <= cells or cells <= 0:
        return [(at, at + 1) for at in range(count)]
    return list(pairwise([round(i * count / cells) for i in range(cells + 1)]))


IDLE_S = 60.0
"""A pause between two steps that is longer takes this much room."""

LEAST_S = 0.5
"""Each step takes so much room at least: it can be seen and clicked."""


class Timeline:
    """Where each step ends on the axis, in seconds of work; `idle` are (place, seconds) of squeezed pauses."""

    def __init__(self, trajectory: Trajectory | None = None) -> None:
        self.ends = array("d")
        self.idle: list[tuple[float, float]] = []
        if trajectory is not None and len(trajectory.steps):
            self._lay_out(trajectory)

    @property
    def length(self) -> float:
        """The whole axis."""
        return self.ends[-1] if self.ends else 0.0

    def steps_between(self, start: float, stop: float) -> tuple[int, int]:
        """The first step of a span of the axis, and the one behind the last."""
        return bisect_left(self.ends, start), min(len(self.ends), bisect_left(self.ends, stop) + 1)

    def step_at(self, place: float) -> int:
        """The step at a place."""
        return min(len(self.ends) - 1, bisect_left(self.ends, place))

    def _lay_out(self, trajectory: Trajectory) -> None:
        started, ended = trajectory.steps.started, trajectory.steps.ended
        pauses = [0.0, *_known(map(sub, started[1:], ended[:-1]))]
        works = _known(map(sub, ended, started))
        rooms = map(min, map(max, pauses, repeat(0.0)), repeat(IDLE_S))
        self.ends = array("d", accumulate(map(sum, zip(rooms, map(max, works, repeat(LEAST_S)), strict=True))))
        before = chain((0.0,), self.ends)
        self.idle = [(place, pause) for pause, place in zip(pauses, before, strict=False) if pause > IDLE_S]


def _known(seconds: Iterable[float]) -> list[float]:
    """Spans of which the log does not say both ends are taken for nothing."""
    return [span if span == span else 0.0 for span in seconds]
