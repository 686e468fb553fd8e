"""What the rows of our lists are painted with alike: their ground, and texts of one line, cut to their room."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QFont, QPainter
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem

from app.kit import theme, tokens

_LINE = int(Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
LEFT = _LINE | int(Qt.AlignmentFlag.AlignLeft)
RIGHT = _LINE | int(Qt.AlignmentFlag.AlignRight)


def fill_ground(painter: QPainter, option: QStyleOptionViewItem, *, hovers: bool = False, bar: bool = False) -> None:
    """The ground of a row that is selected, with the cursor's bar where it has one; where it `hovers` also under the
    pointer."""
    rect: QRect = option.rect
    if option.state & QStyle.StateFlag.State_Selected:
        active = bool(option.state & QStyle.StateFlag.State_Active)
        theme.fill_selected(painter, rect, active=active)
        if bar:
            painter.fillRect(QRect(rect.left(), rect.top(), theme.px(tokens.CURSOR), rect.height()),
                             theme.colour("person" if active else "edge"))
    elif hovers and option.state & QStyle.StateFlag.State_MouseOver:
        painter.fillRect(rect, theme.colour("hover"))


def write(painter: QPainter, room: QRect | QRectF, text: str, ink: str, font: QFont | None = None, *,
          right: bool = False, cut: Qt.TextElideMode = Qt.TextElideMode.ElideRight) -> int:
    """Write a line in a colour of the theme, and in the painter's font where none is given; its width in pixels."""
    if font is not None:
        painter.setFont(font)
    painter.setPen(theme.colour(ink))
    metrics = painter.fontMetrics()
    shown = metrics.elidedText(text, cut, max(0, int(room.width())))
    painter.drawText(room, RIGHT if right else LEFT, shown)
    return metrics.horizontalAdvance(shown)
