"""The search worker of one panel: started with the first question, killed when an expression does not end."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal

from app.desk.desk import Desk
from app.desk.session_key import OWN
from app.desk.worker import Worker
from app.desk.workplace import Workplace
from app.kit.timers import single_shot

STUCK_MS = 8_000
"""A worker that says nothing for so long hangs in a regular expression."""


class Searcher(QObject):
    """Asks one question at a time; what comes for an older one is dropped."""

    told = Signal(object)  # a dict, see Worker.said
    failed = Signal(str)

    def __init__(self, place: Workplace, parent: QObject) -> None:
        super().__init__(parent)
        self._place = place
        self._worker: Worker | None = None
        self._number = 0
        self._busy = False
        self._ready = False
        self._stuck = single_shot(self, STUCK_MS, self._give_up)
        place.desks.servers_changed.connect(self._renew)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is still to come."""
        return self._busy

    def ask(self, **request: Any) -> None:
        """Ask; a question that is at work is dropped."""
        self._number += 1
        self._busy = True
        if self._worker is None:
            self._worker = self._start()
        self._worker.ask({"id": self._number, **request})
        if self._ready:
            self._stuck.start()

    def drop(self) -> None:
        """Nobody wants the answer any more."""
        self._number += 1
        self._busy = False
        self._stuck.stop()

    def _start(self) -> Worker:
        copies = [part for desk in self._place.desks.all for part in ("--copy", desk.server, *self._files(desk))]
        worker = Worker(["-m", "app.desk.search_worker", *copies], self)
        worker.said.connect(self._said)
        worker.ended.connect(self._ended)
        worker.start()
        return worker

    def _files(self, desk: Desk) -> tuple[str, str]:
        """Where a server's sessions lie, and their index: of this computer's own server the log itself."""
        home, copy = self._place.home, desk.replica.path
        if desk.server == OWN and home.server_db.exists():
            return str(home.server_db), str(home.search_db)
        return str(copy), str(copy.with_suffix(".search"))

    def _renew(self) -> None:
        """Other servers than before: the next question starts a worker that knows them."""
        if self._worker is not None:
            self._worker.kill()
            self._stop()
            self.drop()

    def _said(self, told: dict[str, Any]) -> None:
        if told.get("ready"):
            self._ready = True
            if self._busy:
                self._stuck.start()
            return
        if told.get("id") != self._number or not self._busy:
            return
        self._stuck.start()
        if told.get("done"):
            self._busy = False
            self._stuck.stop()
        if "error" in told:
            self.failed.emit(str(told["error"]))
        else:
            self.told.emit(told)

    def _ended(self, code: int, words: str) -> None:
        self._stop()
        if self._busy:
            self._busy = False
            self.failed.emit(words or str(code))

    def _give_up(self) -> None:
        if self._worker is not None:
            self._worker.kill()
        self._stop()
        self._busy = False
        self.failed.emit(self.tr("The search took too long. Is the expression too complex?"))

    def _stop(self) -> None:
        self._stuck.stop()
        self._ready = False
        if self._worker is not None:
            self._worker.deleteLater()
            self._worker = None
