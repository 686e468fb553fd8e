"""The verdict books of this window: what changes in one goes to its session's server, and out again where refused."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Signal

from app.desk.notices import sentence_of
from app.desk.refusal import STEP_CHANGED, Refusal
from app.desk.workplace import Workplace
from app.review.verdict_book import AnyChange, Change, Decision, TagChange, VerdictBook
from core.domain.errors import ReportableError
from core.protocol.operations import AnyOp, GiveVerdict, SetTag


class VerdictBooks(QObject):
    """One book per session; the undo stack of each lives as long as the window."""

    refused = Signal()
    """A change was refused, and is in its book no more."""

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place, self._desks = place, place.desks
        self._books: dict[str, VerdictBook] = {}
        self._unanswered: dict[str, tuple[str, AnyChange]] = {}
        """Verdicts of an earlier run that were still in the outbox, by command."""
        self._desks.trajectory_changed.connect(self._on_changed)
        self._desks.trajectory_replaced.connect(self._on_changed)
        self._desks.answered.connect(self._on_answered)

    def of(self, session: str) -> VerdictBook:
        """A session's book; a new one takes up what is still on its way to the server."""
        if session not in self._books:
            self._books[session] = VerdictBook(session, partial(self._name_of, session))
            self._take_up(session)
        return self._books[session]

    def send(self, session: str, changes: tuple[AnyChange, ...]) -> None:
        """Tell a session's server of changes that are in its book."""
        for change in changes:
            self._place.sender.send(session, _op_of(change), refused=partial(self._on_refused, session, change))

    def _name_of(self, session: str) -> str:
        return self._desks.of(session).name

    def _take_up(self, session: str) -> None:
        for command in reversed(self._desks.of(session).commands(session)):
            change = _change_of(command.op) if command.state == "queued" else None
            if change is not None:
                self._books[session].take_up(change)
                self._unanswered[command.id] = session, change

    def _on_changed(self, session: str) -> None:
        if session in self._books:
            self._books[session].confirm(self._desks.of(session).trajectory(session))

    def _on_answered(self, command: str, refusal: Refusal | None) -> None:
        unanswered = self._unanswered.pop(command, None)
        if unanswered is not None and refusal is not None:  # the sender tells the reader
            self.of(unanswered[0]).refuse(unanswered[1], refusal.error.code == STEP_CHANGED)
            self.refused.emit()

    def _on_refused(self, session: str, change: AnyChange, error: ReportableError) -> None:
        self.of(session).refuse(change, error.code == STEP_CHANGED)
        self._place.notices.tell(sentence_of(error), "error", session)
        self.refused.emit()


def _op_of(change: AnyChange) -> AnyOp:
    if isinstance(change, TagChange):
        return SetTag(step=change.step, tag=change.tag, on=change.on, content=change.content)
    return GiveVerdict(step=change.step, value=change.decision.value, reason=change.decision.reason,
                       action=change.action, content=change.content)


def _change_of(op: AnyOp) -> AnyChange | None:
    if isinstance(op, SetTag) and op.step:
        return TagChange(op.step, op.tag, op.on, op.content)
    if isinstance(op, GiveVerdict) and op.author is None:
        return Change(op.step, Decision(op.value, op.reason), op.action, op.content)
    return None
