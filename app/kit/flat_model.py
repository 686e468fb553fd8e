"""A flat list of rows as a Qt model: what all our lists do alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

Index = QModelIndex | QPersistentModelIndex
Row = TypeVar("Row")

SPOKEN = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
"""The roles that ask for a row as one text."""


class FlatModel(QAbstractListModel, Generic[Row]):
    """Its rows are a list. Where the same things are shown again nothing moves, and what is chosen stays chosen."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.rows)

    def row_at(self, index: Index) -> Row | None:
        """What an index is about; None where the list is shorter by now."""
        return self.rows[index.row()] if 0 <= index.row() < len(self.rows) else None

    def put(self, rows: Sequence[Row], *, same: bool = False) -> None:
        """List these rows; `same`: they are about the same things as those before, in the same order."""
        if not same:
            self.beginResetModel()
        self.rows = list(rows)
        if same:
            self.draw_anew()
        else:
            self.endResetModel()

    def draw_anew(self) -> None:
        """What the rows show may have changed."""
        if self.rows:
            self.dataChanged.emit(self.index(0), self.index(len(self.rows) - 1))
