"""Bars over the whole width of the window, which stay where they are: the session's head, the review bar."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QToolBar, QWidget

from app.desk.panel import Panel
from app.window.panel_dock import PanelDock


def add_bar(window: QMainWindow, name: str, held: QWidget | None, area: Qt.ToolBarArea, *, above: bool = False
            ) -> QToolBar:
    """Put a widget into a bar of its own; `name` is for the stored state of the window; `above`: over the others at the
    bottom, where Qt lays the first line at the edge."""
    bar = QToolBar(window)
    bar.setObjectName(name)
    bar.setMovable(False)
    bar.toggleViewAction().setVisible(False)
    if held is not None:
        bar.addWidget(held)
    if above:
        window.addToolBarBreak(area)
    window.addToolBar(area, bar)
    return bar


def add_panel_bar(window: QMainWindow, panel: Panel, dock: PanelDock) -> QToolBar:
    """The bar at the bottom that a panel brings; it is filled with its dock."""
    bar = add_bar(window, f"{panel.key}_bar", None, Qt.ToolBarArea.BottomToolBarArea)
    dock.filled.connect(partial(_fill_bar, bar, panel, dock))
    return bar


def _fill_bar(bar: QToolBar, panel: Panel, dock: PanelDock) -> None:
    if panel.bar is not None:
        bar.addWidget(panel.bar(dock.widget()))
