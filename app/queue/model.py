"""The sessions of a queue or filter as a Qt model: each row is put into words when it is seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt

from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.kit.safe_text import plain_tooltip
from app.queue.row import QueueRow

QueueRowRole = int(Qt.ItemDataRole.UserRole) + 1


class QueueModel(FlatModel[str]):
    """Sessions by their keys; `say` puts one into words. What was made is remembered until something changes."""

    def __init__(self, say: Callable[[str], QueueRow | None]) -> None:
        super().__init__()
        self._say = say
        self._words: dict[str, QueueRow | None] = {}

    def show(self, sessions: Sequence[str]) -> None:
        """List these, or the same ones with what changed of them."""
        self._words.clear()
        self.put(sessions, same=list(sessions) == self.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The row (QueueRowRole), or its text for assistive technology."""
        session = self.row_at(index)
        if session is None or role not in (QueueRowRole, Qt.ItemDataRole.ToolTipRole, *SPOKEN):
            return None
        line = self.words_of(session)
        if role == QueueRowRole or line is None:
            return line
        return plain_tooltip(line.spoken) if role == Qt.ItemDataRole.ToolTipRole else line.spoken

    def row_of(self, session: str) -> int:
        """The place of a session; -1 where it is not listed."""
        return self.rows.index(session) if session in self.rows else -1

    def words_of(self, session: str) -> QueueRow | None:
        """A session in words; None for one that is not known."""
        if session not in self._words:
            self._words[session] = self._say(session)
        return self._words[session]
