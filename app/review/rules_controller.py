"""Opens the rules: they are listed, switched, tuned and tried by a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.session_key import id_of
from app.desk.worker import Worker, home_environment, log_of, read_answer
from app.desk.workplace import Workplace
from app.review.rules import RuleEffect, RuleLine
from app.review.rules_dialog import RulesDialog


class RulesController(QObject):
    """One dialog at a time. `run` lets the rules judge the open session."""

    def __init__(self, place: Workplace, window: QWidget, run: Callable[[], None]) -> None:
        super().__init__(window)
        self._place, self._window, self._run = place, window, run
        self._dialog: RulesDialog | None = None
        self._worker: Worker | None = None
        self._number = 0
        self._waiting: dict[int, Callable[[Any], None]] = {}
        place.sight.opened.connect(self._on_opened)

    def open(self, *_: object) -> None:
        """Show the rules."""
        if self._dialog is None:
            self._dialog = dialog = RulesDialog(self._window.window())
            dialog.finished.connect(self._closed)
            dialog.scoped.connect(self._list)
            dialog.changed.connect(self._change)
            dialog.stepped.connect(self._place.cursor.to_step)
            dialog.run_asked.connect(self._run)
            self._restart()
            dialog.show()
        else:
            self._dialog.activateWindow()

    def _on_opened(self) -> None:
        if self._dialog is not None:
            self._restart()

    def _restart(self) -> None:
        """The process reads one session's log; another session may lie in another file."""
        self._end()
        dialog, trajectory = self._dialog, self._place.sight.trajectory
        if dialog is None:
            return
        task = trajectory.created.task if trajectory is not None and trajectory.created else None
        dialog.show_scopes(task.id if task else "", (task.title or task.id) if task else "")
        dialog.show_problem("")
        dialog.show_effects([])
        dialog.run.setEnabled(trajectory is not None)
        arguments = ["-m", "core.supervision.worker", "--log", str(log_of(self._place)),
                     "--rules", str(self._place.home.path / "rules")]
        self._worker = Worker(arguments, self, environment=home_environment(self._place.home.path))
        self._worker.said.connect(self._said)
        self._worker.ended.connect(self._ended)
        self._worker.start()
        self._list()

    def _list(self, *_: object) -> None:
        if self._dialog is not None:
            self._ask({"do": "rules", "task": self._dialog.task}, self._listed)

    def _listed(self, told: Any) -> None:
        if self._dialog is None:
            return
        self._dialog.show_rules(read_answer(list[RuleLine], told))
        session = self._place.sight.session
        if session and self._place.settings.get("review.blind"):
            self._dialog.show_problem(self.tr("What the rules find here is not shown while you judge blindly."))
        elif session:
            self._ask({"do": "effects", "session": id_of(session)}, self._told)

    def _told(self, told: Any) -> None:
        if self._dialog is not None:
            self._dialog.show_effects(read_answer(list[RuleEffect], told))

    def _change(self, rule: str, settings: dict[str, Any]) -> None:
        if self._dialog is not None:
            self._dialog.show_problem("")
            self._ask({"do": "set", "rule": rule, "settings": settings, "task": self._dialog.task}, self._listed)

    # ---- the process ------------------------------------------------------------------------------

    def _ask(self, message: dict[str, Any], use: Callable[[Any], None]) -> None:
        if self._worker is None or self._dialog is None:
            return
        self._number += 1
        self._waiting[self._number] = use
        self._dialog.show_busy(True)
        self._worker.ask({"id": self._number, **message})

    def _said(self, told: dict[str, Any]) -> None:
        use = self._waiting.pop(int(told.get("id") or 0), None)
        if use is None or self._dialog is None:
            return
        self._dialog.show_busy(bool(self._waiting))
        if "ok" not in told:
            self._dialog.show_problem(str((told.get("error") or {}).get("sentence", "")))
            return
        try:
            use(told["ok"])
        except msgspec.ValidationError as error:
            self._dialog.show_problem(self.tr("The rules gave an answer that cannot be read: {why}").format(why=error))

    def _ended(self, code: int, words: str) -> None:
        if self._dialog is not None and self._worker is not None:
            self._dialog.show_busy(False)
            self._dialog.show_problem(words or self.tr("The rules' process ended with code {code}.").format(code=code))
        self._worker = None

    def _end(self) -> None:
        self._waiting = {}
        if self._worker is not None:
            self._worker.kill()
            self._worker.deleteLater()
            self._worker = None

    def _closed(self, _: int) -> None:
        self._end()
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None


def connect(place: Workplace, window: QWidget, run: Callable[[], None]) -> RulesController:
    """The command that shows the rules, wired."""
    controller = RulesController(place, window, run)
    place.actions["review.rules"].triggered.connect(controller.open)
    return controller
