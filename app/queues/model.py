"""What there is to work through as a Qt model: headings, and entries with how much each holds."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from app.desk.queue_book import Shown

Index = QModelIndex | QPersistentModelIndex
SourceRole = int(Qt.ItemDataRole.UserRole) + 1


class QueueSource(msgspec.Struct, frozen=True):
    """A line: a heading, or (with `shown`) what the middle lists when it is chosen. `right` is how much it holds;
    `is_query`: its title is a filter as it is typed."""

    title: str
    shown: Shown | None = None
    icon: str = ""
    meaning: str = "muted"
    right: str = ""
    is_query: bool = False
    is_done: bool = False

    @property
    def spoken(self) -> str:
        """The line as one text."""
        return ", ".join(part for part in (self.title, self.right) if part)


class SourcesModel(QAbstractListModel):
    """The lines from top to bottom. Headings cannot be chosen."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[QueueSource] = []

    def show(self, lines: Sequence[QueueSource]) -> None:
        """Show these lines; where only words changed, what is chosen stays chosen."""
        if [(one.shown, one.icon) for one in lines] == [(one.shown, one.icon) for one in self.lines]:
            self.lines = list(lines)
            if lines:
                self.dataChanged.emit(self.index(0), self.index(len(lines) - 1))
            return
        self.beginResetModel()
        self.lines = list(lines)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many lines there are."""
        return 0 if parent.isValid() else len(self.lines)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The line (SourceRole), or its text for assistive technology."""
        if not index.isValid() or index.row() >= len(self.lines):
            return None
        line = self.lines[index.row()]
        if role == SourceRole:
            return line
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return line.spoken
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        """A heading is passed over."""
        is_heading = index.isValid() and index.row() < len(self.lines) and self.lines[index.row()].shown is None
        return Qt.ItemFlag.NoItemFlags if is_heading else super().flags(index)
