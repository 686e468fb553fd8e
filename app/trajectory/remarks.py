"""Says above the steps what was said of the whole session: what its file did not tell, or could not be read of it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk.remark_words import words_of_note, writer_of
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import translate
from app.kit.safe_text import one_line
from app.trajectory.view import TrajectoryView
from core.domain.blindness import seen_remarks
from core.domain.step_entry import Note


def unreadable_words(why: str) -> str:
    """The sentence above a session that cannot be read to its end."""
    return translate(
        "RemarksController", "Not all of this session can be read; nothing of it is lost. {why}"
    ).format(why=one_line(why, 400))


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
        place.sight.grew.connect(self._show_remarks)
        place.queues.blindness_changed.connect(self._show_remarks)
        self._shown: tuple[str, int, str] = ("", 0, "")
        self._show_remarks()  # the panel may be built when its session is open already

    def _on_opened(self) -> None:
        self._bar.toggle.setChecked(False)
        self._show_remarks()

    def _show_remarks(self, *_: object) -> None:
        session, trajectory = self._place.sight.session, self._place.sight.trajectory
        reader = self._place.blind_reader(session)
        notes = seen_remarks(trajectory.notes, reader) if trajectory is not None else []
        problem = self._problem()
        if self._shown == (session, len(notes), problem) and (notes or problem):
            return
        self._shown = (session, len(notes), problem)
        self._action.setEnabled(bool(notes or problem))
        remarks = [(words_of_note(note), self._about(note)) for note in notes]
        self._bar.show_remarks([(problem, ""), *remarks] if problem else remarks)

    def _problem(self) -> str:
        """Why not all of the session can be shown; "" for one that can be."""
        row = self._place.sight.row
        return unreadable_words(row.unreadable) if row is not None and row.unreadable else ""

    def _about(self, note: Note) -> str:
        when = quantities.clock(note.at)
        if note.author.kind == "import":
            return self.tr("the import, {when}").format(when=when)
        return self.tr("{name}, {when}").format(name=writer_of(note), when=when)
