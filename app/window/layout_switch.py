"""The switch of the layouts at the right of the menu: one word each, the one of now marked."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QToolButton, QWidget

from app.kit import theme, tokens
from app.kit.boxes import row


class LayoutSwitch(QWidget):
    """The actions of the layouts as flat words."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = row(on=self, spacing=2)
        line.setContentsMargins(0, 2, theme.px(tokens.WITHIN), 2)
        for action in actions:
            line.addWidget(self._button(action))

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton(self)
        button.setDefaultAction(action)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.setFont(theme.font_of("fact"))
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button
