"""Which steps the list marks as selected and shows: what the reader marks, and what a judging key may be about."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Qt

from app.desk.cursor import Cursor, ShownSteps
from app.trajectory.nested import NestedModel
from app.trajectory.step_list import StepList


class SelectedSteps(QObject):
    """Keeps the cursor's marks and the list's selection the same; the cursor's list of steps."""

    def __init__(self, cursor: Cursor, model: NestedModel, rows: StepList) -> None:
        super().__init__(rows)
        self._cursor, self._model, self._rows = cursor, model, rows
        self._marking = False
        cursor.list = self
        rows.selectionModel().selectionChanged.connect(self._on_selection)
        model.modelReset.connect(self._on_selection)  # which Qt clears without a word
        cursor.marked.connect(self._on_marked)

    def shown(self) -> ShownSteps | None:
        """What the list shows as selected and in sight; None while it is not open."""
        rows = self._rows
        if not rows.isVisible() or rows.visibleRegion().isEmpty():
            return None
        whole, seen = rows.rows_whole_in_sight(), set[int]()
        for top, bottom in rows.selected_spans():
            seen.update(self._model.steps_of_rows(max(top, whole.start), min(bottom, whole.stop - 1)))
        return ShownSteps(frozenset(self._selected()), frozenset(seen))

    def reveal(self, step: int) -> bool:
        """Select a step alone and bring it in sight; False where the filter hides it."""
        row = self._model.reveal(self._model.item_of_step(step)) if self._model.trajectory is not None else -1
        if row < 0:
            return False
        self._rows.rest()
        self._rows.select_alone(row)
        self._rows.show_row(row)
        return True

    def take_keys(self) -> bool:
        """Give the list the keyboard, unless something lies over it; whether nothing does."""
        if self._rows.visibleRegion().isEmpty():
            return False
        self._rows.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True

    def _selected(self) -> tuple[int, ...]:
        return tuple(s for top, bottom in self._rows.selected_spans() for s in self._model.steps_of_rows(top, bottom))

    def _on_selection(self) -> None:
        if not self._marking:
            self._cursor.mark(self._selected())

    def _on_marked(self) -> None:
        """Steps that were marked elsewhere, as over the curves, are selected here as well."""
        marks = self._cursor.marks
        if self._marking or len(marks) < 2 or marks == self._selected():
            return
        rows = sorted({row for step in marks if (row := self._model.row_of(self._model.item_of_step(step))) >= 0})
        self._marking = True
        self._rows.select_rows(_spans(rows))
        self._marking = False


def _spans(rows: Sequence[int]) -> list[tuple[int, int]]:
    """Rows in order as (first, last)."""
    spans: list[tuple[int, int]] = []
    for row in rows:
        if spans and spans[-1][1] == row - 1:
            spans[-1] = spans[-1][0], row
        else:
            spans.append((row, row))
    return spans
