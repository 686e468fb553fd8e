"""The columns of the queue's list, and the row of a session in them."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import QAbstractItemView, QStyledItemDelegate, QStyleOptionViewItem

from app.kit import icons, quantities, theme, tokens
from app.kit.flat_model import Index
from app.kit.row_paint import fill_ground, write
from app.queue.row import QueueRow, QueueRowRole

WIDTHS = (("state", 32), ("title", 0), ("started", 92), ("steps", 48), ("judged", 212), ("score", 44), ("who", 72),
          ("word", 132))
LEFT, RIGHT = 6, 12
"""The row's own sides, in pixels of 100 %."""

BEFORE = {"judged": 20, "who": 16}
"""Room before a column's text."""

SMALL = 860
"""Below this width the start and the score go, so that the title can be read; below 560 steps and who."""

BAR, COUNT = 84, 44


def places(rect: QRect) -> dict[str, QRect]:
    """Where each column is in a row. A narrow table leaves out the start and the score, then steps and who."""
    left_out = {"started", "score"} if rect.width() < theme.px(SMALL) else set()
    left_out |= {"steps", "who"} if rect.width() < theme.px(560) else set()
    widths = {name: theme.px(width) for name, width in WIDTHS if name not in left_out}
    title = max(theme.px(60), rect.width() - theme.px(LEFT + RIGHT) - sum(widths.values()))
    found, x = {}, rect.left() + theme.px(LEFT)
    for name, width in widths.items():
        wide = width or title
        before = theme.px(BEFORE.get(name, 0))
        found[name] = QRect(x + before, rect.top(), wide - before, rect.height())
        x += wide
    return found




class QueueRowDelegate(QStyledItemDelegate):
    """Rows of 44; the chosen one has the cursor's bar."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """One height for all."""
        return QSize(400, theme.px(tokens.HEIGHTS["session"]))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: QueueRow | None = index.data(QueueRowRole)
        if line is None:
            return
        painter.save()
        rect: QRect = option.rect
        view = option.widget
        is_current = isinstance(view, QAbstractItemView) and view.currentIndex().row() == index.row()
        fill_ground(painter, option, hovers=True, bar=is_current)
        at, facts = places(rect), theme.font_of("fact", option.font)
        side = theme.px(14)
        state = at["state"]
        icons.draw(painter, line.icon, QRectF(state.center().x() - side / 2, state.center().y() - side / 2, side, side),
                   theme.colour(line.ink))
        self._title(painter, line, at["title"], option.font)
        for name, text, right, ink in (("started", line.started, False, "muted"), ("steps", line.steps, True, "ink"),
                                       ("score", line.score, True, "ink"), ("who", line.who, False, "ink")):
            if name in at:
                write(painter, at[name], text, ink, facts, right=right)
        self._progress(painter, line, at["judged"], facts)
        self._word(painter, line, at["word"], facts)
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _title(self, painter: QPainter, line: QueueRow, room: QRect, font: QFont) -> None:
        bold, small = theme.bold_font(font), theme.font_of("caption", font)
        high, low = QFontMetrics(bold).height(), QFontMetrics(small).height()
        top = room.top() + (room.height() - high - low) // 2
        wide = room.width() - theme.px(8)
        write(painter, QRect(room.left(), top, wide, high), line.title, "ink", bold)
        write(painter, QRect(room.left(), top + high, wide, low), line.about, "muted", small)

    def _progress(self, painter: QPainter, line: QueueRow, room: QRect, font: QFont) -> None:
        """Bar, count, masked, unsure; a session that nobody judged shows no empty bar."""
        judged, asked, wide = line.judged, line.asked, theme.px(BAR)
        if judged.total:
            draw_progress(painter, QRectF(room.left(), room.center().y() - theme.px(3), wide, theme.px(6)),
                          ((judged.keep, "keep"), (judged.mask, "mask"), (judged.unsure, "attention")), asked)
        rest = f"/{quantities.number(asked)}"
        first = quantities.number(min(judged.total, asked)) if judged.total else "–"
        right = room.left() + wide + theme.px(8) + theme.px(COUNT)
        before = right - write(painter, QRect(room.left(), room.top(), right - room.left(), room.height()), rest,
                               "muted", font, right=True)
        write(painter, QRect(room.left(), room.top(), before - room.left(), room.height()), first,
              "ink" if judged.total else "muted", theme.bold_font(font) if judged.total else font, right=True)
        x = right + theme.px(8)
        for count, icon, ink in ((judged.mask, "circle-slash", "mask"), (judged.unsure, "circle-question-mark",
                                                                         "attention")):
            if count:
                side = theme.px(12)
                icons.draw(painter, icon, QRectF(x, room.center().y() - side / 2, side, side), theme.colour(ink))
                words = QRect(x + side + theme.px(2), room.top(), room.right(), room.height())
                x += side + write(painter, words, quantities.number(count), ink, font) + theme.px(8)

    def _word(self, painter: QPainter, line: QueueRow, room: QRect, font: QFont) -> None:
        face = theme.font_of("caption", font) if line.is_chip else font
        if line.is_chip:
            room.setWidth(room.width() - theme.px(10))
            width = min(QFontMetrics(face).horizontalAdvance(line.word), room.width()) + theme.px(10)
            tall = theme.px(18)
            box = QRectF(room.left(), room.center().y() - tall / 2, width, tall)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.ground_of(line.meaning))
            painter.drawRoundedRect(box, tokens.RADII["chip"], tokens.RADII["chip"])
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
            room.translate(theme.px(5), 0)
        width = write(painter, room, line.word, line.meaning, face) + (theme.px(10) if line.is_chip else 0)
        if line.agreement:
            write(painter, room.adjusted(width + theme.px(6), 0, 0, 0), line.agreement, "muted", face)


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
