"""Pure functions in a worker thread, their result back on the GUI thread by one signal. Nothing Qt runs there."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any

import shiboken6
from PySide6.QtCore import QObject, Qt, Signal

from core.domain.errors import ReportableError


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(max_workers=2, thread_name_prefix="app-work")


class Courier(QObject):
    """Carries what a thread found out to the GUI thread: emit `came` with an object of that thread, one of its methods
    and what this is to be called with. It lives as long as the program: while a thread tells an object something, the
    GUI thread must not be taking it down."""

    came = Signal(object, object, object)

    def __init__(self) -> None:
        super().__init__()
        self.came.connect(self._hand_over, Qt.ConnectionType.QueuedConnection)  # not within `start` either

    def _hand_over(self, owner: QObject, method: Callable[..., None], words: tuple[object, ...]) -> None:
        if shiboken6.isValid(owner):  # here nothing goes while it is asked
            method(owner, *words)


@cache
def courier() -> Courier:
    """The one of this program; to be asked for first on the GUI thread."""
    return Courier()


class BackgroundWork(QObject):
    """One kind of work for one owner; only the answer to the latest request is reported."""

    done = Signal(object)

    def __init__(self, parent: QObject, failed: Callable[[ReportableError], None] | None = None) -> None:
        """`failed` is given the expected error of the latest request; without it that is raised as any other is."""
        super().__init__(parent)
        self._failed = failed
        self._number = 0
        self._courier = courier()  # made on this thread

    def start(self, fn: Callable[..., Any], *args: Any) -> None:
        """Run `fn(*args)` in a thread; an earlier request's answer is dropped."""
        self._number += 1
        number = self._number
        _pool().submit(fn, *args).add_done_callback(lambda future: self._finish(number, future))

    def drop(self) -> None:
        """Nobody wants the running work's answer any more."""
        self._number += 1

    def _finish(self, number: int, future: Future[Any]) -> None:
        if not future.cancelled():
            self._courier.came.emit(self, BackgroundWork._report_answer,
                                    (number, future.exception() or future.result()))

    def _report_answer(self, number: int, answer: object) -> None:
        if isinstance(answer, BaseException) and not (self._failed and isinstance(answer, ReportableError)):
            raise answer
        if number != self._number:
            return
        if self._failed and isinstance(answer, ReportableError):
            self._failed(answer)
        else:
            self.done.emit(answer)
