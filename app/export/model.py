"""Which sessions are exported, and what training does with a part of one, in words."""

from __future__ import annotations

from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.desk.session_key import id_of
from app.kit.i18n import QT_TRANSLATE_NOOP, plural
from app.kit.safe_text import one_line
from core.domain.session import FINAL_STATES, SessionRow

STATES = {
    "kept": QT_TRANSLATE_NOOP("SampleView", "trained"),
    "summary": QT_TRANSLATE_NOOP("SampleView", "the summary, trained"),
    "masked": QT_TRANSLATE_NOOP("SampleView", "masked by a verdict"),
    "undecided": QT_TRANSLATE_NOOP("SampleView", "nobody judged it, so not trained"),
    "carried": QT_TRANSLATE_NOOP("SampleView", "trained in an earlier sample"),
    "changed": QT_TRANSLATE_NOOP("SampleView", "not as the model wrote it, so not trained"),
    "refused": QT_TRANSLATE_NOOP("SampleView", "cannot be split exactly, so not trained"),
    "context": QT_TRANSLATE_NOOP("SampleView", "context"),
}
"""What training does with a part, in words."""


def state_words(state: str) -> str:
    """A part's state in the reader's language."""
    return QCoreApplication.translate("SampleView", STATES.get(state, STATES["context"]))


class SessionChoices(QAbstractListModel):
    """The sessions with a tick each. Ticks stay when rows change; new sessions come unticked."""

    chosen_changed = Signal()

    def __init__(self, parent: object = None) -> None:
        super().__init__(parent)  # type: ignore[arg-type]
        self._rows: list[SessionRow] = []
        self._chosen: set[str] = set()

    @property
    def chosen(self) -> list[str]:
        """The ticked sessions, in the list's order."""
        return [r.session for r in self._rows if r.session in self._chosen]

    def title(self, session: str) -> str:
        """A session's title for people."""
        row = next((r for r in self._rows if session in (r.session, id_of(r.session))), None)
        return one_line(row.title, 80) or session if row else session

    def show(self, rows: list[SessionRow]) -> None:
        """The sessions there are now, newest first."""
        rows = sorted(rows, key=lambda r: (r.updated_at is not None, r.updated_at), reverse=True)
        if rows == self._rows:
            return
        same = [r.session for r in rows] == [r.session for r in self._rows]
        if not same:
            self.beginResetModel()
        self._rows = rows
        if same:
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
        else:
            self.endResetModel()

    def choose(self, which: str, also: str = "") -> None:
        """Tick "all", "finished" or "none"; `also` one more by its id."""
        wanted = {r.session for r in self._rows if which == "all" or (which == "finished" and r.state in FINAL_STATES)}
        self._set(wanted | ({also} if also else set()))

    def rowCount(self, parent: QModelIndex | QPersistentModelIndex = QModelIndex()) -> int:
        """How many sessions."""
        return 0 if parent.isValid() else len(self._rows)

    def flags(self, index: QModelIndex | QPersistentModelIndex) -> Qt.ItemFlag:
        """Every row can be ticked."""
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: QModelIndex | QPersistentModelIndex, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Title with steps, and the tick."""
        row = self._rows[index.row()] if 0 <= index.row() < len(self._rows) else None
        if row is None:
            return None
        if role == int(Qt.ItemDataRole.CheckStateRole):
            return Qt.CheckState.Checked if row.session in self._chosen else Qt.CheckState.Unchecked
        if role == int(Qt.ItemDataRole.DisplayRole):
            parts = [self.tr("%n step(s)", "", plural(row.steps))]
            if row.score is not None:
                parts.append(self.tr("score {score}").format(score=f"{row.score:.1f}"))
            if row.state not in FINAL_STATES and row.origin == "live":
                parts.append(self.tr("still working"))
            return f"{one_line(row.title, 80) or row.session}\n{' · '.join(parts)}"
        return None

    def setData(self, index: QModelIndex | QPersistentModelIndex, value: object,
                role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Tick or untick."""
        if role != int(Qt.ItemDataRole.CheckStateRole) or not 0 <= index.row() < len(self._rows):
            return False
        on = Qt.CheckState(value) == Qt.CheckState.Checked
        session = self._rows[index.row()].session
        self._set(self._chosen | {session} if on else self._chosen - {session})
        return True

    def _set(self, chosen: set[str]) -> None:
        if chosen != self._chosen:
            self._chosen = chosen
            if self._rows:
                self.dataChanged.emit(self.index(0), self.index(len(self._rows) - 1))
            self.chosen_changed.emit()
