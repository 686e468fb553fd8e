"""A box over a list: the keys that go from the one into the other."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit

_DOWN = (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter)


def key_in(box: QLineEdit, watched: QObject, event: QEvent) -> int | None:
    """The key that an event filter sees pressed in its box; None for whatever else it sees."""
    pressed = watched is box and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress
    return event.key() if pressed and isinstance(event, QKeyEvent) else None


def went_down(key: int | None, view: QAbstractItemView) -> bool:
    """Whether a key goes from the box into the list (Down, Enter): then the list has the focus, on a row."""
    if key not in _DOWN:
        return False
    view.setFocus(Qt.FocusReason.TabFocusReason)  # which makes a row current, but does not show that it is
    at = view.currentIndex() if view.currentIndex().isValid() else view.model().index(0, 0)
    if not view.selectionModel().isSelected(at):
        view.setCurrentIndex(at)
    return True
