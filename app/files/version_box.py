"""The choice of a version: its list says all of each, the closed box as much as has room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget


class VersionBox(QComboBox):
    """What is chosen is drawn by its short name; the tooltip has the whole one."""

    SHORT = int(Qt.ItemDataRole.UserRole) + 1

    def __init__(self, name: str, parent: QWidget | None) -> None:
        super().__init__(parent, sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setMinimumContentsLength(6)
        self.setMaxVisibleItems(24)

    @property
    def drawn(self) -> str:
        """The name in the closed box."""
        return str(self.currentData(self.SHORT) or self.currentText())

    def put(self, name: str, short: str, place: int) -> None:
        """One more version: its whole name, its short one, and where it stands in the history."""
        self.addItem(name, place)
        self.setItemData(self.count() - 1, short, self.SHORT)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The style's own box with the short name in it."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self.drawn
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
