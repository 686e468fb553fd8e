"""“Store offline”: fetches whole sessions, one after the other, with progress and cancel."""

from __future__ import annotations

from collections import deque

from PySide6.QtCore import QObject

from app.desk.frame import Frame
from app.desk.session_key import is_local
from app.desk.workplace import Workplace
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.offline.bar import DownloadBar
from app.offline.download import Download


class OfflineController(QObject):
    """A session of this computer's own server is here anyway."""

    def __init__(self, place: Workplace, window: Frame) -> None:
        super().__init__(window.widget)
        self._place = place
        self._bar = DownloadBar(window.widget)
        window.status.addPermanentWidget(self._bar)
        self._bar.hide()
        self._waiting: deque[str] = deque()
        self._download: Download | None = None
        self._action = place.actions["session.store_offline"]
        self._action.triggered.connect(self._store_offline)
        self._bar.cancelled.connect(self._cancel_all)
        place.sight.opened.connect(self._enable_action)
        place.desks.rows_changed.connect(self._enable_action)
        place.desks.servers_changed.connect(self._on_servers)
        self._enable_action()

    def _enable_action(self, *_: object) -> None:
        session, row = self._place.sight.session, self._place.sight.row
        busy = session in self._waiting or (self._download is not None and self._download.session == session)
        elsewhere = row is not None and not is_local(session)
        whole = row is not None and self._place.offline_copies.is_whole(session, row.seq)
        self._action.setEnabled(elsewhere and not busy and not whole)

    def _store_offline(self) -> None:
        self._waiting.append(self._place.sight.session)
        self._next()
        self._enable_action()

    def _next(self) -> None:
        if self._download is not None or not self._waiting:
            return
        session = self._waiting.popleft()
        download = self._download = Download(self._place.desks.of(session), session, self)
        download.progressed.connect(self._show_progress)
        download.ended.connect(self._on_ended)
        self._show_progress()
        download.start()

    def _title(self, session: str) -> str:
        row = self._place.desks.of(session).row(session)
        return one_line(row.title or row.session, 30) if row is not None else ""

    def _show_progress(self) -> None:
        download = self._download
        if download is None:
            return
        words = (self.tr("“{title}” waits for the server") if download.is_waiting else
                 self.tr("Storing “{title}” offline: {percent} %"))
        title, share = self._title(download.session), download.share
        self._bar.show_download(words.format(title=title, percent=int(share * 100)), share)

    def _cancel_all(self) -> None:
        self._waiting.clear()
        if self._download is not None:
            self._download.cancel()

    def _on_ended(self, whole: bool) -> None:
        download, self._download = self._download, None
        if download is None:
            return
        self._bar.hide()
        if whole:
            desk = self._place.desks.of(download.session)
            self._place.offline_copies.add(download.session, desk.head(download.session))
            sentence = self.tr("“{title}” is whole on this computer.").format(title=self._title(download.session))
            if download.absent:
                sentence += " " + self.tr("%Ln part(s) are not on the server either.", None, plural(download.absent))
            self._place.notices.tell(sentence, "done", download.session)
            self._place.desks.rows_changed.emit()
        download.deleteLater()
        self._enable_action()
        self._next()

    def _on_servers(self) -> None:
        """A server that was taken off the list gives nothing any more."""
        download = self._download
        if download is not None and self._place.desks.of(download.session).row(download.session) is None:
            self._cancel_all()
