"""Branch: has sessions go another way from the step that is looked at."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtWidgets import QWidget

from app.desk.session_key import id_of, key_of, server_of
from app.desk.workplace import Workplace
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.sessions.branch_dialog import BranchArm, BranchDialog
from core.domain.ids import new_id
from core.protocol.messages import CAN_CONTINUE
from core.protocol.operations import BranchSession


class BranchController(QObject):
    """The act on the step that is looked at, of a session that was made on a server of ours."""

    def __init__(self, place: Workplace, view: QWidget) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._action = place.actions["session.branch"]
        self._action.triggered.connect(self._ask_branch)
        place.desks.rows_changed.connect(self._enable_action)
        place.sight.opened.connect(self._enable_action)
        place.sight.stepped.connect(self._enable_action)
        self._enable_action()

    def _enable_action(self, *_: object) -> None:
        row = self._place.sight.row
        can = row is not None and row.origin == "live" and not row.caller
        self._action.setEnabled(can and bool(self._place.sight.step))

    def _ask_branch(self) -> None:
        row, step, trajectory = self._place.sight.row, self._place.sight.step, self._place.sight.trajectory
        if row is None or not step or trajectory is None:
            return
        link = self._place.desks.of(row.session).link
        if link.state == "online" and CAN_CONTINUE not in link.capabilities:
            self._place.notices.tell(QCoreApplication.translate(
                "BranchDialog", "This server is older than this program: it cannot branch sessions."), "error")
            return
        given = [one for one in trajectory.guidance.values() if one.delivered_step == step + 1]
        dialog = BranchDialog(one_line(row.title or row.session, 60), step, given, self._view.window())
        dialog.chosen.connect(partial(self._send_branches, row.session, step))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _send_branches(self, session: str, step: int, arms: list[BranchArm], times: int, replays: bool) -> None:
        group = new_id()
        for arm in arms:
            for _ in range(times):
                op = BranchSession(parent=id_of(session), step=step, without=arm.without, text=arm.text,
                                   guidance=new_id() if arm.text else "", replays=replays, group=group, arm=arm.name)
                self._place.sender.send(key_of(new_id(), server_of(session)), op)
        words = self.tr("%n branch(es) begin; Compare offers them as a group.", None, plural(len(arms) * times))
        self._place.notices.tell(words, "done")
