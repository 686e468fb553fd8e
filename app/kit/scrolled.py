"""Small screens: dialogs whose body scrolls where the window behind is smaller, and sizes that fit."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

WIDE, HIGH = 0.92, 0.8
"""A dialog takes at most these shares of the window's width and height; its buttons come below what scrolls."""

FRAME = QSize(8, 48)
"""What window systems put around a window at most, in pixels; the true size is known only once it is shown."""


def on_screen(screen: QScreen, width: int, height: int) -> QSize:
    """A window's size where the screen has the room for it and its frame, else as much as that leaves."""
    return QSize(width, height).boundedTo(screen.availableGeometry().size() - FRAME)


def within(parent: QWidget, width: int, height: int) -> QSize:
    """A dialog's size where the window behind has the room, else as much of that as a dialog takes."""
    return QSize(width, height).boundedTo(_room(parent.window()))


def hold_on_screen(dialog: QWidget) -> None:
    """Move a dialog that grew back to where all of it is on its screen, its buttons too."""
    room, frame = dialog.screen().availableGeometry(), dialog.frameGeometry()
    if dialog.isVisible() and frame.bottom() > room.bottom():
        dialog.move(frame.x(), max(room.top(), room.bottom() + 1 - frame.height()))


def _room(window: QWidget) -> QSize:
    return QSize(round(window.width() * WIDE), round(window.height() * HIGH))


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
        if any(child.focusPolicy() & Qt.FocusPolicy.TabFocus for child in body.findChildren(QWidget)):
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Tab goes through these, and they scroll into sight
        self.setWidgetResizable(True)
        self.setWidget(body)

    def sizeHint(self) -> QSize:
        """What the body wants, within the window: as high as its words are in the width that it has."""
        wanted = self._body.sizeHint()
        bars = self.verticalScrollBar().sizeHint().width()
        room = _room(self._window)
        width = min(wanted.width() + bars + 4, room.width())
        lines = self._body.heightForWidth((self.width() if self.isVisible() else width) - bars)
        return QSize(width, min(max(wanted.height(), lines) + 4, room.height()))
