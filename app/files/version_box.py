"""The choice of a version: its list says all of each, the closed box as much as has room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from app.kit.elided_box import ElidedBox


class VersionBox(ElidedBox):
    """What is chosen is drawn by its short name; the tooltip has the whole one."""

    SHORT = int(Qt.ItemDataRole.UserRole) + 1

    def __init__(self, name: str, parent: QWidget | None) -> None:
        super().__init__(parent, least=6)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setMaxVisibleItems(24)

    @property
    def words(self) -> str:
        """The name in the closed box."""
        return str(self.currentData(self.SHORT) or self.currentText())

    def put(self, name: str, short: str, place: int) -> None:
        """One more version: its whole name, its short one, and where it stands in the history."""
        self.addItem(name, place)
        self.setItemData(self.count() - 1, short, self.SHORT)
