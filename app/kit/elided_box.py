"""A choice whose closed box ends in an ellipsis where its words have no room; Qt's own cuts them in mid-letter."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QComboBox, QStyle, QStyleOptionComboBox, QStylePainter, QWidget


class ElidedBox(QComboBox):
    """Never wider than it is asked to be; `least` letters have room. Its list and its tooltip have all the words."""

    def __init__(self, parent: QWidget | None, least: int = 8) -> None:
        super().__init__(parent, sizeAdjustPolicy=QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(least)

    @property
    def words(self) -> str:
        """What the closed box says, where there is room for it."""
        return self.currentText()

    @property
    def drawn(self) -> str:
        """As much of it as has room."""
        option = QStyleOptionComboBox()
        self.initStyleOption(option)
        return self._fitting(option)

    def _fitting(self, option: QStyleOptionComboBox) -> str:
        field = self.style().subControlRect(QStyle.ComplexControl.CC_ComboBox, option,
                                            QStyle.SubControl.SC_ComboBoxEditField, self)
        return self.fontMetrics().elidedText(self.words, Qt.TextElideMode.ElideRight, field.width() - 2)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The style's own box with the words in it."""
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        option.currentText = self._fitting(option)
        painter.drawComplexControl(QStyle.ComplexControl.CC_ComboBox, option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)
