"""When panels are built: what is seen at once, the others one after another while nothing else is to be done.

A window is painted before the panels behind its tabs are there. Whoever asks a dock for its panel has it at once, and
before a key or a click is dealt with all are there: a command's key acts whichever panel hears it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QGuiApplication

from app.kit.timers import single_shot
from app.window.panel_dock import PanelDock

ASKS = frozenset({QEvent.Type.ShortcutOverride, QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress,
                  QEvent.Type.TouchBegin, QEvent.Type.Drop})
"""What a person does."""


class Filling(QObject):
    """Fills the docks of a window."""

    done = Signal()
    """All panels are there."""

    def __init__(self, docks: Mapping[str, PanelDock], parent: QObject) -> None:
        super().__init__(parent)
        self._docks = docks
        self._loaded: set[PanelDock] = set()
        self._is_begun = False
        self._turn = single_shot(self, 0, self._fill_next)
        for key, dock in docks.items():
            dock.visibilityChanged.connect(partial(self._on_seen, key))
            dock.filled.connect(self._on_filled)

    def watch(self) -> None:
        """The window is shown: a person may ask for something."""
        for window in QGuiApplication.topLevelWindows():
            window.installEventFilter(self)

    def lead(self) -> None:
        """Build what must be there when a session is opened, and what would move the others if it came later."""
        for dock in self._missing:
            if dock.leads:
                dock.fill()

    def begin(self) -> None:
        """Build the rest: a turn of the loop loads a panel's modules, the next builds it."""
        self._is_begun = True
        self._turn.start()

    def fill(self) -> None:
        """Build all that is missing now."""
        for dock in self._docks.values():
            dock.fill()

    @property
    def is_done(self) -> bool:
        """Whether all are there."""
        return not self._missing

    @property
    def _missing(self) -> list[PanelDock]:
        return [dock for dock in self._docks.values() if dock.panel is None]

    def _fill_next(self) -> None:
        if not (missing := self._missing):
            return
        dock = next((dock for dock in missing if dock.is_seen), missing[0])
        if dock in self._loaded:
            dock.fill()
        else:
            dock.load()
            self._loaded.add(dock)
        self._turn.start()

    def _on_seen(self, key: str, on: bool) -> None:
        if on and self._is_begun:
            self._docks[key].fill()

    def _on_filled(self) -> None:
        if self.is_done:
            self._turn.stop()
            self.done.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """What a person does finds every panel."""
        if event.type() in ASKS:
            self.fill()
            watched.removeEventFilter(self)
        return super().eventFilter(watched, event)
