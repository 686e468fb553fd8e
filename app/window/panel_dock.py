"""The dock around a panel. With less room than the panel needs the panel scrolls, so no panel holds the window open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QFrame, QMainWindow, QScrollArea, QWidget

from app.window.layouts import BAR, shares

LARGE = 700
"""From this height on the window has room for what all panels need."""

LEAST = QSize(200, 96)
"""The room that a panel gets at least, so that the window fits a Full HD screen at 200 %: 960 × 540."""


class PanelDock(QDockWidget):
    """One panel in the window."""

    def __init__(self, key: str, title: str, parent: QWidget) -> None:
        super().__init__(title, parent)
        self.setObjectName(key)
        self._room: PanelRoom | None = None

    def hold(self, panel: QWidget) -> None:
        """Show a panel."""
        self._room = PanelRoom(panel, self)
        self._room.short_of.connect(self._grow)
        self.setWidget(self._room)

    def widget(self) -> QWidget:
        """The panel, not what scrolls it."""
        return super().widget() if self._room is None else self._room.panel

    def _grow(self, pixels: int) -> None:
        """Where the window is large, a panel that needs more height than before takes it from those beside it."""
        window = self.window()
        if isinstance(window, QMainWindow) and window.height() >= LARGE and not self.visibleRegion().isEmpty():
            column = [dock for dock in window.findChildren(PanelDock)
                      if dock.x() == self.x() and not dock.visibleRegion().isEmpty()]
            held = [dock.height() for dock in column]
            needed = [dock.widget().minimumSizeHint().height() + BAR for dock in column]
            needed[column.index(self)] = self.height() + pixels
            window.resizeDocks(column, shares(sum(held), held, needed), Qt.Orientation.Vertical)


class PanelRoom(QScrollArea):
    """As large as the dock; the panel in it is never smaller than it can be."""

    short_of = Signal(int)
    """The panel needs more height than before, and so many pixels more than it has."""

    def __init__(self, panel: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.panel = panel
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(panel)
        self._needed = 0
        for widget in (panel, self.viewport()):
            widget.setAutoFillBackground(False)  # the window paints it; what fills itself hides its parent for Qt
        panel.installEventFilter(self)
        QApplication.instance().focusChanged.connect(self._on_focus)  # type: ignore[union-attr]

    def sizeHint(self) -> QSize:
        """What the panel wants."""
        return self.panel.sizeHint()

    def minimumSizeHint(self) -> QSize:
        """What the panel needs, at most LEAST."""
        return self.panel.minimumSizeHint().boundedTo(LEAST)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The panel follows."""
        super().resizeEvent(event)
        self._fit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The panel needs more or less than before."""
        if watched is self.panel and event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
            self._fit()
            needed, before = self.panel.minimumSizeHint().height(), self._needed
            self._needed = needed
            if before and needed > max(before, self.height()):
                self.short_of.emit(needed - self.height())
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Keys are the panel's and the window's."""
        event.ignore()

    def _fit(self) -> None:
        room, need = self.maximumViewportSize(), self.panel.minimumSizeHint()
        if need.height() > room.height():
            room.setWidth(room.width() - self.verticalScrollBar().sizeHint().width())
        if need.width() > room.width():
            room.setHeight(room.height() - self.horizontalScrollBar().sizeHint().height())
        self.panel.resize(room.expandedTo(need))

    def _on_focus(self, before: QWidget | None, now: QWidget | None) -> None:
        """What has the keyboard is in sight."""
        scrolls = self.verticalScrollBar().maximum() or self.horizontalScrollBar().maximum()
        if now is not None and scrolls and self.panel.isAncestorOf(now):
            self.ensureWidgetVisible(now, 0, 0)
