"""Says above the steps what was said of the whole session: what its file did not tell, or could not be read of it."""

from __future__ import annotations

from datetime import datetime

from PySide6.QtCore import QObject

from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.safe_text import one_line
from app.trajectory.view import TrajectoryView
from core.domain.verdict import Author


class RemarksController(QObject):
    """Notes on step 0 of the session that is looked at."""

    def __init__(self, place: Workplace, panel: TrajectoryView) -> None:
        super().__init__(panel)
        self._place, self._bar = place, panel.remarks
        self._action = place.actions["view.remarks"]
        self._action.setEnabled(False)
        self._action.toggled.connect(self._bar.toggle.setChecked)
        self._bar.toggle.toggled.connect(self._action.setChecked)
        place.cursor.moved.connect(self._on_moved)
        place.desk.trajectory_changed.connect(self._on_changed)
        place.desk.trajectory_replaced.connect(self._on_changed)
        self._shown: tuple[str, int] = ("", 0)

    def _on_moved(self, session: str, step: object) -> None:
        if session != self._shown[0]:
            self._bar.toggle.setChecked(False)
            self._show(session)

    def _on_changed(self, session: str) -> None:
        if session == self._place.cursor.session:
            self._show(session)

    def _show(self, session: str) -> None:
        notes = self._place.desk.trajectory(session).notes if session else []
        if self._shown == (session, len(notes)) and notes:
            return
        self._shown = (session, len(notes))
        self._action.setEnabled(bool(notes))
        self._bar.show_remarks([(text, self._about(author, at)) for author, at, text in notes])

    def _about(self, author: Author, at: datetime) -> str:
        when = quantities.clock(at)
        if author.kind == "import":
            return self.tr("the import, {when}").format(when=when)
        return self.tr("{name}, {when}").format(name=one_line(author.name, 60), when=when)
