"""Bars over the whole width of the window, which stay where they are: the session's head, the review bar."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMainWindow, QToolBar, QWidget


def add_bar(window: QMainWindow, name: str, held: QWidget, area: Qt.ToolBarArea, *, above: bool = False) -> QToolBar:
    """Put a widget into a bar of its own; `name` is for the stored state of the window; `above`: over the others at the
    bottom, where Qt lays the first line at the edge."""
    bar = QToolBar(window)
    bar.setObjectName(name)
    bar.setMovable(False)
    bar.toggleViewAction().setVisible(False)
    bar.addWidget(held)
    if above:
        window.addToolBarBreak(area)
    window.addToolBar(area, bar)
    return bar
