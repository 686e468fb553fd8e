"""Which runs of steps become one line: three or more that only wait, and loops that try the same again. No Qt."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator
from typing import Literal

import msgspec

from core.domain.steps import WAITING, Steps
from core.domain.trajectory import Trajectory

LEAST = 3
"""So many waiting steps, or tries of the same, in a row become one line."""

_WAITS = bytes(int(bool(value & WAITING)) for value in range(256))
_RUN = re.compile(rb"\x01{%d,}" % LEAST)
_ZEROS = re.compile(rb"\x00*")


class StepRun(msgspec.Struct, frozen=True, order=True):
    """Items first..last of a trajectory, all of them steps. In a loop each `period` steps repeat those before."""

    first: int
    last: int
    kind: Literal["waiting", "loop"]
    period: int = 1

    @property
    def least(self) -> int:
        """How long it must be to become one line."""
        return LEAST * self.period


def runs_of(trajectory: Trajectory, start: int = 0) -> list[StepRun]:
    """The runs from the `start`-th step on, in order; what is no step divides them."""
    found: list[StepRun] = []
    items = trajectory.items
    free = start
    for run in sorted(_candidates(trajectory.steps, start), key=lambda r: (r.first, r.kind != "waiting", r.period)):
        for first, last in _pieces(items.places, max(run.first, free), run.last):
            if last - first + 1 >= run.least:
                found.append(StepRun(items.of_step(first), items.of_step(last), run.kind, run.period))
                free = last + 1
    return found


def _candidates(steps: Steps, start: int) -> Iterator[StepRun]:
    """Runs in numbers of steps, as if nothing stood between them; they may overlap."""
    for match in _RUN.finditer(bytes(steps.flags[start:]).translate(_WAITS)):
        yield StepRun(start + match.start(), start + match.end() - 1, "waiting")
    for period in (1, 2):
        for first, stop in _same_again(steps.key_of[start:], period, (LEAST - 1) * period):
            yield StepRun(start + first, start + stop + period - 1, "loop", period)


def _same_again(keys: array[int], period: int, least: int) -> Iterator[tuple[int, int]]:
    """Where at least so many keys in a row, first..stop-1, are the ones `period` places on.

    All are compared at once, as two large numbers: a million in 10 ms, a tenth of what going over them takes.
    """
    width = keys.itemsize
    one = int.from_bytes(keys.tobytes(), "little")
    differ = (one ^ (one >> 8 * width * period)).to_bytes(len(keys) * width, "little")
    end = max(0, len(keys) - period) * width
    stop = 0
    while (at := differ.find(bytes(least * width), stop, end)) >= 0:
        match = _ZEROS.match(differ, at, end)
        stop = match.end() if match is not None else end
        first, last = -(-at // width), stop // width
        if last - first >= least:
            yield first, last


def _pieces(places: list[int], first: int, last: int) -> Iterator[tuple[int, int]]:
    """Steps first..last, divided where an item that is no step stands between two of them."""
    low = 0
    while first <= last:
        low = bisect_left(range(len(places)), first + 1, lo=low, key=lambda k: places[k] - k)
        stop = min(last, places[low] - low - 1) if low < len(places) else last
        yield first, stop
        first = stop + 1
