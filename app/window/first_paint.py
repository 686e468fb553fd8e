"""Tells when the window was painted first: what nobody sees, as connections, is begun then and not before."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtWidgets import QWidget

from app.kit.timers import single_shot

AT_LATEST_MS = 1_000
"""A window that is covered or minimized is not painted, and what waits must begin all the same."""


class FirstPaint(QObject):
    """`came` once, after the first paint of a window that is being shown."""

    came = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._soon = single_shot(self, AT_LATEST_MS, self._tell)
        self._soon.start()
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Qt paints a window in this event; what waits comes in the turn after it."""
        if event.type() == QEvent.Type.UpdateRequest:
            watched.removeEventFilter(self)
            self._soon.start(0)
        return False

    def _tell(self) -> None:
        self._window.removeEventFilter(self)
        self._soon.stop()
        self.came.emit()
