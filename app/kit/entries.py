"""A list of two-line entries, each with what it stands for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, Qt

from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.kit.two_lines import TwoLines, TwoLinesRole

EntryRole = TwoLinesRole + 1


class EntriesModel(FlatModel[tuple[object, TwoLines]]):
    """Entries (what it stands for, how it is drawn). The same list shown again moves nothing."""

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The lines (TwoLinesRole), what they stand for (EntryRole), or the text for assistive technology."""
        what, lines = self.row_at(index) or (None, None)
        if role == TwoLinesRole:
            return lines
        if role == EntryRole:
            return what
        return lines.spoken if lines is not None and role in SPOKEN else None

    def show(self, entries: Sequence[tuple[object, TwoLines]]) -> None:
        """Show other entries."""
        if list(entries) != self.rows:
            self.put(entries, same=[what for what, _ in entries] == [what for what, _ in self.rows])

    def grow(self, entries: Sequence[tuple[object, TwoLines]]) -> None:
        """Show a longer list that begins with as many rows as there are: nothing moves, what differs is drawn anew."""
        known = len(self.rows)
        for row, entry in enumerate(entries[:known]):
            if entry != self.rows[row]:
                self.rows[row] = entry
                self.dataChanged.emit(self.index(row), self.index(row))
        if len(entries) > known:
            self.beginInsertRows(QModelIndex(), known, len(entries) - 1)
            self.rows += entries[known:]
            self.endInsertRows()
