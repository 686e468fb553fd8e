"""Paints one entry of a list in two lines: what it is and where, and below a text with its matches marked."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.kit import theme
from app.kit.flat_model import Index
from app.kit.two_lines import TwoLines, TwoLinesRole

PAD = 2 * theme.GRID


class TwoLinesDelegate(QStyledItemDelegate):
    """Every entry has the same height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines and the room round them."""
        return QSize(120, 2 * QFontMetrics(option.font).height() + PAD + theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one entry."""
        lines: TwoLines | None = index.data(TwoLinesRole)
        if lines is None:
            return
        rect: QRect = option.rect
        font: QFont = option.font
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            theme.fill_selected(painter, rect, active=bool(option.state & QStyle.StateFlag.State_Active))
        height = QFontMetrics(font).height()
        line = QRect(rect.left() + PAD, rect.top() + theme.GRID, rect.width() - 2 * PAD, height)
        self._first(painter, lines, line, font)
        self._below(painter, lines, QRect(line.left(), line.bottom() + 3, line.width(), height), theme.small_font(font))
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _first(self, painter: QPainter, lines: TwoLines, line: QRect, font: QFont) -> None:
        small = theme.small_font(font)
        right = line.right()
        if lines.right:
            width = QFontMetrics(small).horizontalAdvance(lines.right)
            painter.setFont(small)
            painter.setPen(theme.colour("muted"))
            painter.drawText(QRect(right - width, line.top(), width + 1, line.height()), _LEFT, lines.right)
            right -= width + PAD
        left = line.left()
        painter.setFont(theme.bold_font(font))
        if lines.sign:
            painter.setPen(theme.colour(lines.meaning))
            painter.drawText(QRect(left, line.top(), right - left, line.height()), _LEFT, lines.sign)
            left += painter.fontMetrics().horizontalAdvance(lines.sign) + theme.GRID
        painter.setPen(theme.colour("ink"))
        room = max(0, right - left)
        shown = painter.fontMetrics().elidedText(lines.title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, line.top(), room, line.height()), _LEFT, shown)

    def _below(self, painter: QPainter, lines: TwoLines, line: QRect, font: QFont) -> None:
        shown = QFontMetrics(font).elidedText(lines.below, Qt.TextElideMode.ElideRight, line.width())
        layout = QTextLayout(shown, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats([_mark(start, stop) for start, stop in lines.spans if stop <= len(shown)])
        layout.beginLayout()
        layout.createLine().setLineWidth(line.width())
        layout.endLayout()
        painter.setPen(theme.colour("muted"))
        layout.draw(painter, QPointF(line.topLeft()))


def _mark(start: int, stop: int) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length = start, stop - start
    format = QTextCharFormat()
    format.setForeground(theme.colour("ink"))
    format.setBackground(theme.tint("attention", 90))
    made.format = format
    return made


_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
