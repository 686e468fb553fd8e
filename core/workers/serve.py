"""The answering end: a process that reads requests from its parent, until its input ends."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, TypeVar

import msgspec

from core.domain.errors import InvalidInput, ReportableError
from core.workers.messages import Problem, WorkerAnswer, WorkerRequest, answer_to

R = TypeVar("R", bound=WorkerRequest[Any])

Send = Callable[[WorkerAnswer], None]
"""Sends one answer."""

_log = logging.getLogger("workers")


def serve(make: Callable[[Send], Callable[[bytes], None]], lines: Iterable[bytes] | None = None) -> int:
    """Give each line to what `make` makes of the way to answer. Returns the exit status, 0.

    Standard output carries answers only: what libraries and a person's rules print goes to standard error.
    """
    out = sys.stdout.buffer

    def send(answer: WorkerAnswer) -> None:
        try:
            out.write(msgspec.json.encode(answer) + b"\n")
            out.flush()
        except BrokenPipeError:  # whoever asked has died; Python would complain once more when it ends by itself
            os._exit(0)

    end_with_parent()
    with contextlib.redirect_stdout(sys.stderr):
        answer = make(send)
        for line in sys.stdin.buffer if lines is None else lines:
            if line.strip():
                answer(line)
    return 0


def answer_line(line: bytes, decoder: msgspec.json.Decoder[R], handle: Callable[[R], object], send: Send) -> None:
    """Answer the request of one line with what `handle` makes of it; never raises for what is asked."""
    try:
        request = decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        problem = InvalidInput("bad_request", f"The request cannot be read: {error}")
        send(WorkerAnswer(id=_number_of(line), error=Problem.of(problem)))
        return
    try:
        send(answer_to(request, handle(request)))
    except ReportableError as error:
        send(WorkerAnswer(id=request.id, error=Problem.of(error)))
    except Exception as error:  # noqa: BLE001 - a command handler: one bad request must not end the process
        _log.exception("worker")
        failure = ReportableError("worker_failed", f"The worker failed: {type(error).__name__}: {error}")
        send(WorkerAnswer(id=request.id, error=Problem.of(failure)))


class _RequestNumber(msgspec.Struct):
    id: int | str | None = None


def _number_of(line: bytes) -> int | str | None:
    """The number of a request that cannot be read otherwise, so that whoever asked learns of it."""
    try:
        return msgspec.json.decode(line, type=_RequestNumber).id
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


LOOK_EVERY_S = 1.0

_PR_SET_PDEATHSIG = 1
"""prctl(2)."""


def end_with_parent() -> None:
    """From now on the end of the parent is this process's, also while it waits for input that somebody else holds open.

    Linux does it by itself, even where a regular expression holds the interpreter for ever; elsewhere a thread looks.
    """
    parent = os.getppid()
    if sys.platform == "linux":
        with suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    threading.Thread(target=_watch, args=(parent,), daemon=True, name="parent").start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(LOOK_EVERY_S)
    os._exit(1)
