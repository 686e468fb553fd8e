"""Paints a session of the queue's table: state, title, start, steps, progress, score, who, and what asks for a look."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.kit import icons, quantities, theme, tokens
from app.kit.flat_model import Index
from app.queue.columns import BAR, COUNT, places
from app.queue.model import QueueRowRole
from app.queue.row import QueueRow

_LEFT = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)
_RIGHT = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter) | int(Qt.TextFlag.TextSingleLine)


class QueueRowDelegate(QStyledItemDelegate):
    """Rows of 44; the chosen one has the cursor's bar."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One height for all."""
        return QSize(400, theme.px(tokens.HEIGHTS["session"]))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one session."""
        line: QueueRow | None = index.data(QueueRowRole)
        if line is None:
            return
        painter.save()
        rect: QRect = option.rect
        self._ground(painter, option, index)
        at, facts = places(rect), theme.font_of("fact", option.font)
        side = theme.px(14)
        state = at["state"]
        icons.draw(painter, line.icon, QRectF(state.center().x() - side / 2, state.center().y() - side / 2, side, side),
                   theme.colour(line.ink))
        self._title(painter, line, at["title"], option.font)
        painter.setFont(facts)
        for name, text, flags, ink in (("started", line.started, _LEFT, "muted"), ("steps", line.steps, _RIGHT, "ink"),
                                       ("score", line.score, _RIGHT, "ink"), ("who", line.who, _LEFT, "ink")):
            if name in at:
                painter.setPen(theme.colour(ink))
                painter.drawText(at[name], flags, _cut(painter, text, at[name]))
        self._progress(painter, line, at["judged"], facts)
        self._word(painter, line, at["word"], facts)
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _ground(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        if option.state & QStyle.StateFlag.State_Selected:
            active = bool(option.state & QStyle.StateFlag.State_Active)
            theme.fill_selected(painter, rect, active=active)
            view = option.widget
            if isinstance(view, QAbstractItemView) and view.currentIndex().row() == index.row():
                bar = QRect(rect.left(), rect.top(), theme.px(tokens.CURSOR), rect.height())
                painter.fillRect(bar, theme.colour("person" if active else "edge"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.colour("hover"))

    def _title(self, painter: QPainter, line: QueueRow, room: QRect, font: QFont) -> None:
        bold, small = theme.bold_font(font), theme.font_of("caption", font)
        high, low = QFontMetrics(bold).height(), QFontMetrics(small).height()
        top = room.top() + (room.height() - high - low) // 2
        painter.setFont(bold)
        painter.setPen(theme.colour("ink"))
        upper = QRect(room.left(), top, room.width() - theme.px(8), high)
        painter.drawText(upper, _LEFT, _cut(painter, line.title, upper))
        painter.setFont(small)
        painter.setPen(theme.colour("muted"))
        lower = QRect(room.left(), top + high, upper.width(), low)
        painter.drawText(lower, _LEFT, _cut(painter, line.about, lower))

    def _progress(self, painter: QPainter, line: QueueRow, room: QRect, font: QFont) -> None:
        """Bar, count, masked, unsure; a session that nobody judged shows no empty bar."""
        judged, asked, wide = line.judged, line.asked, theme.px(BAR)
        if judged.total:
            draw_progress(painter, QRectF(room.left(), room.center().y() - theme.px(3), wide, theme.px(6)),
                          ((judged.keep, "keep"), (judged.mask, "mask"), (judged.unsure, "attention")), asked)
        rest = f"/{quantities.number(asked)}"
        first = quantities.number(min(judged.total, asked)) if judged.total else "–"
        painter.setFont(font)
        right = room.left() + wide + theme.px(8) + theme.px(COUNT)
        painter.setPen(theme.colour("muted"))
        painter.drawText(QRect(room.left(), room.top(), right - room.left(), room.height()), _RIGHT, rest)
        before = right - QFontMetrics(font).horizontalAdvance(rest)
        painter.setFont(theme.bold_font(font) if judged.total else font)
        painter.setPen(theme.colour("ink" if judged.total else "muted"))
        painter.drawText(QRect(room.left(), room.top(), before - room.left(), room.height()), _RIGHT, first)
        painter.setFont(font)
        x = right + theme.px(8)
        for count, icon, ink in ((judged.mask, "circle-slash", "mask"), (judged.unsure, "circle-question-mark",
                                                                         "attention")):
            if count:
                side = theme.px(12)
                icons.draw(painter, icon, QRectF(x, room.center().y() - side / 2, side, side), theme.colour(ink))
                text = quantities.number(count)
                painter.setPen(theme.colour(ink))
                width = QFontMetrics(font).horizontalAdvance(text)
                painter.drawText(QRect(x + side + theme.px(2), room.top(), width + 1, room.height()), _LEFT, text)
                x += side + width + theme.px(8)

    def _word(self, painter: QPainter, line: QueueRow, room: QRect, font: QFont) -> None:
        text, metrics = _cut(painter, line.word, room), QFontMetrics(font)
        width = metrics.horizontalAdvance(text)
        painter.setFont(theme.font_of("caption", font) if line.is_chip else font)
        if line.is_chip:
            text = QFontMetrics(painter.font()).elidedText(line.word, Qt.TextElideMode.ElideRight, room.width() - 10)
            width = QFontMetrics(painter.font()).horizontalAdvance(text) + theme.px(10)
            tall = theme.px(18)
            box = QRectF(room.left(), room.center().y() - tall / 2, width, tall)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.ground_of(line.meaning))
            painter.drawRoundedRect(box, tokens.RADII["chip"], tokens.RADII["chip"])
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            room = room.adjusted(theme.px(5), 0, 0, 0)
        painter.setPen(theme.colour(line.meaning))
        painter.drawText(room, _LEFT, text)
        if line.agreement:
            painter.setPen(theme.colour("muted"))
            painter.drawText(room.adjusted(width + theme.px(6), 0, 0, 0), _LEFT, line.agreement)


def draw_progress(painter: QPainter, box: QRectF, parts: tuple[tuple[int, str], ...], whole: int) -> None:
    """A bar of parts (count, meaning) of a whole, from the left; in high contrast framed, with gaps between them."""
    high = theme.is_high_contrast()
    painter.fillRect(box, theme.colour("base" if high else "line"))
    if high:
        painter.setPen(theme.colour("line"))
        painter.drawRect(box)
    x, gap = box.left(), 2 if high else 0
    for count, meaning in parts:
        width = min(box.right() - x, box.width() * count / max(1, whole))
        painter.fillRect(QRectF(x, box.top(), max(0.0, width - gap), box.height()), theme.colour(meaning))
        x += width


def _cut(painter: QPainter, text: str, room: QRect) -> str:
    return painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room.width())
