"""A table of one column whose rows are chosen as wholes."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QTableView, QWidget

_ALONE = QItemSelectionModel.SelectionFlag.ClearAndSelect | QItemSelectionModel.SelectionFlag.Rows
_MOVE_ONLY = QItemSelectionModel.SelectionFlag.NoUpdate


class RowTable(QTableView):
    """Bare rows, as high as they are told to be; what is selected is always told in spans of rows."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, showGrid=False, wordWrap=False)
        self.horizontalHeader().hide()
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setMinimumSectionSize(12)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setTabKeyNavigation(False)
        self.setAutoScroll(False)

    def select_alone(self, row: int) -> None:
        """Make a row current, and it alone selected: whatever keys are held down, which Qt would take for a wish to add
        it to the selection."""
        self.selectionModel().setCurrentIndex(self.model().index(row, 0), _ALONE)

    def select_rows(self, spans: Sequence[tuple[int, int]]) -> None:
        """Select these rows (first, last) and no others; the current row stays."""
        chosen = QItemSelection()
        for first, last in spans:
            chosen.select(self.model().index(first, 0), self.model().index(last, 0))
        self.selectionModel().select(chosen, _ALONE)

    def selected_spans(self) -> list[tuple[int, int]]:
        """The selected rows, as (first, last), in order."""
        chosen = self.selectionModel().selection()
        return sorted((chosen.at(i).top(), chosen.at(i).bottom()) for i in range(chosen.count()))

    def to_edge(self, end: bool, extend: bool) -> None:
        """Go to the first or last row; `extend` selects all from where the selection began."""
        count = self.model().rowCount()
        if not count:
            return
        spans, row = self.selected_spans(), count - 1 if end else 0
        if not extend or not spans:
            self.select_alone(row)
            return
        anchor = spans[0][0] if self.currentIndex().row() == spans[-1][1] else spans[-1][1]
        self.selectionModel().setCurrentIndex(self.model().index(row, 0), _MOVE_ONLY)
        self.select_rows([(min(anchor, row), max(anchor, row))])
