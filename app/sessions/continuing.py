"""Continue: asks what a session that ended may use, and with which advice it goes on."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QWidget

from app.desk.workplace import Workplace
from app.kit.safe_text import one_line
from app.sessions.continue_dialog import ContinueDialog
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES
from core.domain.task import Budget
from core.protocol.messages import CAN_CONTINUE
from core.protocol.operations import ContinueSession


class ContinueController(QObject):
    """The act on the session that is looked at, once it is over."""

    def __init__(self, place: Workplace, view: QWidget) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._action = place.actions["session.continue"]
        self._action.triggered.connect(self._ask_continue)
        place.desks.rows_changed.connect(self._enable_action)
        place.sight.opened.connect(self._enable_action)
        self._enable_action()

    def _enable_action(self, *_: object) -> None:
        row = self._place.sight.row
        can = row is not None and row.origin == "live" and not row.caller
        self._action.setEnabled(can and row is not None and row.state in FINAL_STATES)

    def _ask_continue(self) -> None:
        row = self._place.sight.row
        if row is None or row.state not in FINAL_STATES:
            return
        link = self._place.desks.of(row.session).link
        if link.state == "online" and CAN_CONTINUE not in link.capabilities:
            self._place.notices.tell(QCoreApplication.translate(
                "ContinueDialog", "This server is older than this program: it cannot continue sessions."), "error")
            return
        dialog = ContinueDialog(one_line(row.title or row.session, 60), row, self._view.window())
        dialog.chosen.connect(partial(self._send_continue, row.session))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _send_continue(self, session: str, more: Budget, text: str) -> None:
        op = ContinueSession(more=more, guidance=new_id() if text else "", text=text)
        self._place.sender.send(session, op)
