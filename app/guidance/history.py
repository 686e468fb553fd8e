"""Reads what was said to every session on this computer, a little at a time, so that the window stays free."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from PySide6.QtCore import QObject, Signal

from app.desk.desks import Desks
from app.desk.fold import SLICE_S
from app.guidance.model import GuidanceLine, in_order, lines_to
from app.kit.timers import single_shot

PAUSE_MS = 200
"""What changed is read anew at most so often."""


class GuidanceHistory(QObject):
    """`read` gives the lines of all sessions, oldest first."""

    read = Signal(object)  # a list: as Signal(list) Qt would copy it

    def __init__(self, desks: Desks, parent: QObject) -> None:
        super().__init__(parent)
        self._desks = desks
        self._lines: list[GuidanceLine] = []
        self._reading: Iterator[list[GuidanceLine]] | None = None
        self._again = False
        self._slice = single_shot(self, 0, self._read_on)
        self._pause = single_shot(self, PAUSE_MS, self._after_pause)
        desks.servers_changed.connect(self._start_again)

    def start(self) -> None:
        """Read now; or soon, where it has just been read."""
        if self._reading is not None or self._pause.isActive():
            self._again = True
            return
        self._again, self._lines = False, []
        self._reading = (lines_to(*guided) for guided in self._desks.guided())
        self._slice.start()

    def _read_on(self) -> None:
        until = perf_counter() + SLICE_S
        for lines in self._reading or ():
            self._lines += lines
            if perf_counter() >= until:
                self._slice.start()
                return
        self._reading = None
        self._pause.start()
        self.read.emit(in_order(self._lines))

    def _start_again(self) -> None:
        """A server went, and its copy is about to be closed."""
        if self._reading is not None:
            self._reading = None
            self._slice.stop()
            self.start()

    def _after_pause(self) -> None:
        if self._again:
            self.start()
