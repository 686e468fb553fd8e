"""Runs the rules over the session in sight, in a process of its own: they read every body of it."""

from __future__ import annotations

from PySide6.QtCore import QObject

from app.desk.session_key import id_of, is_local
from app.desk.worker import Worker, home_environment, read_line
from app.desk.workplace import Workplace
from app.review.view import ReviewView
from core import program
from core.workers.judge import read_judge_line


class RulesRun(QObject):
    """One at a time."""

    def __init__(self, place: Workplace, view: ReviewView) -> None:
        super().__init__(view)
        self._place, self._view = place, view
        self._worker: Worker | None = None
        view.rules_asked.connect(self.start)

    def start(self) -> None:
        """Run them, unless they run."""
        session = self._place.sight.session
        if self._worker is not None or not session:
            return
        if not is_local(session):
            hint = self.tr("Rules run on the server's own computer:  tiphys judge {session}")
            self._place.notices.tell(hint.format(session=id_of(session)), "info")
            return
        judge = program.command("tiphys", "judge", session, "--rules-only", "--json")
        self._worker = Worker(judge, self, environment=home_environment(self._place.home.path))
        self._worker.line.connect(self._on_line)
        self._worker.ended.connect(self._on_ended)
        self._view.show_rules(True)
        self._worker.start()

    def _on_line(self, line: bytes) -> None:
        if (judged := read_line(line, read_judge_line)) is not None:
            self._place.notices.tell(self.tr("The rules gave {count} new verdicts, {masked} of them mask.").format(
                count=judged.verdicts, masked=judged.masked), "done")

    def _on_ended(self, code: int, last_words: str) -> None:
        if code != 0:
            self._place.notices.tell(self.tr("The rules could not run: {why}").format(why=last_words or code), "error")
        if self._worker is not None:
            self._worker.deleteLater()
        self._worker = None
        self._view.show_rules(False)
