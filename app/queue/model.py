"""The sessions of a queue or filter as a Qt model: each row is put into words when it is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt

from app.kit.safe_text import plain_tooltip
from app.queue.row import QueueRow

Index = QModelIndex | QPersistentModelIndex
QueueRowRole = int(Qt.ItemDataRole.UserRole) + 1


class QueueModel(QAbstractListModel):
    """Sessions by their keys; `say` puts one into words. What was made is remembered until something changes."""

    def __init__(self, say: Callable[[str], QueueRow | None]) -> None:
        super().__init__()
        self._say = say
        self._rows: dict[str, QueueRow | None] = {}
        self.sessions: list[str] = []

    def show(self, sessions: Sequence[str]) -> None:
        """List these, or the same ones with what changed of them."""
        self._rows.clear()
        if list(sessions) == self.sessions:
            if self.sessions:
                self.dataChanged.emit(self.index(0), self.index(len(self.sessions) - 1))
            return
        self.beginResetModel()
        self.sessions = list(sessions)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many sessions are listed."""
        return 0 if parent.isValid() else len(self.sessions)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The row (QueueRowRole), or its text for assistive technology."""
        if not index.isValid() or index.row() >= len(self.sessions):
            return None
        if role not in (QueueRowRole, Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole,
                        Qt.ItemDataRole.ToolTipRole):
            return None
        line = self.words_of(self.sessions[index.row()])
        if role == QueueRowRole or line is None:
            return line
        return plain_tooltip(line.spoken) if role == Qt.ItemDataRole.ToolTipRole else line.spoken

    def row_of(self, session: str) -> int:
        """The place of a session; -1 where it is not listed."""
        return self.sessions.index(session) if session in self.sessions else -1

    def words_of(self, session: str) -> QueueRow | None:
        """A session in words; None for one that is not known."""
        if session not in self._rows:
            self._rows[session] = self._say(session)
        return self._rows[session]
