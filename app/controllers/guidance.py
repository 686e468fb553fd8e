"""Wires the Guidance panel: into the outbox before the box is cleared; drafts survive a crash."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.models.guidance import GuidanceModel
from app.safe_text import one_line
from app.views.guidance import GuidancePanel
from app.workplace import Workplace
from core.domain.guidance import GuidanceMode
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.messages import ChangeGuidance, Guide

DRAFT_MS = 300


def build(place: Workplace, parent: QWidget) -> GuidancePanel:
    """The panel, wired."""
    model = GuidanceModel()
    panel = GuidancePanel(model, parent)
    model.setParent(panel)
    GuidanceController(place, model, panel)
    return panel


class GuidanceController(QObject):
    """Sends, edits and withdraws guidance of the cursor's session."""

    def __init__(self, place: Workplace, model: GuidanceModel, panel: GuidancePanel) -> None:
        super().__init__(panel)
        self._place, self._model, self._panel = place, model, panel
        self._session = ""
        self._told: tuple[str, str] | None = ("", "")
        self._storing: set[str] = set()
        self._draft: tuple[str, str] | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(DRAFT_MS)
        panel.set_mode(place.settings.text("guidance.mode"))
        self._connect()
        self._on_moved(place.cursor.session)

    def _connect(self) -> None:
        place, panel = self._place, self._panel
        place.cursor.moved.connect(self._on_moved)
        place.desk.trajectory_changed.connect(self._on_trajectory)
        place.desk.trajectory_replaced.connect(self._on_trajectory)
        place.desk.outbox_changed.connect(self._show)
        place.desk.rows_changed.connect(self._show_target)
        place.actions["go.guide"].triggered.connect(panel.start_writing)
        panel.sent.connect(self._on_sent)
        panel.changed.connect(self._on_change)
        panel.draft_changed.connect(self._on_draft)
        panel.step_asked.connect(place.cursor.to_step)
        self._timer.timeout.connect(self.save_draft)

    def _on_moved(self, session: str, step: int | None = None) -> None:
        if session == self._session:
            return
        self.save_draft()
        self._session = session
        self._told = None  # another session, perhaps of the same name: what was being edited is not of this one
        self._show_target()
        self._panel.busy(session in self._storing)
        self._panel.set_draft(self._place.desk.draft(session) if session else "")
        self._show()

    def _on_trajectory(self, session: str) -> None:
        if session == self._session:
            self._show()
            self._show_target()

    def _show(self) -> None:
        desk, session = self._place.desk, self._session
        if session:
            self._model.show(desk.trajectory(session), desk.commands(session))
        else:
            self._model.show(None, ())

    def _show_target(self) -> None:
        row = self._place.desk.row(self._session) if self._session else None
        told = (one_line(row.title or row.session, 60) if row is not None else "", self._why_not(row))
        if told != self._told:
            self._told = told
            self._panel.set_target(*told)

    def _why_not(self, row: SessionRow | None) -> str:
        if row is None:
            return ""
        if row.origin != "live":
            return self.tr("This trajectory was imported: nobody is there to be guided.")
        if row.state in FINAL_STATES:
            return self.tr("This session has ended: guidance reaches it no more.")
        return ""

    def _on_sent(self, text: str, mode: str) -> None:
        session = self._session
        self._timer.stop()
        self._draft = (session, text)
        self.save_draft()  # until the message is in the outbox, whatever happens then
        self._storing.add(session)

        def stored() -> None:
            self._storing.discard(session)
            if session == self._session:
                self._panel.sent_ok(text)

        def failed() -> None:
            self._storing.discard(session)
            if session == self._session:
                self._panel.busy(False)

        kind: GuidanceMode = "interrupt" if mode == "interrupt" else "note"
        self._place.sender.send(session, Guide(guidance=new_id(), text=text.strip(), mode=kind), stored=stored,
                                failed=failed, clear_draft=True)

    def _on_change(self, guidance: str, text: str | None) -> None:
        self._place.sender.send(self._session, ChangeGuidance(guidance=guidance, text=text))

    def _on_draft(self, text: str) -> None:
        self._draft = (self._session, text)
        self._timer.start()

    def save_draft(self) -> None:
        """Put what is being written on disk now."""
        if self._draft is not None and self._draft[0]:
            session, text = self._draft
            self._draft = None
            self._place.sender.keep_draft(session, text)
