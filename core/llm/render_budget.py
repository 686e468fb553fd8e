"""A foreign chat template is a program: it gets so much processor time and memory, then it is cut.

Jinja's sandbox keeps a template from the computer, but not from looping for ever (nested loops over `range`, macros
that call themselves twice) nor from doubling a text forty times. It is compiled to Python, so an exception that another
thread puts into the rendering one (CPython's `PyThreadState_SetAsyncExc`) ends it between two of its instructions.
"""

import ctypes
import threading
import time
from collections.abc import Callable
from pathlib import Path

from core.domain.errors import InvalidInput

RENDER_S = 10.0
"""Processor time of one rendering; the longest real sample takes less than a second."""

GROWTH_BYTES = 2 * 1024**3
"""By so much may the process grow while it renders."""

LONGEST = 256 * 1024 * 1024
"""Characters of one rendered text."""

_LOOK_EVERY_S = 0.1
_raise_in = ctypes.pythonapi.PyThreadState_SetAsyncExc
_slow: set[int] = set()


class _Cut(BaseException):
    """Comes from outside into the thread that renders; no `except Exception` of a library stops it."""


class _Turn:
    """One rendering of one thread."""

    def __init__(self) -> None:
        self.thread = threading.get_ident()
        self._clock = _clock_of(self.thread)
        self._began, self._size = self._clock(), _resident()
        self.was_cut = False

    def is_too_much(self) -> bool:
        """Whether the time or the memory is used up."""
        return self._clock() - self._began > RENDER_S or _resident() - self._size > GROWTH_BYTES


class _Watcher:
    """Looks at the renderings of all threads; its own thread lives as long as there are any."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._turns: list[_Turn] = []
        self._thread: threading.Thread | None = None

    def begin(self) -> _Turn:
        turn = _Turn()
        with self._lock:
            self._turns.append(turn)
            if self._thread is None:
                self._thread = threading.Thread(target=self._watch, daemon=True, name="template budget")
                self._thread.start()
        return turn

    def end(self, turn: _Turn) -> None:
        """It is over; a cut that did not arrive yet does not arrive. May be called again."""
        with self._lock:
            if turn in self._turns:
                self._turns.remove(turn)
            if turn.was_cut:
                _raise_in(ctypes.c_ulong(turn.thread), None)

    def _watch(self) -> None:
        idle = 0
        while True:
            time.sleep(_LOOK_EVERY_S)
            with self._lock:
                for turn in self._turns:
                    if not turn.was_cut and turn.is_too_much():
                        turn.was_cut = True
                        _raise_in(ctypes.c_ulong(turn.thread), ctypes.py_object(_Cut))
                idle = 0 if self._turns else idle + 1
                if idle > 50:
                    self._thread = None
                    return


_watcher = _Watcher()


def rendered(template: str, render: Callable[[], object]) -> str:
    """What `render` makes of `template`. Raises InvalidInput (template_too_slow) beyond the budget, and from then on at
    once for the same template."""
    if hash(template) in _slow:
        raise _too_slow()
    turn = _watcher.begin()
    try:
        try:
            text = str(render())
        finally:
            _watcher.end(turn)
    except (_Cut, MemoryError):
        _watcher.end(turn)
        _slow.add(hash(template))
        raise _too_slow() from None
    if len(text) > LONGEST:
        raise _too_slow()
    return text


def _too_slow() -> InvalidInput:
    return InvalidInput("template_too_slow", f"The chat template takes more than {RENDER_S:g} s, or more memory than "
                        "any real one, to write one text: it is not used.")


def _clock_of(thread: int) -> Callable[[], float]:
    """The processor time of a thread, so that a busy computer cuts nobody; else the time of day."""
    try:
        clock = time.pthread_getcpuclockid(thread)
    except (AttributeError, OSError):
        return time.monotonic
    return lambda: time.clock_gettime(clock)


def _resident() -> int:
    """Bytes of this process's memory; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096
    except (OSError, ValueError, IndexError):
        return 0
