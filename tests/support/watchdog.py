"""Watches how long the event loop is held by one piece of work, counted in calls: how many times the GUI thread enters
or leaves a function, of Python or of C, between two looks at the loop. A clock would judge the machine, and how many
others work on it; the same work is the same number of calls everywhere.

    with Watchdog() as dog:
        ...
    assert dog.longest < HELD

What Qt does within one call is not seen by it; so the letters of a document that one turn changed are counted too.
"""

from __future__ import annotations

import cProfile
from itertools import count

from PySide6.QtCore import QAbstractEventDispatcher, Qt
from PySide6.QtGui import QTextDocument

HELD = 400_000
"""So many calls nothing may hold the window: what runs for 50 ms on the machine of docs/benchmarks.md."""

MUCH = 4_000_000
"""So many letters no document may change by in a turn; here it is given 200,000 in what it takes per turn."""


class Watchdog:
    """Between two times that the loop looks for events lies one turn; the longest one counts.

    Work that a test does outside the loop counts into the turn in which it falls.
    """

    def __init__(self, document: QTextDocument | None = None) -> None:
        self.longest = 0
        self.longest_text = 0
        self._text = 0
        self.turns = 0
        dispatcher = QAbstractEventDispatcher.instance()
        assert dispatcher is not None
        self._dispatcher = dispatcher
        self._calls = count()
        self._profile = cProfile.Profile(self._calls.__next__, 1.0)  # its clock is asked at each call and each return
        if document is not None:
            document.contentsChange.connect(self._changed)

    def _changed(self, _at: int, removed: int, added: int) -> None:
        self._text += removed + added

    def __enter__(self) -> Watchdog:
        self._dispatcher.awake.connect(self._look, Qt.ConnectionType.DirectConnection)
        self._dispatcher.aboutToBlock.connect(self._look, Qt.ConnectionType.DirectConnection)
        self._began = 0
        self._profile.enable()
        return self

    def __exit__(self, *_: object) -> None:
        self._profile.disable()
        self._look()
        self._dispatcher.awake.disconnect(self._look)
        self._dispatcher.aboutToBlock.disconnect(self._look)

    def _look(self) -> None:
        now = next(self._calls)
        self.longest = max(self.longest, now - self._began)
        self.longest_text = max(self.longest_text, self._text)
        self._began, self._text = now, 0
        self.turns += 1
