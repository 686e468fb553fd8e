"""Wires the Sessions panel: opens sessions, keeps the watermark of what was seen, takes attention off."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QWidget

from app.desk.session_key import id_of, key_of, server_of
from app.desk.workplace import Workplace
from app.kit.i18n import plural, translate
from app.kit.safe_text import one_line
from app.sessions.branch_dialog import BranchArm, BranchDialog
from app.sessions.continue_dialog import ContinueDialog
from app.sessions.controls import CONTROLS, ControlsController, explain
from app.sessions.filters import FiltersController
from app.sessions.model import SessionsModel
from app.sessions.snapshots import SnapshotsController
from app.sessions.view import SessionsView
from core.domain.ids import new_id
from core.domain.session import FINAL_STATES
from core.domain.task import Budget
from core.protocol.messages import CAN_CONTINUE
from core.protocol.operations import BranchSession, ClearAttention, ContinueSession


def build(place: Workplace, parent: QWidget) -> SessionsView:
    """The panel, wired."""
    model = SessionsModel(place.watermarks, partial(_server_name, place), place.offline_copies, place.queues.review)
    acts = [place.actions[f"session.{key}"] for key in (*CONTROLS, "continue", "branch", "snapshot",
                                                        "snapshots", "clear_attention", "thresholds",
                                                        "store_offline", "archive", "delete")]
    view = SessionsView(model, place.actions["file.new_session"], acts, parent)
    model.setParent(view)
    SessionsController(place, model, view)
    FiltersController(place, model, view)
    ControlsController(place, view)
    ContinueController(place, view)
    BranchController(place, view)
    SnapshotsController(place, view)
    explain(place)
    return view


def _server_name(place: Workplace, session: str) -> str:
    """What to call a session's server, where there are several."""
    return place.servers.name_of(server_of(session)) if len(place.desks.all) > 1 else ""


class SessionsController(QObject):
    """Opens sessions, and keeps the watermark of what the reader has seen."""

    def __init__(self, place: Workplace, model: SessionsModel, view: SessionsView) -> None:
        super().__init__(view)
        self._place, self._model, self._watermarks, self._view = place, model, place.watermarks, view
        self._owed = ""
        """The session that was entered and can take no keys yet."""
        self._arrived = ""
        """The session in which the reader is where they were: until then the step in sight is not where they read."""

        self._connect()
        self._on_opened()
        self._show_rows()
        QTimer.singleShot(0, self, self._on_settled)  # who was there before this panel was

    def _connect(self) -> None:
        place, view, actions = self._place, self._view, self._place.actions
        place.desks.rows_changed.connect(self._show_rows)
        place.queues.changed.connect(self._on_queues)
        place.sight.opened.connect(self._on_opened)
        place.sight.stepped.connect(self._on_stepped)
        place.sight.settled.connect(self._on_settled)
        view.opened.connect(place.cursor.open)
        view.entered.connect(self._lead_in)
        place.sight.grew.connect(self._lead_in_when_read)
        actions["session.clear_attention"].triggered.connect(self._clear_attention)
        clock = QTimer(self, interval=20_000)  # for how long those at work have been
        clock.timeout.connect(self._model.draw_anew)
        clock.start()

    # ---- what the desk says ----------------------------------------------------------------------

    def _show_rows(self) -> None:
        rows = self._place.desks.rows()
        self._look()
        self._model.show(rows, hold=self._view.is_read)
        self._view.faces.show_content(bool(rows))
        self._view.show_count(self._model.rowCount(), self._model.known)
        self._view.show_current(self._place.sight.session)
        self._enable()

    def _on_queues(self) -> None:
        """Queues change often; only a filter that asks for them has another answer then."""
        if self._model.query.is_about_queues:
            self._show_rows()

    def _on_opened(self) -> None:
        self._watermarks.arrive(self._place.sight.session)

    def _on_settled(self) -> None:
        if self._arrived != self._place.sight.session:
            self._arrived = self._place.sight.session
            self._on_stepped()

    def _on_stepped(self) -> None:
        self._look()
        self._watermarks.store()
        self._model.show_new()
        self._view.show_current(self._place.sight.session)
        self._enable()

    def _look(self) -> None:
        """Whoever follows a session sees all of it, and who reads its last step; an older step leaves the watermark."""
        row, step = self._place.sight.row, self._place.sight.step
        if (row is not None and row.session == self._arrived
                and (step is None or step >= row.steps or self._watermarks.steps(row.session) is None)):
            self._watermarks.mark(row.session, row.steps)

    def _enable(self) -> None:
        row = self._place.sight.row
        self._place.actions["session.clear_attention"].setEnabled(row is not None and bool(row.attention))

    # ---- what the reader does --------------------------------------------------------------------

    def _lead_in(self) -> None:
        """The keys go into the session that was entered; steps that are still being read take them when they are."""
        self._owed = "" if self._place.cursor.focus_list() else self._place.sight.session

    def _lead_in_when_read(self) -> None:
        if self._owed and self._owed == self._place.sight.session and self._view.list.hasFocus():
            self._lead_in()

    def _clear_attention(self) -> None:
        row = self._place.sight.row
        for kind in row.attention if row is not None else ():
            self._place.sender.send(row.session, ClearAttention(kind=kind))  # type: ignore[union-attr,arg-type]


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
        self._action.setEnabled(row is not None and row.is_ours and row.state in FINAL_STATES)

    def _ask_continue(self) -> None:
        row = self._place.sight.row
        if row is None or row.state not in FINAL_STATES:
            return
        link = self._place.desks.of(row.session).link
        if link.state == "online" and CAN_CONTINUE not in link.capabilities:
            self._place.notices.tell(translate(
                "ContinueDialog", "This server is older than this program: it cannot continue sessions."), "error")
            return
        dialog = ContinueDialog(one_line(row.title or row.session, 60), row, self._view.window())
        dialog.chosen.connect(partial(self._send_continue, row.session))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _send_continue(self, session: str, more: Budget, text: str) -> None:
        op = ContinueSession(more=more, guidance=new_id() if text else "", text=text)
        self._place.sender.send(session, op)


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
        self._action.setEnabled(row is not None and row.is_ours and bool(self._place.sight.step))

    def _ask_branch(self) -> None:
        row, step, trajectory = self._place.sight.row, self._place.sight.step, self._place.sight.trajectory
        if row is None or not step or trajectory is None:
            return
        link = self._place.desks.of(row.session).link
        if link.state == "online" and CAN_CONTINUE not in link.capabilities:
            self._place.notices.tell(translate(
                "BranchDialog", "This server is older than this program: it cannot branch sessions."), "error")
            return
        given = [one for one in trajectory.advice if one.delivered_step == step + 1]
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
        words = self.tr("%Ln branch(es) begin; Compare offers them as a group.", None, plural(len(arms) * times))
        self._place.notices.tell(words, "done")
