"""A session's items on an axis of time whose idle spans are squeezed. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable
from itertools import accumulate, chain, repeat
from operator import sub

from core.domain.trajectory import Trajectory

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
