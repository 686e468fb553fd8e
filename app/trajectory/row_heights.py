"""The heights of a list's rows, measured when they are first seen, so that what is read stays in its place."""

from __future__ import annotations

from PySide6.QtWidgets import QTableView

from app.trajectory.model import TrajectoryModel
from app.trajectory.nested import NestedModel
from app.trajectory.step_row import StepRowDelegate

_PASSES = 4
"""Rows that turn out lower than thought bring others into sight, so often at most."""


class RowHeights:
    """Which rows of a table over a TrajectoryModel have their true height."""

    def __init__(self, table: QTableView, delegate: StepRowDelegate) -> None:
        self._table, self._delegate = table, delegate
        self._measured: set[int] = set()
        self._held = (0, 0)

    def clear(self) -> None:
        """No row has its true height any more."""
        self._measured.clear()

    def forget(self, first: int, last: int) -> None:
        """Of these rows those in sight may be higher or lower now."""
        self._measured -= {r for r in self.in_sight() if first <= r <= last}

    def in_sight(self) -> range:
        """The rows that the viewport shows, at least in part."""
        table = self._table
        first = max(0, table.rowAt(0))
        last = table.rowAt(table.viewport().height() - 1)
        return range(first, (last if last >= 0 else table.model().rowCount() - 1) + 1)

    def measure(self, row: int) -> bool:
        """Give a row its height; whether that is another one."""
        if row in self._measured:
            return False
        model = self._table.model()
        assert isinstance(model, TrajectoryModel | NestedModel)
        if not 0 <= row < model.rowCount():
            return False
        self._measured.add(row)
        height = self._delegate.ink.height
        if model.is_tall(row):
            text = model.painted(row)[0]
            assert text is not None
            height = self._delegate.height(text, self._table.viewport().width())
        if height == self._table.rowHeight(row):
            return False
        self._table.setRowHeight(row, height)
        return True

    def measure_sight(self) -> bool:
        """Measure what is in sight; whether a height changed."""
        changed = False
        for _ in range(_PASSES):
            if not [r for r in self.in_sight() if self.measure(r)]:
                break
            changed = True
        return changed

    # ---- the reader's place ----------------------------------------------------------------------

    def anchor(self) -> tuple[int, int]:
        """A row in sight that has its true height, and where it stands."""
        rows, place = self.in_sight(), self._table.rowViewportPosition
        row = next((r for r in rows if r in self._measured and place(r) >= 0), rows.start)
        return row, place(row)

    def hold(self, anchor: tuple[int, int]) -> None:
        """Bring a row back to where it stood."""
        row, place = anchor
        bar = self._table.verticalScrollBar()
        self._table.updateGeometries()
        bar.setValue(bar.value() + self._table.rowViewportPosition(row) - place)

    def note_anchor(self) -> None:
        """Rows are about to come or go: remember where the reader is."""
        self._held = self.anchor()

    def inserted(self, first: int, last: int) -> None:
        """Rows came."""
        count = last - first + 1
        if last < self._table.model().rowCount() - 1:  # at the end nothing moves
            self._measured = {r if r < first else r + count for r in self._measured}

    def hold_over(self, first: int, last: int) -> None:
        """Stay where the reader is, though rows came before."""
        if first < self._held[0]:
            self.hold((self._held[0] + last - first + 1, self._held[1]))

    def removed(self, first: int, last: int, *, stay: bool) -> None:
        """Rows went."""
        count = last - first + 1
        self._measured = {r if r < first else r - count for r in self._measured if not first <= r <= last}
        if stay and last < self._held[0]:
            self.hold((self._held[0] - count, self._held[1]))
