"""What stands at the left: docks in a wide window, a rail of icons and a drawer in a narrow one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QWidget

from app.desk.panel import Panel
from app.desk.workplace import Workplace
from app.window.bars import add_bar
from app.window.layouts import HIDDEN, is_narrow
from app.window.panel_dock import PanelDock
from app.window.rail import Drawer, Rail

GENERAL = (("view.queue", "list-todo"), ("go.find", "search"))
"""The commands below the panels' icons."""


class LeftSide(QObject):
    """Follows the layout and the window's width."""

    def __init__(self, window: QMainWindow, place: Workplace, panels: Sequence[Panel], docks: Mapping[str, PanelDock]
                 ) -> None:
        super().__init__(window)
        self._window, self._place, self._panels, self._docks = window, place, panels, docks
        self._layout = ""
        self.is_narrow = self._leads = False
        self.drawer = Drawer(window, docks, self._on_closed)
        self._bar = add_bar(window, "rail", QWidget(window), Qt.ToolBarArea.LeftToolBarArea)
        self.rail = Rail((), (), self.open, window)
        window.installEventFilter(self)
        place.actions["view.side"].triggered.connect(self._toggle_side)
        place.actions["go.sessions"].triggered.connect(self._show_sessions)

    def show_layout(self, layout: str, *, was_rail: bool) -> None:
        """Another layout, or another width: the rail has the icons of what stands at the left there, and in a wide
        window what was a rail is panels again."""
        self._layout, self.is_narrow = layout, is_narrow(self._window.size())
        self.drawer.put_back()
        if held := self._bar.widgetForAction(next(iter(self._bar.actions()), QAction())):
            held.deleteLater()
        self._bar.clear()
        actions = [(self._place.actions[key], icon) for key, icon in GENERAL]
        self.rail = Rail(self._seats, actions, self.open, self._window)
        self._bar.addWidget(self.rail)
        self._bar.setVisible(self.is_narrow and bool(self._seats))
        if self.is_narrow or was_rail:
            for dock in self._seats:
                dock.setVisible(not self.is_narrow)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Where the window becomes narrow the left side becomes a rail, and comes back where it becomes wide."""
        if (event.type() == QEvent.Type.Resize and self._window.isVisible()
                and is_narrow(self._window.size()) != self.is_narrow):
            self.show_layout(self._layout, was_rail=self.is_narrow)
        return super().eventFilter(watched, event)

    def takes(self, key: str) -> bool:
        """Show a panel in the drawer, where that is its place now; False where it is not."""
        dock = self._docks[key]
        if not self.is_narrow or dock.isVisible() or dock not in self._seats:
            return False
        if self.drawer.key != key:
            self.open(key)
        return True

    def open(self, key: str) -> None:
        """Open a panel over the list, or close the one that is open."""
        if self.drawer.key == key:
            self.drawer.put_back()
            self._on_closed(leads=True)
            return
        self.drawer.open(key, self._bar.width())
        self.rail.mark(key)

    @property
    def _seats(self) -> list[PanelDock]:
        """The docks that stand at the left in this layout."""
        where = sorted((p.docks[self._layout], p.key) for p in self._panels)
        return [self._docks[key] for (place, rank), key in where if place == "left" and rank < HIDDEN]

    def _on_closed(self, leads: bool) -> None:
        self.rail.mark("")
        if leads:
            self._place.cursor.focus_list()

    def _toggle_side(self) -> None:
        """Show or hide what stands at the left."""
        seats = self._seats
        if self.is_narrow and seats:
            self.open(self.drawer.key or seats[0].objectName())
            return
        shown = any(dock.isVisible() for dock in seats)
        for dock in seats:
            dock.setVisible(not shown)

    def _show_sessions(self) -> None:
        """Where the list of sessions cannot be seen it is shown first; then its filter takes the keys."""
        dock = self._docks["sessions"]
        if self._leads or not dock.widget().visibleRegion().isEmpty():
            return
        if not self.takes("sessions"):
            dock.show()
            dock.raise_()
        self._leads = True
        self._place.actions["go.sessions"].trigger()
        self._leads = False
