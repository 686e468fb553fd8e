"""A worker process that is asked: started with the first request; its end is the answer to all that waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from PySide6.QtCore import QObject, Signal

from app.desk.worker import Worker
from core.workers.calls import BAD_ANSWER, Calls, Fail, Progress
from core.workers.messages import A, Problem, WorkerRequest

ENDED = "worker_ended"
"""The code of a request whose worker ended."""


class WorkerCalls(QObject):
    """`heard` comes with each line that the worker writes: it lives."""

    heard = Signal()

    def __init__(self, command: Callable[[], Sequence[str]], parent: QObject, *,
                 environment: Mapping[str, str] = {}) -> None:
        """`command()` is asked for each time that the worker is started."""
        super().__init__(parent)
        self._command, self._environment = command, environment
        self._worker: Worker | None = None
        self._calls = Calls()

    @property
    def are_waiting(self) -> bool:
        """Whether an answer is still to come."""
        return self._calls.are_waiting

    def ask(self, request: WorkerRequest[A], use: Callable[[A], None], fail: Fail,
            progress: Progress | None = None) -> None:
        """Ask; `use` gets the answer, or `fail` why there is none."""
        if self._worker is None:
            self._worker = Worker(self._command(), self, environment=self._environment)
            self._worker.line.connect(self._on_line)
            self._worker.ended.connect(self._on_ended)
            self._worker.start()
        self._calls.ask(request, self._worker.send, use, fail, progress)

    def forget(self) -> None:
        """Nobody wants the answers any more; the worker goes on."""
        self._calls.forget()

    def end(self, sentence: str = "") -> None:
        """End the worker. With a sentence that is the answer to all that waits, without one nobody is answered."""
        if not sentence:
            self.forget()
        if self._worker is not None:
            self._worker.kill()
            self._on_ended(0, sentence)

    def explain(self, problem: Problem) -> str:
        """A sentence in the reader's language."""
        if problem.code == BAD_ANSWER:
            return self.tr("The process gave an answer that cannot be read: {why}").format(why=problem.sentence)
        return problem.sentence

    def _on_line(self, line: bytes) -> None:
        self.heard.emit()
        self._calls.take(line)

    def _on_ended(self, code: int, last_words: str) -> None:
        if self._worker is not None:
            self._worker.deleteLater()
        self._worker = None
        sentence = last_words or self.tr("The process ended with code {code}.").format(code=code)
        self._calls.end(Problem(code=ENDED, sentence=sentence))
