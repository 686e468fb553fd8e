"""Watches how long the event loop is held by one piece of work: processor time of the GUI thread, not wall time, for
the machines that tests run on are shared.

    with Watchdog(qapp) as dog:
        ...
    assert dog.longest_ms < 50
"""

from __future__ import annotations

import time

from PySide6.QtCore import QAbstractEventDispatcher, QObject, Qt


class Watchdog:
    """Between two times that the loop looks for events lies one turn; the longest one is kept.

    Work that a test does outside the loop counts into the turn in which it falls.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        self.longest_ms = 0.0
        self.turns = 0
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        self._dispatcher = dispatcher

    def __enter__(self) -> Watchdog:
        self._dispatcher.awake.connect(self._look, Qt.ConnectionType.DirectConnection)
        self._dispatcher.aboutToBlock.connect(self._look, Qt.ConnectionType.DirectConnection)
        self._began = time.thread_time()
        return self

    def __exit__(self, *_: object) -> None:
        self._look()
        self._dispatcher.awake.disconnect(self._look)
        self._dispatcher.aboutToBlock.disconnect(self._look)

    def _look(self) -> None:
        now = time.thread_time()
        self.longest_ms = max(self.longest_ms, (now - self._began) * 1000)
        self._began = now
        self.turns += 1
