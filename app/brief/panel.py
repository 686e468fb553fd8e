"""Wires the brief: shows the session that is chosen in the list, a moment after the choice, and goes on into it."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.brief.model import Brief, brief
from app.brief.view import BriefView
from app.desk.workplace import Workplace
from app.kit import quantities
from app.kit.i18n import plural
from app.kit.safe_text import one_line
from app.kit.timers import single_shot
from core.domain.session import SessionRow

QUIET_MS = 120
"""A list that is walked through by the arrow keys reads no session that is passed by."""


def build(place: Workplace, parent: QWidget) -> BriefView:
    """The panel, wired."""
    view = BriefView(parent)
    BriefController(place, view)
    return view


class BriefController(QObject):
    """The trajectory is read when the panel is seen; it is followed while it is shown."""

    def __init__(self, place: Workplace, view: BriefView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._timer = single_shot(self, QUIET_MS, self._show_session)
        place.queues.session_chosen.connect(self._timer.start)
        place.queues.changed.connect(self._timer.start)
        place.desks.trajectory_changed.connect(self._on_changed)
        place.queues.blindness_changed.connect(self._show_session)
        place.settings.changed.connect(self._show_session)
        view.came_up.connect(self._timer.start)
        view.entered.connect(self._go_on)
        self._show_session()

    def _on_changed(self, session: str) -> None:
        if session == self._place.queues.chosen:
            self._timer.start()

    def _go_on(self) -> None:
        session = self._place.queues.chosen
        if session:
            self._place.queues.enter(session)

    def _show_session(self) -> None:
        session = self._place.queues.chosen
        row = self._place.desks.of(session).row(session) if session else None
        if row is None:
            self._view.show_title(self.tr("Choose a session"), "", "")
            return
        if not self._view.isVisible():
            self._view.show_title("", "", "")  # what it showed may be what a blind reader is not to see by now
            return
        desk = self._place.desks.of(session)
        desk.watch(session)
        reader = self._place.reader(session)
        step, _ = self._place.queues.place_in(session)
        self._show(row, brief(desk.trajectory(session), step, self._place.blind_reader(session), reader))

    def _show(self, row: SessionRow, found: Brief) -> None:
        view = self._view
        go = (self.tr("Go on at step {n}").format(n=quantities.number(found.place)) if found.place_title else
              self.tr("Begin to read"))
        view.show_title(one_line(row.title or row.task or row.session, 80), f"{go}   " + self.tr("Enter"),
                        self.tr("Q: next session of the queue"))
        no_task = self.tr("The log keeps no task") if found.is_begun else self.tr("Its log is not here yet")
        view.add_text(self.tr("Task"), found.task or no_task, found.rest)
        self._show_result(row, found)
        if found.place_title:
            _, at = self._place.queues.place_in(row.session)
            where = self.tr("step {n}, “{title}”").format(n=quantities.number(found.place),
                                                         title=one_line(found.place_title, 60))
            when = quantities.short_day_and_minute(at)
            view.add_text(self.tr("Your place"), ", ".join(part for part in (where, when) if part))
        self._show_strip(row, found)
        if found.remarks:
            view.add_caption(self.tr("Remarks {n}").format(
                n=quantities.number(len(found.remarks) + found.more_remarks)))
        for remark in found.remarks:
            view.add_remark(one_line(remark.person, 24) or self.tr("you"), remark)

    def _show_strip(self, row: SessionRow, found: Brief) -> None:
        """Errors and what was decided; of a run that is here whole and has neither, so much in words."""
        caption = self.tr("Errors over the run")
        if any(one.errors or one.word for one in found.bins):
            self._view.add_strip(caption, found.bins, found.last)
        elif found.bins and found.last >= row.steps:
            self._view.add_text(caption, self.tr("No step failed"))

    def _show_result(self, row: SessionRow, found: Brief) -> None:
        """What the agent handed in or result at its end, and what it changed."""
        files, added, removed = found.changed
        result = f"“{found.handed_in}”" if found.handed_in else ""
        if found.submitted:
            result = self.tr("%Ln submission(s)", None, plural(found.submitted))
        if row.score is not None:
            score = self.tr("score {n}").format(n=quantities.score(row.score))
            result = ", ".join(part for part in (result, score) if part)
        if not result and not files and not added + removed:
            return
        if result:
            self._view.add_text(self.tr("Handed in"), result)
        else:
            self._view.add_caption(self.tr("Changed"))
        if files or added + removed:
            words = self.tr("%Ln file(s)", None, plural(files)) if files else self.tr("lines")
            signed = (f"+{quantities.number(added)}", f"−{quantities.number(removed)}") if added + removed else ("", "")
            self._view.add_changes(words, *signed)
