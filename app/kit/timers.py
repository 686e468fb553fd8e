"""Timers that fire once after each start: what comes in bursts is answered when it is over, or at most so often."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class SingleShot(QTimer):
    """Fires once after each start."""

    def start_once(self, *_: object) -> None:
        """Start it where it does not run: what comes meanwhile is answered with it."""
        if not self.isActive():
            self.start()


def single_shot(parent: QObject, after_ms: int, slot: Callable[[], object]) -> SingleShot:
    """A timer that calls `slot` so long after its start; not started yet."""
    made = SingleShot(parent, singleShot=True, interval=after_ms)
    made.timeout.connect(slot)
    return made
