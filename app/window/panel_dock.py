"""The dock around a panel. With less room than the panel needs the panel scrolls, so no panel holds the window open."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QDockWidget, QFrame, QScrollArea, QWidget

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
        self.setWidget(self._room)

    def widget(self) -> QWidget:
        """The panel, not what scrolls it."""
        return super().widget() if self._room is None else self._room.panel


class PanelRoom(QScrollArea):
    """As large as the dock; the panel in it is never smaller than it can be."""

    def __init__(self, panel: QWidget, parent: QWidget) -> None:
        super().__init__(parent)
        self.panel = panel
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setWidget(panel)
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
