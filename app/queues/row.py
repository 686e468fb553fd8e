"""Paints a line of the list of queues: a heading, or icon, name and how much it holds."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.kit import icons, theme, tokens
from app.queues.model import QueueSource, SourceRole

Index = QModelIndex | QPersistentModelIndex
ENTRY, HEADING = 28, 28
_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class SourceDelegate(QStyledItemDelegate):
    """One line each; the chosen one has the cursor's bar."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A heading has room above it."""
        line: QueueSource | None = index.data(SourceRole)
        return QSize(120, theme.px(HEADING if line is not None and line.shown is None else ENTRY))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one line."""
        line: QueueSource = index.data(SourceRole)
        rect: QRect = option.rect
        painter.save()
        side = theme.px(tokens.SIDE)
        if line.shown is None:
            painter.setFont(theme.font_of("caption", option.font))
            painter.setPen(theme.colour("muted"))
            painter.drawText(rect.adjusted(side, theme.px(6), -side, 0), _LEFT, line.title)
        else:
            self._ground(painter, option)
            self._entry(painter, line, rect.adjusted(side, 0, -theme.px(8), 0), option)
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem) -> None:
        rect: QRect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            focused = bool(option.state & QStyle.StateFlag.State_Active)
            painter.fillRect(rect, theme.colour("selected" if focused else "selected_idle"))
            bar = QRect(rect.left(), rect.top(), theme.px(tokens.CURSOR), rect.height())
            painter.fillRect(bar, theme.colour("person" if focused else "edge"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.colour("hover"))

    def _entry(self, painter: QPainter, line: QueueSource, room: QRect, option: QStyleOptionViewItem) -> None:
        small = theme.px(14)
        icons.draw(painter, line.icon, QRectF(room.left(), room.center().y() - small / 2 + 0.5, small, small),
                   theme.colour(line.meaning))
        figures = theme.font_of("caption", option.font)
        painter.setFont(figures)
        painter.setPen(theme.colour("muted"))
        painter.drawText(room, _RIGHT, line.right)
        width = QFontMetrics(figures).horizontalAdvance(line.right) + theme.px(tokens.BETWEEN)
        font = theme.mono_font(option.font.pointSizeF()) if line.is_query else option.font
        painter.setFont(font)
        painter.setPen(theme.colour("ink"))
        text = room.adjusted(small + theme.px(6), 0, -width, 0)
        title = QFontMetrics(font).elidedText(line.title, Qt.TextElideMode.ElideRight, text.width())
        painter.drawText(text, _LEFT, title)
        if line.is_done:
            at = text.left() + QFontMetrics(font).horizontalAdvance(title) + theme.px(4)
            icons.draw(painter, "check", QRectF(at, text.center().y() - theme.px(6), theme.px(12), theme.px(12)),
                       theme.colour("keep"))
