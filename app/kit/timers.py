"""Timers that fire once after each start: what comes in bursts is answered when it is over, or at most so often."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


def single_shot(parent: QObject, after_ms: int, slot: Callable[[], object]) -> QTimer:
    """A timer that calls `slot` so long after its start; not started yet."""
    made = QTimer(parent, singleShot=True, interval=after_ms)
    made.timeout.connect(slot)
    return made
