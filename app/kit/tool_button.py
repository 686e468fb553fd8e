"""Small flat buttons: an icon to see, words for the tip and for assistive technology."""

from __future__ import annotations

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QToolButton, QWidget

from app.kit import icons, theme
from app.kit.safe_text import set_tooltip


def tool_button(parent: QWidget, icon: str, words: str, *, checkable: bool = False) -> QToolButton:
    """A button with an icon as its face; `words` say what it does, and its key in brackets where it has one."""
    button = QToolButton(parent, autoRaise=True)
    button.setCheckable(checkable)
    dress(button, icon, words)
    return button


def dress(button: QToolButton, icon: str, words: str) -> None:
    """Give a button an icon, and words for its tip and its name."""
    button.setIcon(icons.icon(icon))
    button.setIconSize(QSize(*(theme.px(icons.SIDE),) * 2))
    set_tooltip(button, words)
    button.setAccessibleName(words)
