"""A table of cells with one line each: no grid, no head at the side, one row chosen at a time, columns of one width."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QWidget,
)

from app.kit import theme, tokens
from app.kit.flat_model import Index


class InsetText(QStyledItemDelegate):
    """A cell whose words keep the side of a panel, while its ground touches the edge."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The ground of the cell, then as much of the words as has room."""
        drawn = QStyleOptionViewItem(option)
        self.initStyleOption(drawn, index)
        text, drawn.text = drawn.text, ""
        drawn.widget.style().drawControl(QStyle.ControlElement.CE_ItemViewItem, drawn, painter, drawn.widget)
        room = drawn.rect.adjusted(theme.px(tokens.SIDE), 0, -theme.GRID, 0)
        painter.save()
        painter.setFont(drawn.font)
        painter.setPen(drawn.palette.color(QPalette.ColorRole.Text))
        painter.drawText(room, drawn.displayAlignment,
                         drawn.fontMetrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width()))
        painter.restore()


class PlainTable(QTableView):
    """Rows of one height; the Tab key leaves it."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, showGrid=False, wordWrap=False)
        self.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Stretch)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 2 * theme.GRID)
        self.setTabKeyNavigation(False)
        self.setItemDelegate(InsetText(self))
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
