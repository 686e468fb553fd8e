"""Opens the rules: they are listed, switched, tuned and tried by a process of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.desk.session_key import id_of
from app.desk.worker import home_environment, log_of
from app.desk.worker_calls import WorkerCalls
from app.desk.workplace import Workplace
from app.review.rules_dialog import RulesDialog
from core import program
from core.workers.messages import A, Problem, WorkerRequest
from core.workers.rules import ListRules, RuleLine, SetRule, TryRules


class RulesController(QObject):
    """One dialog at a time. `run` lets the rules judge the open session."""

    def __init__(self, place: Workplace, window: QWidget, run: Callable[[], None]) -> None:
        super().__init__(window)
        self._place, self._window, self._run = place, window, run
        self._dialog: RulesDialog | None = None
        self._calls = WorkerCalls(self._command, self, environment=home_environment(place.home.path))
        place.sight.opened.connect(self._on_opened)

    def open(self, *_: object) -> None:
        """Show the rules."""
        if self._dialog is None:
            self._dialog = dialog = RulesDialog(self._window.window())
            dialog.finished.connect(self._on_closed)
            dialog.scoped.connect(self._list_rules)
            dialog.changed.connect(self._change_rule)
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
        self._calls.end()
        dialog, trajectory = self._dialog, self._place.sight.trajectory
        if dialog is None:
            return
        task = trajectory.created.task if trajectory is not None and trajectory.created else None
        dialog.show_scopes(task.id if task else "", (task.title or task.id) if task else "")
        dialog.show_problem("")
        dialog.show_effects([])
        dialog.run.setEnabled(trajectory is not None)
        self._list_rules()

    def _command(self) -> list[str]:
        return program.command("rules", "--log", str(log_of(self._place)),
                               "--rules", str(self._place.home.path / "rules"))

    def _list_rules(self, *_: object) -> None:
        if self._dialog is not None:
            self._ask(ListRules(task=self._dialog.task), self._show_rules)

    def _show_rules(self, dialog: RulesDialog, rules: list[RuleLine]) -> None:
        dialog.show_rules(rules)
        session = self._place.sight.session
        if session and self._place.queues.is_blind(session):
            dialog.show_problem(self.tr("What the rules find here is not shown while you judge blindly."))
        elif session:
            self._ask(TryRules(session=id_of(session)), RulesDialog.show_effects)

    def _change_rule(self, rule: str, settings: dict[str, Any]) -> None:
        if self._dialog is not None:
            self._dialog.show_problem("")
            self._ask(SetRule(rule=rule, settings=settings, task=self._dialog.task), self._show_rules)

    def _ask(self, request: WorkerRequest[A], show: Callable[[RulesDialog, A], None]) -> None:
        dialog = self._dialog
        if dialog is None:
            return

        def use(answer: A) -> None:
            dialog.busy.setVisible(self._calls.are_waiting)
            show(dialog, answer)

        def fail(problem: Problem) -> None:
            dialog.busy.setVisible(self._calls.are_waiting)
            dialog.show_problem(self._calls.explain(problem))

        dialog.busy.setVisible(True)
        self._calls.ask(request, use, fail)

    def _on_closed(self, _: int) -> None:
        self._calls.end()
        if self._dialog is not None:
            self._dialog.deleteLater()
        self._dialog = None


def connect(place: Workplace, window: QWidget, run: Callable[[], None]) -> RulesController:
    """The command that shows the rules, wired."""
    controller = RulesController(place, window, run)
    place.actions["review.rules"].triggered.connect(controller.open)
    return controller
