"""Watches how long the event loop is held by one piece of work, in units of what a piece of the window's own kind of
work costs in the same run: processor time of the GUI thread, for the machines that tests run on are shared.

    with Watchdog() as dog:
        ...
    assert dog.longest < HELD
"""

from __future__ import annotations

import time

from PySide6.QtCore import QAbstractEventDispatcher, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from support.cost import piece_of_work, unit_s

HELD = 5
"""So many units nothing may hold the window: 50 ms on the machine of docs/benchmarks.md."""


class Watchdog:
    """Between two times that the loop looks for events lies one turn; the longest one counts.

    Work that a test does outside the loop counts into the turn in which it falls.
    """

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self.turns = 0
        self.unit_ms = 0.0
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        self._dispatcher = dispatcher

    @property
    def longest(self) -> float:
        """The longest turn in units; once the watch has ended."""
        return self.longest_ms / self.unit_ms

    def __enter__(self) -> Watchdog:
        self.unit_ms = unit_s(screen) * 1000
        self._dispatcher.awake.connect(self._look, Qt.ConnectionType.DirectConnection)
        self._dispatcher.aboutToBlock.connect(self._look, Qt.ConnectionType.DirectConnection)
        self._began = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._look()
        self._dispatcher.awake.disconnect(self._look)
        self._dispatcher.aboutToBlock.disconnect(self._look)
        self.unit_ms = max(self.unit_ms, unit_s(screen) * 1000)

    def _look(self) -> None:
        now = time.thread_time()
        self.longest_ms = max(self.longest_ms, (now - self._began) * 1000)
        self._began = now
        self.turns += 1


def screen() -> None:
    """One unit of a window's work: some records are read and a page of text is painted."""
    piece_of_work()
    page = QImage(900, 800, QImage.Format.Format_RGB32)
    page.fill(QColor("white"))
    painter = QPainter(page)
    for line in range(60):
        painter.drawText(10, 13 * line, f"{line} epoch {line} loss 0.{line:03d} and some words of a step that follow")
    painter.end()
