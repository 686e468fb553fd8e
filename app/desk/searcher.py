"""The search worker of one panel: started with the first question, killed when an expression does not end."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.desk.desk import Desk
from app.desk.session_key import OWN
from app.desk.worker_calls import WorkerCalls
from app.desk.workplace import Workplace
from app.kit.timers import single_shot
from core import program
from core.workers.messages import A, WorkerRequest

STUCK_MS = 8_000
"""A worker that writes nothing for so long hangs in a regular expression."""


class Searcher(QObject):
    """Asks one question at a time; what comes for an older one is dropped."""

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place = place
        self._calls = WorkerCalls(self._command, self)
        self._calls.heard.connect(self._on_heard)
        self._is_up = False
        self._stuck = single_shot(self, STUCK_MS, self._give_up)
        place.desks.servers_changed.connect(self._drop_worker)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is still to come."""
        return self._calls.are_waiting

    def ask(self, request: WorkerRequest[A], use: Callable[[A], None], fail: Callable[[str], None]) -> None:
        """Ask; a question that is at work is dropped. `use` gets each part of the answer, `fail` a sentence."""
        self._calls.forget()
        self._calls.ask(request, use, lambda problem: fail(self._calls.explain(problem)))
        if self._is_up:
            self._stuck.start()

    def drop(self) -> None:
        """Nobody wants the answer any more."""
        self._calls.forget()
        self._stuck.stop()

    def _command(self) -> list[str]:
        self._is_up = False
        copies = [part for desk in self._place.desks.all for part in ("--copy", desk.server, *self._files(desk))]
        return program.command("find", *copies)

    def _files(self, desk: Desk) -> tuple[str, str]:
        """Where a server's sessions lie, and their index: of this computer's own server the log itself."""
        home, copy = self._place.home, desk.replica.path
        if desk.server == OWN and home.server_db.exists():
            return str(home.server_db), str(home.search_db)
        return str(copy), str(copy.with_suffix(".search"))

    def _drop_worker(self) -> None:
        """Other servers than before: the next question starts a worker that knows them."""
        self.drop()
        self._calls.end()

    def _on_heard(self) -> None:
        self._is_up = True
        if self.is_busy:
            self._stuck.start()
        else:
            self._stuck.stop()

    def _give_up(self) -> None:
        if self.is_busy:
            self._calls.end(self.tr("The search took too long. Is the expression too complex?"))
