"""Buttons that are an action of the window: same state and tip, with the key; a change of the keys is followed."""

from __future__ import annotations

import re

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QAction, QIcon, QKeySequence, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QStylePainter, QToolButton, QWidget

from app.kit import icons, key_cap, theme, tokens
from app.kit.safe_text import plain_action

_MNEMONIC = re.compile(r"\(&?\w\)|…|&")


def short_words(text: str) -> str:
    """A command's text as a button has it: without the letter for Alt and without dots."""
    return _MNEMONIC.sub("", text)


def key_of(action: QAction) -> str:
    """The first key of an action, as this platform writes it."""
    return action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)


def tip_of(action: QAction, text: str = "") -> str:
    """What an action does, with its key."""
    label = text or plain_action(action.text()).rstrip("…")
    key = key_of(action)
    return f"{label} ({key})" if key else label


def _take_state(button: QToolButton | QPushButton, action: QAction, name: str) -> None:
    button.setToolTip(tip_of(action))
    button.setAccessibleName(name)
    button.setEnabled(action.isEnabled())
    button.setCheckable(action.isCheckable())
    button.setChecked(action.isChecked())


class IconButton(QToolButton):
    """A small button with an icon in place of the action's text."""

    def __init__(self, action: QAction, icon: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._action = action
        self.setIcon(icons.icon(icon))
        self.setIconSize(QSize(*(theme.px(icons.SIDE),) * 2))
        self.setAutoRaise(True)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow_action)
        self._follow_action()

    def _follow_action(self) -> None:
        _take_state(self, self._action, plain_action(self._action.text()).rstrip("…"))


class ActionButton(QPushButton):
    """A button with the action's icon and word, and its key on a cap; `flat` without a frame, `bare` without the word,
    not `capped` without the key.

    The icon bears the colour of a meaning. A word that the room has no place for is cut.
    """

    def __init__(self, action: QAction, meaning: str, parent: QWidget, *, flat: bool = False, bare: bool = False,
                 capped: bool = True) -> None:
        super().__init__(parent)
        self._action, self._meaning, self._bare, self._capped = action, meaning, bare, capped
        self.setFlat(flat)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # who clicks it goes on where they were
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow_action)
        self._follow_action()

    def _follow_action(self) -> None:
        self._key = key_of(self._action) if self._capped else ""
        self._icon = icons.icon(str(self._action.property("icon_name") or "circle"), self._meaning)
        self.setText(self._action.iconText())
        _take_state(self, self._action, self._action.iconText())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Room for icon, word and key."""
        parts = [theme.px(icons.SIDE)]
        if not self._bare:
            parts.append(self.fontMetrics().horizontalAdvance(self.text()))
        if key := self._key:
            parts.append(key_cap.width_of(key))
        return QSize(sum(parts) + theme.px(6) * (len(parts) - 1) + theme.px(20), theme.px(tokens.HEIGHTS["button"]))

    minimumSizeHint = sizeHint  # a button whose word is cut is none

    def paintEvent(self, event: QPaintEvent) -> None:
        """Frame, icon, word, cap."""
        option = QStyleOptionButton()
        self.initStyleOption(option)
        painter = QStylePainter(self)
        if not self.isFlat() or self.isChecked() or self.underMouse() or self.hasFocus():
            painter.drawControl(QStyle.ControlElement.CE_PushButtonBevel, option)
        side, gap, x = theme.px(icons.SIDE), theme.px(6), theme.px(10)
        off = not self.isEnabled()
        self._icon.paint(painter, x, (self.height() - side) // 2, side, side,
                         mode=QIcon.Mode.Disabled if off else QIcon.Mode.Normal)
        x += side + gap
        if not self._bare:
            painter.setPen(theme.colour("faint" if off else "ink"))
            width = self.fontMetrics().horizontalAdvance(self.text())
            painter.drawText(QRect(x, 0, width, self.height()), int(Qt.AlignmentFlag.AlignVCenter), self.text())
            x += width + gap
        if key := self._key:
            key_cap.draw(painter, QPoint(x, self.height() // 2), key, off=off)
