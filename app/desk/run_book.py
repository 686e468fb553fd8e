"""The learning run that is open: its files are followed, its groups read, its sessions opened."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.desk.cursor import Cursor
from app.desk.desks import Desks
from app.desk.notices import Notices
from app.desk.run_files import RunFacts, RunNews, facts_of, look, sheets_of, write_session
from app.desk.session_key import id_of
from app.kit.background import BackgroundWork
from app.kit.timers import single_shot
from core.domain.errors import Unavailable
from core.workers.reinforcement import GroupSheet

LOOK_MS = 1_000
"""How often the files of a run are looked at."""

Sheets = tuple[GroupSheet, ...]


class RunBook(QObject):
    """One run at a time. Files are read in a thread; nothing here waits for them."""

    opened = Signal()
    """Another run is open."""
    grew = Signal()
    """There are more metrics, or newer groups."""
    sheets_changed = Signal()
    """The groups of another update are here."""
    session_made = Signal(str, int)
    """(file, step): a session of the run was written as a file, to be opened at that step."""
    session_opened = Signal()
    """A session of the run is in sight."""

    def __init__(self, desks: Desks, cursor: Cursor, notices: Notices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._desks, self._cursor = desks, cursor
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._timer = single_shot(self, LOOK_MS, self._look)
        self._news_work, self._sheet_work, self._file_work = (
            BackgroundWork(self, notices.report) for _ in range(3))  # a run that cannot be read is not looked at again
        self._news_work.done.connect(self._take_news)
        self._sheet_work.done.connect(self._on_sheets)
        self._file_work.done.connect(self._on_written)
        cursor.moved.connect(self._on_moved)
        self._forget()

    def close(self) -> None:
        """Remove what was written to be opened."""
        if self._scratch is not None:
            self._scratch.cleanup()

    def _forget(self) -> None:
        self.folder: Path | None = None
        self.facts = RunFacts("", "", "")
        self.news = RunNews()
        self.follows = True
        """Whether the newest update is shown as soon as it is there."""
        self.update = 0
        """The update whose groups are shown; 0: none yet."""
        self.groups: Sheets = ()
        self.before: Sheets = ()
        """The groups of the update before: what is usual."""
        self._wanted = 0
        self._awaited = ""
        self._advantages: dict[str, dict[int, float]] = {}

    def open(self, folder: Path) -> None:
        """Show the run of a folder and follow it. Raises InvalidInput (no_run)."""
        facts = facts_of(folder)
        for work in (self._news_work, self._sheet_work):
            work.drop()
        self._forget()
        self.folder, self.facts = folder, facts
        self.opened.emit()
        self._look()

    def choose(self, update: int) -> None:
        """Show the groups of an update, as near as the run has them; the newest is followed from then on."""
        if not self.news.newest:
            return
        update = max(1, min(update, self.news.newest))
        self.follows = update == self.news.newest
        self._read(update)

    def advantage(self, session: str, step: int) -> float | None:
        """What a step of a session of the run was worth, as far as its group was looked at."""
        return self._advantages.get(id_of(session), {}).get(step)

    def open_session(self, session: str, step: int) -> None:
        """Bring a session of the run in sight at a step; it is opened as a file is, the first time."""
        if self.folder is None:
            return
        if self._desks.of(session).row(session) is not None:
            self._cursor.move(session, step)
            self.session_opened.emit()
            return
        self._awaited = session
        self._scratch = self._scratch or tempfile.TemporaryDirectory(prefix="tiphys-run-")
        place = Path(self._scratch.name)
        self._file_work.start(_tried, lambda: (str(write_session(Path(str(self.folder)), session, place)), step))

    # ---- following -------------------------------------------------------------------------------

    def _look(self) -> None:
        if self.folder is not None:
            self._news_work.start(_tried, look, self.folder, self.news)

    def _take_news(self, news: RunNews) -> None:
        is_new = (news.offset, news.newest, news.is_over, news.file) != (
            self.news.offset, self.news.newest, self.news.is_over, self.news.file)
        self.news = news
        if is_new:
            self.grew.emit()
        if news.newest and self.follows and news.newest != self._wanted:
            self._read(news.newest)
        if news.has_more:
            self._look()
        elif not news.is_over:
            self._timer.start()

    def _read(self, update: int) -> None:
        if self.folder is not None:
            self._wanted = update
            self._sheet_work.start(_tried, _with_before, self.folder, update)

    def _on_sheets(self, found: tuple[int, Sheets, Sheets]) -> None:
        self.update, self.groups, self.before = found
        for group in (*self.groups, *self.before):
            for member in group.sessions:
                self._advantages[member.session] = {s.number: s.advantage for s in member.steps}
        self.sheets_changed.emit()

    def _on_written(self, made: tuple[str, int]) -> None:
        self.session_made.emit(*made)

    def _on_moved(self, session: str, step: int | None) -> None:
        if self._awaited and id_of(session) == self._awaited:
            self._awaited = ""
            self.session_opened.emit()


def _with_before(folder: Path, update: int) -> tuple[int, Sheets, Sheets]:
    return update, sheets_of(folder, update), sheets_of(folder, update - 1)


def _tried(work: Callable[..., Any], *args: Any) -> Any:
    """What the work gives. Raises Unavailable (run_not_read) where files cannot be read."""
    try:
        return work(*args)
    except OSError as error:
        raise Unavailable("run_not_read", f"The run cannot be read: {error}.", why=str(error)) from error
