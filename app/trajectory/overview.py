"""What each item of a trajectory means at a glance, kept up as it grows: one byte an item, and where notes are."""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise

from app.desk.blindness import seen
from core.domain.steps import ERROR, Opinions, Steps
from core.domain.trajectory import Trajectory
from core.domain.verdict import masked_actions, step_outcome

WEIGHT = ("", "keep", "mask", "error", "score", "summary", "guidance")
"""The meanings by weight: where several fall together the later one shows, and what is rare comes last."""

DENSE = 3
"""Meanings up to this one may be all over a session: their cells are the fainter the fewer there are."""

_ERROR, _MASK, _KEEP = WEIGHT.index("error"), WEIGHT.index("mask"), WEIGHT.index("keep")
_LIKE = {"submission": "score"}
"""What shows as another kind."""

_DOWN = range(len(WEIGHT) - 1, 0, -1)
_PLAIN = bytes(_ERROR if flags & ERROR else 0 for flags in range(256))


class Overview:
    """The meanings of a trajectory's items. `refresh` takes what is new."""

    def __init__(self, trajectory: Trajectory | None = None, reader: str = "") -> None:
        """With a blind `reader` (an author's key) nothing shows of what others think of a step."""
        self.trajectory, self._reader = trajectory, reader
        self.codes = bytearray()
        """For each item an index into WEIGHT."""
        self.notes: list[int] = []
        """The items with notes, in order."""
        self._steps = self._touched = 0
        self.refresh()

    def refresh(self) -> bool:
        """Take what the trajectory got since; whether anything did."""
        if self.trajectory is None:
            return False
        steps = self.trajectory.steps
        touched = steps.touched[self._touched :] if self._steps else list(steps.opinions)
        grown = len(self.trajectory.items) - len(self.codes)
        if grown:
            self._take_new()
        self._touched = len(steps.touched)
        for step in touched:
            self._judge(steps, step)
        return bool(grown or touched)

    def weightiest(self, start: int, stop: int) -> int:
        """The weightiest code of some items."""
        return next((w for w in _DOWN if self.codes.find(w, start, stop) >= 0), 0)

    def cell(self, start: int, stop: int) -> tuple[int, float]:
        """The weightiest code of some items, and how strongly it shows: 0 to 1."""
        code = self.weightiest(start, stop)
        if not code or code > DENSE or stop - start < 2:
            return code, 1.0
        return code, 0.25 + 0.75 * min(1.0, 3 * self.codes.count(code, start, stop) / (stop - start))

    def _take_new(self) -> None:
        assert self.trajectory is not None
        items, steps = self.trajectory.items, self.trajectory.steps
        start = len(self.codes)
        fresh = bytearray(bytes(steps.flags[self._steps :]).translate(_PLAIN))
        for at in items.others_in(start, len(items)):
            kind = items.others[at].kind
            fresh.insert(items.places[at] - start, WEIGHT.index(_LIKE.get(kind, kind)))
        self.codes += fresh
        self._steps = len(steps)

    def _judge(self, steps: Steps, step: int) -> None:
        assert self.trajectory is not None
        item, opinions = self.trajectory.items.of_step(step), steps.opinions.get(step, Opinions())
        verdicts = seen(opinions.verdicts, self._reader)
        actions = len(steps.shape(step).tools)
        decided = step_outcome(verdicts.values(), actions)
        is_masked = decided == "mask" or masked_actions(verdicts.values(), actions)
        failed = steps.flags[step] & ERROR
        self.codes[item] = _ERROR if failed else _MASK if is_masked else _KEEP if decided == "keep" else 0
        at = bisect_left(self.notes, item)
        is_noted = bool(opinions.notes) and bool(verdicts or not self._reader)
        if is_noted != (at < len(self.notes) and self.notes[at] == item):
            self.notes.insert(at, item) if is_noted else self.notes.pop(at)


def spans(count: int, cells: int) -> list[tuple[int, int]]:
    """So many items cut into at most so many cells: the first of each, and the one behind the last."""
    if count <= cells or cells <= 0:
        return [(at, at + 1) for at in range(count)]
    cuts = [round(i * count / cells) for i in range(cells + 1)]
    return list(pairwise(cuts))
