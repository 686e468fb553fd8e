"""Paints one session: title with what is new; state, attention, server, time and model; and the numbers."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from app.kit import theme
from app.kit.flat_model import Index
from app.kit.row_paint import fill_ground, write
from app.sessions.model import SessionRole, SessionText
from app.sessions.shared_title import elided

PAD = 2 * theme.GRID
NEARLY = 0.9
"""From this share of a limit on the line under a session has the colour of attention; the numbers say it, too."""


class SessionRowDelegate(QStyledItemDelegate):
    """Three lines per session, always: nothing moves when attention comes. Under it, how much of its limits is used."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The height of three lines."""
        small = QFontMetrics(theme.small_font(option.font)).height()
        return QSize(120, QFontMetrics(option.font).height() + 2 * small + PAD + theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: SessionText = index.data(SessionRole)
        rect: QRect = option.rect
        font: QFont = option.font
        painter.save()
        fill_ground(painter, option)
        height = QFontMetrics(font).height()
        top = QRect(rect.left() + PAD, rect.top() + theme.GRID, rect.width() - 2 * PAD, height)
        self._first(painter, line, top, font)
        small = theme.small_font(font)
        height = QFontMetrics(small).height()
        below = QRect(top.left(), top.bottom() + 2, top.width(), height)
        word = "" if line.is_usual else line.word
        state = ((word, line.meaning), (line.attention, "attention"), (line.about, "muted"))
        self._below(painter, state, below, small)
        self._below(painter, ((line.numbers, "muted"),), below.translated(0, height), small)
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        if line.used is not None:
            width = round(rect.width() * min(1.0, line.used))
            name = "attention" if line.used >= NEARLY else "muted"
            painter.fillRect(QRect(rect.left(), rect.bottom() - 1, width, 2), theme.colour(name))
        painter.restore()

    def _first(self, painter: QPainter, line: SessionText, room: QRect, font: QFont) -> None:
        sign = QFontMetrics(font).horizontalAdvance("●") + theme.GRID
        write(painter, QRect(room.left(), room.top(), sign, room.height()), line.sign, line.meaning, font)
        right = room.right()
        if line.new:
            strong = theme.bold_font(theme.small_font(font))
            width = QFontMetrics(strong).horizontalAdvance(line.new)
            write(painter, QRect(right - width, room.top(), width + 1, room.height()), line.new, "person", strong)
            right -= width + PAD
        bold = theme.bold_font(font)
        space = QRect(room.left() + sign, room.top(), max(0, right - room.left() - sign), room.height())
        title = elided(line.title, line.shared, space.width(), QFontMetrics(bold).horizontalAdvance)
        write(painter, space, title, "ink", bold)

    def _below(self, painter: QPainter, parts: tuple[tuple[str, str], ...], room: QRect, font: QFont) -> None:
        painter.setFont(font)
        metrics = painter.fontMetrics()
        x = room.left() + QFontMetrics(font).horizontalAdvance("●") + theme.GRID
        for text, meaning in parts:
            if text and x < room.right():
                write(painter, QRect(x, room.top(), room.right() - x, room.height()), text, meaning)
                x += metrics.horizontalAdvance(text) + PAD
