"""Snapshots: has one taken, lists them, has a session restored from one or branched where it was taken."""

from __future__ import annotations

import asyncio
from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.desk import Desk
from app.desk.sender import asked
from app.desk.session_key import id_of
from app.desk.workplace import Workplace
from app.kit.ask import yes_or_no
from app.kit.safe_text import one_line
from app.sessions.snapshots_dialog import SavedPlace, SnapshotsDialog, size_of
from core.domain.events import SnapshotFailed, SnapshotTaken, decode_stored
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.messages import CAN_CONTINUE, CAN_RESTORE
from core.protocol.operations import Control, RestoreSession
from core.store import log
from core.store.sqlite import connect

AT_WORK = ("running", "waiting", "paused")


class SnapshotsController(QObject):
    """The acts on the session in sight. Its log is read on, each time it grew, while anybody waits for a snapshot."""

    def __init__(self, place: Workplace, view: QWidget) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._take, self._list = place.actions["session.snapshot"], place.actions["session.snapshots"]
        self._dialog: SnapshotsDialog | None = None
        self._session = ""
        self._places: list[SavedPlace] = []
        self._read_to = 0
        self._awaited = False
        self._is_reading = self._is_behind = False
        self._take.triggered.connect(self._ask_snapshot)
        self._list.triggered.connect(self._open_list)
        place.desks.rows_changed.connect(self._enable_actions)
        place.sight.opened.connect(self._on_opened)
        place.sight.grew.connect(self._read_on)
        self._enable_actions()

    def _enable_actions(self, *_: object) -> None:
        row = self._place.sight.row
        is_live = row is not None and row.origin == "live"
        self._take.setEnabled(row is not None and is_live and row.state in AT_WORK)
        self._list.setEnabled(is_live)
        if self._dialog is not None and row is not None:
            self._show_obstacle(self._dialog, row)

    def _on_opened(self) -> None:
        self._awaited = False
        if self._dialog is not None:
            self._dialog.reject()
        self._enable_actions()

    # ---- one more --------------------------------------------------------------------------------

    def _ask_snapshot(self) -> None:
        row = self._place.sight.row
        if row is None or row.state not in AT_WORK or not self._can(CAN_CONTINUE):
            return
        self._place.sender.send(row.session, Control(control="snapshot"), refused=self._on_refused)
        self._awaited = True
        self._begin(row.session, after=self._place.desks.of(row.session).replica.head(id_of(row.session)))
        if row.state != "paused":
            self._place.notices.tell(self.tr("A snapshot is taken when the running step is done."))

    def _on_refused(self, error: Exception) -> None:
        self._awaited = False
        self._place.notices.report(error)

    def _tell(self, fact: SnapshotTaken | SnapshotFailed) -> None:
        self._awaited = False
        if isinstance(fact, SnapshotTaken):
            words = self.tr("Snapshot after step {n}: {size}").format(n=fact.step, size=size_of(fact))
            self._place.notices.tell(words, "done", self._session)
        else:
            words = self.tr("No snapshot could be taken: {why}").format(why=one_line(fact.reason, 300))
            self._place.notices.tell(words, "error", self._session)

    # ---- the list --------------------------------------------------------------------------------

    def _open_list(self) -> None:
        row = self._place.sight.row
        if row is None or self._dialog is not None:
            return
        dialog = self._dialog = SnapshotsDialog(one_line(row.title or row.session, 60), self._take, self._view.window())
        dialog.branch_asked.connect(self._ask_branch)
        dialog.restore_asked.connect(self._ask_restore)
        dialog.finished.connect(self._on_closed)
        self._show_obstacle(dialog, row)
        self._begin(row.session)
        dialog.open()
        self._read_on()

    def _on_closed(self) -> None:
        assert self._dialog is not None
        self._dialog.deleteLater()
        self._dialog = None

    def _show_obstacle(self, dialog: SnapshotsDialog, row: SessionRow) -> None:
        """A session is restored where nothing works on it, by a server that is there."""
        why = ""
        if row.state not in FINAL_STATES:
            why = self.tr("A session is restored when it has ended: stop it first.")
        elif not self._is_online(CAN_RESTORE):
            why = self.tr("Its server is not there, or older than this program: only it can restore the session.")
        dialog.refuse_restore(why, row.steps)

    def _begin(self, session: str, after: int = 0) -> None:
        if after == 0 or self._session != session or self._dialog is None:
            self._session, self._places, self._read_to = session, [], after

    def _read_on(self, *_: object) -> None:
        """Once at a time: what comes meanwhile is read after it."""
        if (self._dialog is None and not self._awaited) or self._session != self._place.sight.session:
            return
        self._is_behind = True
        if not self._is_reading:
            self._is_reading = True
            self._place.scope.spawn(self._read(), name="snapshots")

    async def _read(self) -> None:
        try:
            while self._is_behind:
                self._is_behind = False
                session, read_to = self._session, self._read_to
                desk = self._place.desks.of(session)
                found, head = await asyncio.to_thread(_about_snapshots, desk.replica.path, id_of(session), read_to)
                if (session, read_to) == (self._session, self._read_to):
                    self._read_to = head
                    self._take_in(found)
                    await self._look_here(desk, is_news=bool(found) or not read_to)
        finally:
            self._is_reading = False

    def _take_in(self, found: list[SavedPlace]) -> None:
        self._places += found
        by_hand = [place.fact for place in found if place.fact.cause == "person"]
        if self._awaited and by_hand:
            self._tell(by_hand[-1])
        if self._dialog is not None:
            self._dialog.show_snapshots(self._places)

    async def _look_here(self, desk: Desk, *, is_news: bool) -> None:
        if self._dialog is None or not is_news or not self._is_online(CAN_RESTORE):
            return
        session, reply = self._session, await asked(desk, self._session, RestoreSession())
        if self._dialog is not None and session == self._session:
            self._dialog.show_here(reply.get("here"))  # type: ignore[arg-type]

    # ---- what the reader does with one -----------------------------------------------------------

    def _ask_branch(self, fact: SnapshotTaken) -> None:
        assert self._dialog is not None
        self._dialog.accept()
        self._place.cursor.move(self._session, fact.step)
        self._place.actions["session.branch"].trigger()

    def _ask_restore(self, fact: SnapshotTaken) -> None:
        self._place.scope.spawn(self._restore(fact, self._session), name="restore")

    async def _restore(self, fact: SnapshotTaken, session: str) -> None:
        assert self._dialog is not None
        detail = self.tr("Its sandboxes get the files of this snapshot when it works again; what they hold now goes. "
                         "The log stays as it is. Then “Continue…” has the session go on.")
        if not await yes_or_no(self._dialog, self.tr("Restore the session from its snapshot after step {n}?").format(
                n=fact.step), self.tr("Restore"), detail=detail, careful=True):
            return
        await asked(self._place.desks.of(session), session, RestoreSession(snapshot=fact.id))
        if self._dialog is not None:
            self._dialog.accept()
        self._place.notices.tell(self.tr("The session is as after step {n}: “Continue…” has it go on.").format(
            n=fact.step), "done", session)

    # ---- the server ------------------------------------------------------------------------------

    def _can(self, capability: str) -> bool:
        link = self._place.sight.desk.link
        if link.state == "online" and capability not in link.capabilities:
            self._place.notices.tell(self.tr("This server is older than this program: it takes no snapshots."), "error")
            return False
        return True

    def _is_online(self, capability: str) -> bool:
        link = self._place.sight.desk.link
        return link.state == "online" and capability in link.capabilities


def _about_snapshots(database: Path, session: str, after: int) -> tuple[list[SavedPlace], int]:
    """What the copy tells of snapshots after an event, and up to which event that is, in a thread."""
    with closing(connect(database, readonly=True)) as conn:
        head = log.head(conn, session)
        events = [decode_stored(placed.body) for placed in log.about_snapshots(conn, session, after)]
    return [SavedPlace(event.fact, event.at) for event in events
            if isinstance(event.fact, SnapshotTaken | SnapshotFailed)], head
