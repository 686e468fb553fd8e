"""The lines of the step list, counted and found without an object for each, and which runs become one. No Qt."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from core.domain.places import ByPlace
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


class ListRow(msgspec.Struct, frozen=True):
    """One line of the list: items first..last of the trajectory. `kind`: item, fold, or live (no item yet)."""

    kind: str
    first: int = -1
    last: int = -1


class ListRows(ByPlace[ListRow]):
    """All lines: every item but those in folds, or the listed items alone; the live one last."""

    def __init__(self) -> None:
        self.items = 0
        self.live = False
        self.filtered: array[int] | None = None
        """The items that a filter lets through, in order; None without a filter."""
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        self._places: list[int] = []
        """For each fold: its first and last item, and its line."""

    def __len__(self) -> int:
        return self.item_lines + self.live

    @property
    def item_lines(self) -> int:
        """How many lines stand for items."""
        if self.filtered is not None:
            return len(self.filtered)
        return self.items - self._hidden(len(self._firsts))

    def at(self, place: int) -> ListRow:
        """The line at a place."""
        if place >= self.item_lines:
            return ListRow("live")
        if self.filtered is not None:
            return ListRow("item", self.filtered[place], self.filtered[place])
        fold = bisect_right(self._places, place) - 1
        if fold >= 0 and self._places[fold] == place:
            return ListRow("fold", self._firsts[fold], self._lasts[fold])
        item = place + self._hidden(fold + 1)
        return ListRow("item", item, item)

    def of_item(self, item: int) -> int:
        """The line that shows an item, be it in a fold; −1 where there is none."""
        if not 0 <= item < self.items:
            return -1
        if self.filtered is not None:
            at = bisect_left(self.filtered, item)
            return at if at < len(self.filtered) and self.filtered[at] == item else -1
        fold = bisect_right(self._firsts, item) - 1
        if fold >= 0 and item <= self._lasts[fold]:
            return self._places[fold]
        return item - self._hidden(fold + 1)

    def fold(self, runs: Sequence[StepRun], start: int = 0) -> None:
        """Fold these runs, in place of those from item `start` on."""
        cut = bisect_left(self._firsts, start)
        del self._firsts[cut:], self._lasts[cut:], self._places[cut:]
        for run in runs:
            self._places.append(run.first - self._hidden(len(self._firsts)))
            self._firsts.append(run.first)
            self._lasts.append(run.last)

    def _hidden(self, folds: int) -> int:
        """How many lines so many of the first folds save."""
        if not folds:
            return 0
        return self._lasts[folds - 1] - self._places[folds - 1]
