"""Which docks are thin lines: those of panels that have nothing, and those that the reader folded.

A dock becomes thin only where another one in its column takes the room; alone in a column it says in its body what will
appear. What the reader opened or folded by hand stays so until the layout is put back.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QMouseEvent
from PySide6.QtWidgets import QMainWindow, QTabBar

from app.kit import theme, tokens
from app.kit.timers import single_shot
from app.window.panel_dock import MOST, PanelDock

NEAR = 8
"""So near to a thin line the mouse takes its edge, in pixels."""

HALF, USUAL = 0.5, 0.4
"""Of the column's height: for a panel that the reader opens, and for one that has something now."""


class ThinLines(QObject):
    """Folds and opens the docks of a window."""

    def __init__(self, window: QMainWindow, docks: Mapping[str, PanelDock], files: QAction) -> None:
        """`files` opens and folds the files."""
        super().__init__(window)
        files.triggered.connect(partial(self.toggle, "files"))
        self._window, self._docks = window, docks
        self.by_hand: dict[str, bool] = {}
        """Panels that the reader opened (True) or folded (False)."""
        self._heights: dict[str, int] = {}
        """What was folded by hand comes back as high as it was."""
        self._dragged = ""
        """The panel whose thin line is being dragged open."""
        self._soon = single_shot(self, 0, self.fit)
        window.installEventFilter(self)
        for key, dock in docks.items():
            for changed in (dock.visibilityChanged, dock.dockLocationChanged, dock.topLevelChanged):
                changed.connect(self._soon.start)
            dock.gist_changed.connect(self.fit)  # at once: a key that comes next may be for what it shows
            dock.opening_asked.connect(partial(self.open, key))
            dock.room_asked.connect(partial(self._share_room, dock))

    def put_back(self, by_hand: Mapping[str, bool]) -> None:
        """Another layout: what is open and folded by hand there."""
        self.by_hand = {key: on for key, on in by_hand.items() if key in self._docks}
        self._heights.clear()
        for dock in self._docks.values():
            dock.set_thin(False)
            dock.bound(False)
        self._soon.start()

    def open(self, key: str) -> None:
        """Show all of a panel, also of one that has nothing."""
        self.by_hand[key] = True
        self.fit()

    def toggle(self, key: str, *_: object) -> None:
        """Fold a panel that can be seen, open it otherwise."""
        dock = self._docks[key]
        if dock.is_seen and not dock.is_thin and not dock.isFloating():
            self.by_hand[key], self._heights[key] = False, self._height(dock)
            self.fit()
        else:
            dock.show()
            dock.raise_()
            self.open(key)

    # ---- what is thin ----------------------------------------------------------------------------

    def fit(self) -> None:
        """Fold what has nothing, open what has something."""
        if self._dragged:
            return
        for key, dock in self._docks.items():
            if dock.isHidden() or dock.isFloating():
                dock.set_thin(False)
                continue
            if dock.gist is not None and not dock.gist.is_nothing and self.by_hand.get(key):
                del self.by_hand[key]  # it has what it was opened for
            thin = self._wants_thin(key, dock) and (dock.is_thin or self._room_goes_elsewhere(dock))
            if thin != dock.is_thin:
                self._set_thin(key, dock, thin)
        self._bound_groups()

    def _wants_thin(self, key: str, dock: PanelDock) -> bool:
        if dock.gist is None:
            return False
        return not self.by_hand[key] if key in self.by_hand else dock.gist.is_nothing

    def _set_thin(self, key: str, dock: PanelDock, on: bool) -> None:
        dock.set_thin(on)
        if not on:
            self._give_room(key, dock)

    def _give_room(self, key: str, dock: PanelDock) -> None:
        """Its share of the column, of what stands above and below it."""
        whole = self._height(dock) + sum(map(self._height, self._others(dock)))
        self._bound_groups()
        self._free()
        self._share_room(dock, self._heights.pop(key, 0) or round(whole * (HALF if key in self.by_hand else USUAL)))

    def _share_room(self, dock: PanelDock, high: int) -> None:
        """So much of the column, and the rest for the others, who keep their shares and what they need: Qt gives one
        alone less."""
        before = {other: self._height(other) for other in self._others(dock)}
        whole = self._height(dock) + sum(before.values())
        high = min(high, max(self._height(dock), whole - sum(other.need for other in before)))
        rest = [round((whole - high) * height / max(1, sum(before.values()))) for height in before.values()]
        self._window.resizeDocks([dock, *before], [high, *rest], Qt.Orientation.Vertical)

    def _others(self, dock: PanelDock) -> list[PanelDock]:
        return [other for other in self._docks.values() if self._is_beside(dock, other) and not other.is_thin]

    def _height(self, dock: PanelDock) -> int:
        """As Qt shares it out: with the tabs above."""
        room = dock.geometry()
        bars = (bar.geometry() for bar in self._window.findChildren(
            QTabBar, options=Qt.FindChildOption.FindDirectChildrenOnly) if bar.isVisible())
        return dock.height() + next((bar.height() for bar in bars if bar.left() == room.left()
                                     and 0 <= room.top() - bar.bottom() <= NEAR), 0)

    def _free(self) -> None:
        """Let the window know that a dock may be higher, before anybody gives it its height."""
        if (layout := self._window.layout()) is not None:
            layout.invalidate()
            layout.activate()

    def _room_goes_elsewhere(self, dock: PanelDock) -> bool:
        return any(not other.is_thin and self._is_beside(dock, other) for other in self._docks.values())

    def _is_beside(self, dock: PanelDock, other: PanelDock) -> bool:
        """Whether another dock, of another place, stands above or below."""
        if other is dock or other.isFloating() or not other.is_seen:
            return False
        if other in self._window.tabifiedDockWidgets(dock):
            return False
        mine, its = dock.geometry(), other.geometry()
        across = min(mine.right(), its.right()) - max(mine.left(), its.left())
        return across > min(mine.width(), its.width()) // 2

    def _bound_groups(self) -> None:
        """The tabs behind a thin line leave it thin; one that comes before it has something, and gets its share."""
        freed = []
        for key, dock in self._docks.items():
            group = [dock, *(d for d in self._docks.values() if d in self._window.tabifiedDockWidgets(dock))]
            on = any(one.is_thin and one.is_seen for one in group) and not dock.isFloating()
            if dock.is_bound and not on and dock.is_seen and not dock.isFloating():
                freed.append((key, dock))
            dock.bound(on)
            if dock.is_thin:  # behind another tab its own bound would be that one's, too
                dock.stretch(on=not on)
        for key, dock in freed:
            self._give_room(key, dock)

    # ---- the edge --------------------------------------------------------------------------------

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A drag at the edge of a thin line opens it: the press frees the dock, the release shows its panel."""
        if isinstance(event, QMouseEvent) and watched is self._window:
            if event.type() == QEvent.Type.MouseButtonPress:
                self._on_press(event.position().toPoint())
            elif event.type() == QEvent.Type.MouseButtonRelease and self._dragged:
                QTimer.singleShot(0, self, self._on_dragged)
        return super().eventFilter(watched, event)

    def _on_press(self, at: QPoint) -> None:
        self._dragged = next((key for key, dock in self._docks.items() if dock.is_thin and dock.is_seen
                              and self._is_at_edge(dock, at)), "")
        if self._dragged:
            dock = self._docks[self._dragged]
            for one in (dock, *self._window.tabifiedDockWidgets(dock)):
                one.setMaximumHeight(MOST)
            dock.stretch()
            self._free()

    def _on_dragged(self) -> None:
        key, self._dragged = self._dragged, ""
        high = self._docks[key].height()
        if high > 2 * theme.px(tokens.HEIGHTS["thin"]):
            self._heights[key] = high
            self.open(key)
        else:
            self._docks[key].stretch(on=False)
            self.fit()

    def _is_at_edge(self, dock: PanelDock, at: QPoint) -> bool:
        room = dock.geometry()
        tabs = theme.px(tokens.HEIGHTS["panel_head"]) if self._window.tabifiedDockWidgets(dock) else 0
        return room.left() <= at.x() <= room.right() and (
            room.top() - tabs - NEAR <= at.y() <= room.top() or room.bottom() <= at.y() <= room.bottom() + NEAR)
