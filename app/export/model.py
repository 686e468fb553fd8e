"""Which sessions are exported, and what the export and training processes answer, as typed values."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QAbstractListModel, QCoreApplication, QModelIndex, QPersistentModelIndex, Qt, Signal

from app.desk.session_key import id_of
from app.kit.i18n import QT_TRANSLATE_NOOP
from app.kit.safe_text import one_line
from core.domain.session import FINAL_STATES, SessionRow


class Format(msgspec.Struct, frozen=True):
    """A data set format as the worker names it."""

    name: str
    title: str
    about: str = ""


class Refusal(msgspec.Struct, frozen=True):
    """What would be left out of an export, and why."""

    code: str = ""
    sentence: str = ""
    step: int | None = None


class SessionReport(msgspec.Struct, frozen=True):
    """One session's part of a report."""

    session: str
    title: str = ""
    steps: int = 0
    kept: int = 0
    masked: int = 0
    samples: int = 0
    refused: tuple[Refusal, ...] = ()


class Finding(msgspec.Struct, frozen=True):
    """Something in a sample that looks like a secret; `hint` shows its beginning. It is replaced when written."""

    session: str = ""
    sample: str = ""
    kind: str = ""
    hint: str = ""
    count: int = 1


class Report(msgspec.Struct, frozen=True):
    """What an export did, or would do."""

    samples: int = 0
    react: int = 0
    summary: int = 0
    rows: int = 0
    tokens: int = 0
    trained: int = 0
    longest: int = 0
    findings: tuple[Finding, ...] = ()
    sessions: tuple[SessionReport, ...] = ()
    warnings: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


class SampleLine(msgspec.Struct, frozen=True):
    """One sample of a session."""

    kind: str
    step: int = 0
    tokens: int = 0
    trained: int = 0


class TokenPart(msgspec.Struct, frozen=True):
    """A message of the agent as a range of tokens; state: context, kept, masked, summary, refused."""

    start: int
    end: int
    role: str = ""
    step: int | None = None
    state: str = ""


class Preview(msgspec.Struct, frozen=True):
    """A slice of one sample, token by token: (text, 1 where training sees it)."""

    samples: tuple[SampleLine, ...] = ()
    sample: int = 0
    start: int = 0
    total: int = 0
    trained: int = 0
    tokens: tuple[tuple[str, int], ...] = ()
    parts: tuple[TokenPart, ...] = ()
    refused: tuple[Refusal, ...] = ()
    template_refused: Refusal | None = None


STATES = {
    "kept": QT_TRANSLATE_NOOP("TokenPreview", "trained"),
    "summary": QT_TRANSLATE_NOOP("TokenPreview", "the summary, trained"),
    "masked": QT_TRANSLATE_NOOP("TokenPreview", "masked by a verdict"),
    "carried": QT_TRANSLATE_NOOP("TokenPreview", "trained in an earlier sample"),
    "changed": QT_TRANSLATE_NOOP("TokenPreview", "not as the model wrote it, so not trained"),
    "refused": QT_TRANSLATE_NOOP("TokenPreview", "cannot be split exactly, so not trained"),
    "context": QT_TRANSLATE_NOOP("TokenPreview", "context"),
}
"""What training does with a part, in words."""


def state_words(state: str) -> str:
    """A part's state in the reader's language."""
    return QCoreApplication.translate("TokenPreview", STATES.get(state, STATES["context"]))


class Metric(msgspec.Struct, frozen=True):
    """One line of a training's progress. Rates per second, times in seconds."""

    step: int
    steps: int = 0
    loss: float | None = None
    lr: float | None = None
    tokens: int | None = None
    tokens_per_s: float | None = None
    seconds: float | None = None
    eval_loss: float | None = None
    memory_mb: float | None = None
    trained_share: float | None = None


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
        wanted = {r.session for r in self._rows
                  if which == "all" or (which == "finished" and r.state in FINAL_STATES)}
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
            parts = [self.tr("%n step(s)", "", row.steps)]
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
