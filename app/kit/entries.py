"""A list of two-line entries, each with what it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, Qt

from app.kit.two_lines import TwoLines, TwoLinesRole

Index = QModelIndex | QPersistentModelIndex
EntryRole = TwoLinesRole + 1


class EntriesModel(QAbstractListModel):
    """Entries (what it stands for, how it is drawn). The same list shown again moves nothing."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.entries: list[tuple[object, TwoLines]] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many entries there are."""
        return 0 if parent.isValid() else len(self.entries)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The lines (TwoLinesRole), what they stand for (EntryRole), or the text for assistive technology."""
        if not index.isValid() or index.row() >= len(self.entries):
            return None
        what, lines = self.entries[index.row()]
        if role == TwoLinesRole:
            return lines
        if role == EntryRole:
            return what
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return lines.spoken
        return None

    def show(self, entries: Sequence[tuple[object, TwoLines]]) -> None:
        """Show other entries."""
        fresh = list(entries)
        if fresh == self.entries:
            return
        if [what for what, _ in fresh] == [what for what, _ in self.entries]:
            self.entries = fresh
            self.dataChanged.emit(self.index(0), self.index(len(fresh) - 1))
            return
        self.beginResetModel()
        self.entries = fresh
        self.endResetModel()

    def grow(self, entries: Sequence[tuple[object, TwoLines]]) -> None:
        """Show a longer list that begins with as many rows as there are: nothing moves, what differs is drawn anew."""
        known = len(self.entries)
        for row, entry in enumerate(entries[:known]):
            if entry != self.entries[row]:
                self.entries[row] = entry
                self.dataChanged.emit(self.index(row), self.index(row))
        if len(entries) > known:
            self.beginInsertRows(QModelIndex(), known, len(entries) - 1)
            self.entries += entries[known:]
            self.endInsertRows()
