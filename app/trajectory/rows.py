"""The lines of the step list, counted and found without holding one object for each. No Qt."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import msgspec

from app.trajectory.folds import StepRun
from core.domain.places import ByPlace


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
