"""The words of the rows that are painted now, held between two paints, and which rows look different since. No Qt."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from msgspec.structs import astuple

from app.desk.row_text import RowText, row_text, with_called
from app.kit import quantities
from app.trajectory.rows import ListRow
from core.domain.session import SessionRow
from core.domain.trajectory import Trajectory


class ChangedItems:
    """What was known of one trajectory when it was asked last; `news` goes on from there."""

    def __init__(self) -> None:
        self._touched = self._rescored = 0
        self._guidance: dict[str, tuple[object, ...]] = {}

    def take(self, trajectory: Trajectory) -> set[int]:
        """The items of steps that were judged, noted or logged again, of guidance that changed, and of submissions
        that were scored again."""
        items, touched = trajectory.items, trajectory.steps.touched
        found = {items.of_step(at) for at in touched[self._touched :]}
        self._touched = len(touched)
        guidance = {name: astuple(state) for name, state in trajectory.guidance.items()}
        found |= {items.of_other("guidance", name) for name in guidance if self._guidance.get(name) != guidance[name]}
        self._guidance = guidance
        fresh = {one.ordinal for one in trajectory.rescored[self._rescored :]}
        self._rescored = len(trajectory.rescored)
        found |= {items.of_other("score", at) for at, one in enumerate(trajectory.scores) if one.ordinal in fresh}
        handed = enumerate(trajectory.submissions)
        return found | {items.of_other("submission", at) for at, one in handed if one.ordinal in fresh}


MOST_TEXTS = 400
"""Rows of steps whose words are held."""


class RowTexts:
    """Makes a row's words, and makes them again when something was said about a step."""

    def __init__(self) -> None:
        self.called: dict[int, list[SessionRow]] = {}
        """The subagents that steps (by number) called."""
        self.worth: Callable[[int], float | None] = lambda _: None
        """What a step (by number) was worth to what learns from it, where that is known."""
        self._held: dict[tuple[str, int, int, int], RowText] = {}
        self._touched = 0

    def clear(self) -> None:
        """All words may be others now."""
        self._held.clear()

    def set_called(self, called: dict[int, list[SessionRow]]) -> bool:
        """Which subagents steps called; whether that is something else than before."""
        if called == self.called:
            return False
        self.called = called
        self.clear()
        return True

    def of(self, trajectory: Trajectory, row: ListRow, kind: str, live: str, reader: str) -> RowText:
        """The words of a row. `kind` says what a fold is of, `live` what is being written, `reader` who is blind."""
        step = trajectory.items.step_at(row.first) if row.kind != "live" else -1
        if step < 0:  # guidance may be edited, and what is written now changes
            return row_text(trajectory, kind, row.first, row.last, live)
        steps = trajectory.steps
        if self._touched != len(steps.touched) or len(self._held) > MOST_TEXTS:
            self.clear()
            self._touched = len(steps.touched)
        key = (kind, row.first, row.last, steps.seqs[step])
        held = self._held.get(key)
        if held is None:
            held = row_text(trajectory, kind, row.first, row.last, "", reader)
            if row.kind == "item" and (called := self.called.get(steps.numbers[step])):
                held = with_called(held, called)
            worth = self.worth(steps.numbers[step]) if row.kind == "item" else None
            if worth is not None:
                words = filter(None, (held.word, quantities.signed(worth, ".2f")))
                held = msgspec.structs.replace(held, word=" · ".join(words))
            self._held[key] = held
        return held
