"""The dock that a panel's widget stands in."""

from __future__ import annotations

from PySide6.QtWidgets import QDockWidget, QWidget


def show_dock_of(widget: QWidget) -> None:
    """Bring a panel in front of the other tabs of its place, also one that was closed; nothing without a dock."""
    above = widget.parent()
    while above is not None and not isinstance(above, QDockWidget):
        above = above.parent()
    if isinstance(above, QDockWidget):
        window = above.parent()
        if callable(show_panel := getattr(window, "show_panel", None)):
            show_panel(above.objectName())  # the window may have another place for it, as where it is narrow
            return
        above.show()
        above.raise_()
