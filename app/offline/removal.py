"""“Delete session…” and “Archive session…”: says what will be lost, and does it where it may be done."""

from __future__ import annotations

import asyncio
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject

from app.desk.desk import Desk
from app.desk.frame import Frame
from app.desk.sender import asked
from app.desk.session_key import id_of
from app.desk.workplace import Workplace
from app.kit.ask import file_to_save, yes_or_no
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from app.offline.bar import DownloadBar
from app.offline.download import Download
from app.offline.loss_words import Question, archiving_of, deletion_of, no_admin, no_server, old_server, removal_of
from core.domain.errors import ReportableError, Unavailable
from core.domain.losses import Losses
from core.protocol.messages import CAN_DELETE
from core.protocol.operations import DeleteSession
from core.store import blobs, log
from core.store.sqlite import connect
from core.store.tombstones import losses_of


class RemovalPlan(msgspec.Struct, frozen=True):
    """What would be lost of a session; `why` only the copy here can go, "" where the server deletes it."""

    lost: Losses
    why: str = ""


class RemovalController(QObject):
    """The acts on the session that is in sight, one at a time."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place, self._window = place, window.widget
        self._acts = {"session.delete": self._delete, "session.archive": self._archive}
        self._busy = False
        self._bar = DownloadBar(self._window)
        self._bar.hide()
        window.status.addPermanentWidget(self._bar)
        self._fetching: Download | None = None
        self._bar.cancelled.connect(self._cancel_fetching)
        self._own = self._title = ""  # what is deleted by this window; how the session in sight is called
        for key in self._acts:
            place.actions[key].triggered.connect(partial(self._start_act, key))
        place.sight.opened.connect(self._enable_actions)
        place.desks.rows_changed.connect(self._enable_actions)
        place.desks.session_deleted.connect(self._on_deleted)
        self._enable_actions()

    def _enable_actions(self, *_: object) -> None:
        row = self._place.sight.row
        self._title = one_line(row.title or row.session, 60) if row is not None else self._title
        for key in self._acts:
            self._place.actions[key].setEnabled(row is not None and not self._busy)

    def _on_deleted(self, session: str) -> None:
        """Somebody deleted a session on its server; whoever looks at it is told."""
        self._place.offline_copies.forget(session)
        if session != self._place.sight.session:
            return
        self._place.cursor.move("")
        if session != self._own:
            words = translate("Removal", "“{title}” was deleted on its server.")
            self._place.notices.tell(words.format(title=self._title), "info")

    def _start_act(self, key: str, *_: object) -> None:
        session = self._place.sight.session
        if session and not self._busy:
            self._busy = True
            self._enable_actions()
            self._place.scope.spawn(self._alone(key, session), name=key)

    async def _alone(self, key: str, session: str) -> None:
        try:
            await self._acts[key](session)
        finally:
            self._busy = False
            self._bar.hide()
            self._enable_actions()

    # ---- the two acts ----------------------------------------------------------------------------

    async def _delete(self, session: str) -> None:
        plan = await self._plan(session)
        asked = removal_of(plan.lost, plan.why) if plan.why else deletion_of(plan.lost)
        if await self._agreed(asked):
            await self._remove(session, plan, plan.lost.head)

    async def _archive(self, session: str) -> None:
        plan = await self._plan(session)
        title = translate("Removal", "Archive session")
        chosen = await file_to_save(self._window, title, f"{id_of(session)}.tiphys")
        if not chosen:
            return
        if not await self._agreed(archiving_of(plan.lost, chosen, deletes=not plan.why)):
            return
        desk = self._place.desks.of(session)
        if not await self._fetch(desk, session):
            return
        words = translate("Removal", "Writing “{title}” and reading it back")
        self._bar.show_work(words.format(title=_title(plan)))
        head = await asyncio.to_thread(_write, desk.replica.path, id_of(session), Path(chosen))
        await self._remove(session, plan, head)
        words = translate("Removal", "“{title}” is in {path}, which was read back.")
        self._place.notices.tell(words.format(title=_title(plan), path=one_line(chosen, 200)), "done")

    async def _agreed(self, asked: Question) -> bool:
        return await yes_or_no(self._window, asked.act, asked.button, detail=asked.detail, careful=True)

    # ---- what they are made of -------------------------------------------------------------------

    async def _plan(self, session: str) -> RemovalPlan:
        """Raises what the server refuses for, a missing right aside."""
        desk = self._place.desks.of(session)
        if desk.link.state != "online":
            return self._of_copy(desk, session, no_server())
        if CAN_DELETE not in desk.link.capabilities:
            return self._of_copy(desk, session, old_server())
        try:
            return RemovalPlan(await _ask(desk, session, DeleteSession()))
        except ReportableError as error:
            if error.code != "missing_scope":
                raise
            return self._of_copy(desk, session, no_admin())

    def _of_copy(self, desk: Desk, session: str, why: str) -> RemovalPlan:
        with closing(connect(desk.replica.path, readonly=True)) as conn:
            lost = losses_of(conn, id_of(session))
        return RemovalPlan(msgspec.structs.replace(lost, hosts=0), why)

    def _show_fetching(self) -> None:
        if self._fetching is not None:
            words = translate("Removal", "Fetching what is to be archived: {percent} %")
            share = self._fetching.share
            self._bar.show_download(words.format(percent=int(share * 100)), share)

    def _cancel_fetching(self) -> None:
        download, self._fetching = self._fetching, None
        if download is not None:
            download.cancel()

    async def _fetch(self, desk: Desk, session: str) -> bool:
        """Have all of it here; False where the reader cancelled. Raises Unavailable where it is not to be had."""
        done: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        download = self._fetching = Download(desk, session, self)
        download.progressed.connect(self._show_fetching)
        download.ended.connect(done.set_result)
        download.start()
        try:
            if desk.link.state != "online" and not self._is_whole(desk, session):
                download.cancel()
            whole = await done
            if self._fetching is not download:  # taken away by Cancel
                return False
            if not whole or download.absent:
                raise Unavailable("not_whole", "Not all of the session is here, and its server does not send it now.")
            return True
        finally:
            self._fetching = None
            download.deleteLater()

    def _is_whole(self, desk: Desk, session: str) -> bool:
        row = desk.row(session)
        return row is not None and self._place.offline_copies.is_whole(session, row.seq)

    async def _remove(self, session: str, plan: RemovalPlan, head: int) -> None:
        desk = self._place.desks.of(session)
        if not plan.why:
            self._own = session
            await _ask(desk, session, DeleteSession(head=head))
        if self._place.sight.session == session:
            self._place.cursor.move("")
        desk.unwatch(session)
        if plan.why:
            await desk.replica.remove_copy(id_of(session), keep_row=desk.link.state == "online")
            words = translate("Removal", "The copy of “{title}” was removed from this computer.")
        else:
            words = translate("Removal", "“{title}” was deleted.")
        self._place.offline_copies.forget(session)
        self._place.notices.tell(words.format(title=_title(plan)), "done")


async def _ask(desk: Desk, session: str, op: DeleteSession) -> Losses:
    """The server's answer, as `asked`."""
    return msgspec.convert(await asked(desk, session, op), Losses)


def _write(database: Path, session: str, path: Path) -> int:
    """Write the archive from a copy, in a thread; gives the events that are in it."""
    from core.formats.verified_archive import write_verified

    with closing(connect(database, readonly=True)) as conn:
        bodies = [placed.body for placed in log.read_all(conn, session)]
        write_verified(path, session, log.row(conn, session).title, bodies, lambda name: blobs.get(conn, name))
    return len(bodies)


def _title(plan: RemovalPlan) -> str:
    return one_line(plan.lost.title or plan.lost.session, 60)
