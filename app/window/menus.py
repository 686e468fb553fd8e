"""The menus of the window, from the table of its commands, with the switch of the layouts at their right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow, QToolButton, QWidget

from app.desk.actions import MENUS, Actions
from app.kit import theme, tokens
from app.kit.boxes import row
from app.kit.i18n import translate
from app.window.layouts import LAYOUTS


def fill_menus(window: QMainWindow, actions: Actions, panels: Sequence[QAction]) -> None:
    """Fill the menu bar; `panels` show and hide them."""
    for key, title in MENUS:
        menu = window.menuBar().addMenu(translate("Actions", title))
        menu.addActions(actions.of_menu(key))
        if key == "view":
            menu.addSeparator()
            menu.addActions(panels)
    window.addActions([actions[e.key] for e in actions.table])
    window.menuBar().setCornerWidget(LayoutSwitch([actions[f"view.{name}"] for name in LAYOUTS], window))


class LayoutSwitch(QWidget):
    """The actions of the layouts as flat words."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        line = row(on=self, spacing=2, margin=(0, 0, theme.px(tokens.WITHIN), 0))
        for action in actions:
            line.addWidget(self._button(action))

    def _button(self, action: QAction) -> QToolButton:
        button = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextOnly)
        button.setDefaultAction(action)
        button.setFont(theme.font_of("fact"))
        button.setFixedHeight(theme.px(tokens.HEIGHTS["chip"]))  # the menu is as high as its words
        button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return button
