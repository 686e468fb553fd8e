"""Shows the start page while there is no session at all, and puts what lies in the usual folders on it."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, QTimer

from app.desk.workplace import Workplace
from app.window.layouts import LAYOUTS
from app.window.start_page import StartPage
from app.window.usual_folders import look
from app.window.window import Window


class StartController(QObject):
    """The page goes with the first session, and when the reader asks for a layout or a panel."""

    def __init__(self, place: Workplace, window: Window, open_files: Callable[[list[str]], None]) -> None:
        super().__init__(window)
        self._place, self._window, self._open = place, window, open_files
        self.page = StartPage(place.actions, window)
        self.page.folder_asked.connect(self._open_folder)
        window.filling.done.connect(window.focus.find_soon)
        place.desks.rows_changed.connect(self._show_start)
        place.sight.opened.connect(self._show_start)
        place.runs.opened.connect(self._show_start)
        for key in (*(f"view.{name}" for name in LAYOUTS), "go.find_all", "run.show", "view.next_panel"):
            place.actions[key].triggered.connect(self.leave)

    def begin(self) -> None:
        """The window is shown: show the page where nothing is there, and count what lies around."""
        self._show_start()
        if self.page.isVisible():
            self._place.scope.spawn(self._look(), name="count usual folders")

    def leave(self, *_: object) -> None:
        """The reader wants to see the panels; the keys go where they act."""
        was_shown = self.page.isVisible()
        self.page.hide()
        if was_shown:
            QTimer.singleShot(0, self, self._window.focus.lead_back)

    async def _look(self) -> None:
        self.page.found.show_found(await asyncio.to_thread(look, Path.home(), os.environ))

    def _show_start(self, *_: object) -> None:
        empty = not (self._place.desks.rows() or self._place.sight.session or self._place.runs.folder)
        if empty and not self.page.isVisible():
            self.page.fit()
            self.page.show()
            self.page.raise_()
            self.page.cards[1].setFocus()
        elif not empty:
            self.leave()

    def _open_folder(self, folder: str) -> None:
        self._open([folder])
