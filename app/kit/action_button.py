"""Buttons that are an action of the window: same state and tip, with the key; a change of the keys is followed."""

from __future__ import annotations

import re

from PySide6.QtCore import QEvent, QSize
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QPushButton, QToolButton, QWidget

from app.kit import icons, theme
from app.kit.safe_text import plain_action

_MNEMONIC = re.compile(r"\(&?\w\)|…")


def key_of(action: QAction) -> str:
    """The first key of an action, as this platform writes it."""
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def tip_of(action: QAction, text: str = "") -> str:
    """What an action does, with its key."""
    label = text or plain_action(action.text()).rstrip("…")
    key = key_of(action)
    return f"{label} ({key})" if key else label


class IconButton(QToolButton):
    """A small button with an icon in place of the action's text."""

    def __init__(self, action: QAction, icon: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._action = action
        self.setIcon(icons.icon(icon))
        self.setIconSize(QSize(*(theme.px(icons.SIDE),) * 2))
        self.setAutoRaise(True)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def _follow(self) -> None:
        self.setToolTip(tip_of(self._action))
        self.setAccessibleName(plain_action(self._action.text()).rstrip("…"))
        self.setEnabled(self._action.isEnabled())
        self.setCheckable(self._action.isCheckable())
        self.setChecked(self._action.isChecked())


class ActionButton(QPushButton):
    """A button with the action's word and the key beside it, in the colour of a meaning."""

    def __init__(self, action: QAction, meaning: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._action = action
        self._meaning = meaning
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow)
        self._follow()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the colours of the application."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.ApplicationPaletteChange:
            self._follow()

    def _follow(self) -> None:
        key = key_of(self._action)
        text = _MNEMONIC.sub("", self._action.text()).replace("&", "")
        self.setText(f"{text}  {key}" if key else text)
        self.setToolTip(tip_of(self._action))
        self.setAccessibleName(text)
        self.setEnabled(self._action.isEnabled())
        self.setCheckable(self._action.isCheckable())
        self.setChecked(self._action.isChecked())
        palette = self.palette()
        palette.setColor(self.foregroundRole(), theme.colour(self._meaning))
        self.setPalette(palette)
