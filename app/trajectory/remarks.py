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
        place.sight.opened.connect(self._on_opened)
        place.sight.grew.connect(self._show)
        self._shown: tuple[str, int] = ("", 0)

    def _on_opened(self) -> None:
        self._bar.toggle.setChecked(False)
        self._show()

    def _show(self) -> None:
        session, trajectory = self._place.sight.session, self._place.sight.trajectory
        notes = trajectory.notes if trajectory is not None else []
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
