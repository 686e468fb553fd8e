"""A dialog's body that scrolls where the screen is smaller than it."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

SHARE = 0.8
"""A dialog takes at most this share of the window's height and width."""


class Scrolled(QScrollArea):
    """As large as its body wants, but never larger than the window behind allows."""

    def __init__(self, body: QWidget, parent: QWidget) -> None:
        """`parent`: the dialog; its own parent is the window."""
        super().__init__(parent)
        above: QWidget | None = parent.parentWidget()
        self._window = parent if above is None else above.window()
        self._body = body
        self.setAccessibleName(parent.windowTitle())
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setWidget(body)

    def sizeHint(self) -> QSize:
        """What the body wants, within the window."""
        wanted = self._body.sizeHint()
        bars = self.verticalScrollBar().sizeHint().width()
        room = self._window.size() * SHARE
        return QSize(min(wanted.width() + bars, room.width()), min(wanted.height() + 4, room.height()))
