"""Small flat buttons: a sign or an icon to see, words for the tip and for assistive technology."""

from __future__ import annotations

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QToolButton, QWidget


def tool_button(parent: QWidget, face: str | QIcon, words: str, *, checkable: bool = False) -> QToolButton:
    """A button with a sign or an icon as its face; `words` say what it does."""
    button = QToolButton(parent)
    if isinstance(face, QIcon):
        button.setIcon(face)
    else:
        button.setText(face)
    button.setCheckable(checkable)
    button.setAutoRaise(True)
    button.setToolTip(words)
    button.setAccessibleName(words)
    return button
