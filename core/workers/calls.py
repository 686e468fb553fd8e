"""The asking end of a worker: which request an answer belongs to, and who waits for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from core.workers.messages import A, Problem, WorkerAnswer, WorkerRequest, answer_type

Fail = Callable[[Problem], None]
Progress = Callable[[float], None]

BAD_ANSWER = "bad_answer"
"""The code of an answer that is not what was asked for."""


class _Call(msgspec.Struct):
    answer_type: Any
    use: Callable[[Any], None]
    fail: Fail
    progress: Progress | None


class Calls:
    """Gives each request its number and each answer to who asked."""

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[int | str, _Call] = {}

    @property
    def are_waiting(self) -> bool:
        """Whether an answer is still to come."""
        return bool(self._waiting)

    def ask(self, request: WorkerRequest[A], send: Callable[[bytes], object], use: Callable[[A], None], fail: Fail,
            progress: Progress | None = None) -> None:
        """`send` writes the request to the worker; `use` gets the answer (each part of one that comes in parts), or
        `fail` why there is none."""
        self._number += 1
        self._waiting[self._number] = _Call(answer_type(request), use, fail, progress)
        send(msgspec.json.encode(msgspec.structs.replace(request, id=self._number)) + b"\n")

    def take(self, line: bytes) -> None:
        """A line of the worker. What is no answer, or one that nobody waits for, is passed over."""
        try:
            answer = msgspec.json.decode(line, type=WorkerAnswer)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return
        call = self._waiting.get(answer.id or 0)
        if call is None:
            return
        if answer.progress is not None:
            if call.progress is not None:
                call.progress(answer.progress)
            return
        if not answer.more:
            self._waiting.pop(answer.id or 0)
        if answer.error is not None:
            call.fail(answer.error)
            return
        try:
            value = msgspec.json.decode(answer.ok, type=call.answer_type)
        except (ValueError, RecursionError) as error:
            call.fail(Problem(code=BAD_ANSWER, sentence=str(error)))
            return
        call.use(value)

    def end(self, problem: Problem) -> None:
        """The worker has ended: nobody gets an answer any more."""
        waiting, self._waiting = self._waiting, {}
        for call in waiting.values():
            call.fail(problem)

    def forget(self) -> None:
        """Nobody wants the answers any more."""
        self._waiting = {}
