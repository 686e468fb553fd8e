"""The menus of the window, from the table of its commands, with the switch of the layouts at their right."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMainWindow

from app.desk.actions import MENUS, Actions
from app.window.layout_switch import LayoutSwitch
from app.window.layouts import LAYOUTS


def fill_menus(window: QMainWindow, actions: Actions, panels: Sequence[QAction]) -> None:
    """Fill the menu bar; `panels` show and hide them."""
    for key, title in MENUS:
        menu = window.menuBar().addMenu(QCoreApplication.translate("Actions", title))
        menu.addActions(actions.of_menu(key))
        if key == "view":
            menu.addSeparator()
            menu.addActions(panels)
    window.addActions([actions[e.key] for e in actions.table])
    window.menuBar().setCornerWidget(LayoutSwitch([actions[f"view.{name}"] for name in LAYOUTS], window))
