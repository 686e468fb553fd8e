"""“Keep on this computer”: fetches whole sessions, one after the other, with progress and cancel."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QObject

from app.desk.frame import Frame
from app.desk.session_key import is_local
from app.desk.workplace import Workplace
from app.kit.safe_text import one_line
from app.offline.bar import KeepBar
from app.offline.download import Keeper


class KeepingController(QObject):
    """A session of this computer's own server is here anyway."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place = place
        self._bar = KeepBar(window.widget)
        window.status.addPermanentWidget(self._bar)
        self._bar.hide()
        self._waiting: deque[str] = deque()
        self._keeper: Keeper | None = None
        self._action = place.actions["session.keep_here"]
        self._action.triggered.connect(self._keep)
        self._bar.cancelled.connect(self._cancel)
        place.sight.opened.connect(self._enable)
        place.desks.rows_changed.connect(self._enable)
        place.desks.servers_changed.connect(self._on_servers)
        self._enable()

    def _enable(self, *_: object) -> None:
        session, row = self._place.sight.session, self._place.sight.row
        busy = session in self._waiting or (self._keeper is not None and self._keeper.session == session)
        elsewhere = row is not None and not is_local(session)
        whole = row is not None and self._place.offline_copies.is_whole(session, row.seq)
        self._action.setEnabled(elsewhere and not busy and not whole)

    def _keep(self) -> None:
        self._waiting.append(self._place.sight.session)
        self._next()
        self._enable()

    def _next(self) -> None:
        if self._keeper is not None or not self._waiting:
            return
        session = self._waiting.popleft()
        keeper = self._keeper = Keeper(self._place.desks.of(session), session, self)
        keeper.moved.connect(self._tell)
        keeper.ended.connect(self._on_ended)
        self._tell()
        keeper.start()

    def _title(self, session: str) -> str:
        row = self._place.desks.of(session).row(session)
        return one_line(row.title or row.session, 30) if row is not None else ""

    def _tell(self) -> None:
        keeper = self._keeper
        if keeper is None:
            return
        told = (self.tr("“{title}” waits for the server") if keeper.is_waiting else
                self.tr("Keeping “{title}”: {percent} %"))
        self._bar.tell(told.format(title=self._title(keeper.session), percent=int(keeper.done * 100)), keeper.done)

    def _cancel(self) -> None:
        self._waiting.clear()
        if self._keeper is not None:
            self._keeper.cancel()

    def _on_ended(self, whole: bool) -> None:
        keeper, self._keeper = self._keeper, None
        if keeper is None:
            return
        self._bar.hide()
        if whole:
            self._place.offline_copies.add(keeper.session, self._place.desks.of(keeper.session).head(keeper.session))
            told = self.tr("“{title}” is whole on this computer.").format(title=self._title(keeper.session))
            if keeper.lacking:
                told += " " + self.tr("%n part(s) are not on the server either.", None, keeper.lacking)
            self._place.notices.tell(told, "done", keeper.session)
            self._place.desks.rows_changed.emit()
        keeper.deleteLater()
        self._enable()
        self._next()

    def _on_servers(self) -> None:
        """A server that was taken off the list gives nothing any more."""
        keeper = self._keeper
        if keeper is not None and self._place.desks.of(keeper.session).row(keeper.session) is None:
            self._cancel()
