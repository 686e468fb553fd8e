"""Reference cycles are collected on the GUI thread only.

CPython's collector runs in whichever thread happens to allocate. When it meets a Qt object in another one (the
replica's writer, a pool's thread), that object is destroyed outside its thread and the process dies.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from app.kit.timers import single_shot

EVERY_MS = 500


class Collector(QObject):
    """Takes the collector over for as long as it lives; make it on the GUI thread."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        gc.freeze()  # the modules: nobody looks through them again
        single_shot(self, EVERY_MS, freeze).start()
        self._timer = QTimer(self, interval=EVERY_MS)
        self._timer.timeout.connect(collect_what_is_due)
        self._timer.start()


def freeze() -> None:
    """Take what the window is made of out of all later collections, too: one over the program's 96,000 objects holds
    the window for 70 ms. What was made since the collector was taken over is gone over first: all garbage is in it."""
    gc.collect(1)
    gc.freeze()


def collect_what_is_due() -> None:
    """Do what CPython would have done by now: the oldest generation whose count passed its threshold."""
    counts, thresholds = gc.get_count(), gc.get_threshold()
    due = [generation for generation in (0, 1, 2) if counts[generation] > thresholds[generation] > 0]
    if due:
        gc.collect(due[-1])
