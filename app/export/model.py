"""Which sessions are exported, and what training does with a part of one, in words."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal

from app.desk.session_key import id_of
from app.kit.flat_model import FlatModel, Index
from app.kit.i18n import QT_TRANSLATE_NOOP, plural, translate
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
    return translate("SampleView", STATES.get(state, STATES["context"]))


class SessionChoices(FlatModel[SessionRow]):
    """The sessions with a tick each. Ticks stay when rows change; new sessions come unticked."""

    chosen_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chosen: set[str] = set()

    @property
    def chosen(self) -> list[str]:
        """The ticked sessions, in the list's order."""
        return [r.session for r in self.rows if r.session in self._chosen]

    def title(self, session: str) -> str:
        """A session's title for people."""
        row = next((r for r in self.rows if session in (r.session, id_of(r.session))), None)
        return one_line(row.title, 80) or session if row else session

    def show(self, rows: list[SessionRow]) -> None:
        """The sessions there are now, newest first."""
        rows = sorted(rows, key=lambda r: (r.updated_at is not None, r.updated_at), reverse=True)
        if rows == self.rows:
            return
        self.put(rows, same=[r.session for r in rows] == [r.session for r in self.rows])

    def choose(self, which: str, also: str = "") -> None:
        """Tick "all", "finished" or "none"; `also` one more by its id."""
        wanted = {r.session for r in self.rows if which == "all" or (which == "finished" and r.state in FINAL_STATES)}
        self._set(wanted | ({also} if also else set()))

    def flags(self, index: Index) -> Qt.ItemFlag:
        """Every row can be ticked."""
        return super().flags(index) | Qt.ItemFlag.ItemIsUserCheckable

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Title with steps, and the tick."""
        row = self.row_at(index)
        if row is None:
            return None
        if role == int(Qt.ItemDataRole.CheckStateRole):
            return Qt.CheckState.Checked if row.session in self._chosen else Qt.CheckState.Unchecked
        if role == int(Qt.ItemDataRole.DisplayRole):
            parts = [self.tr("%Ln step(s)", "", plural(row.steps))]
            if row.score is not None:
                parts.append(self.tr("score {score}").format(score=f"{row.score:.1f}"))
            if row.state not in FINAL_STATES and row.origin == "live":
                parts.append(self.tr("still working"))
            return f"{one_line(row.title, 80) or row.session}\n{' · '.join(parts)}"
        return None

    def setData(self, index: Index, value: object,
                role: int = int(Qt.ItemDataRole.EditRole)) -> bool:
        """Tick or untick."""
        row = self.row_at(index)
        if role != int(Qt.ItemDataRole.CheckStateRole) or row is None:
            return False
        on = Qt.CheckState(value) == Qt.CheckState.Checked
        self._set(self._chosen | {row.session} if on else self._chosen - {row.session})
        return True

    def _set(self, chosen: set[str]) -> None:
        if chosen != self._chosen:
            self._chosen = chosen
            self.draw_anew()
            self.chosen_changed.emit()
