"""Paints one message of the guidance queue: its text in up to four lines, and below its fate in sign and word."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QTextLayout, QTextOption
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from app.guidance.model import GuidanceLine, GuidanceRole
from app.kit import icons, quantities, theme
from app.kit.flat_model import Index
from app.kit.row_paint import fill_ground, write
from app.kit.safe_text import visible

PAD = 2 * theme.GRID
MAX_LINES = 4


class GuidanceRowDelegate(QStyledItemDelegate):
    """Text above, fate below, coloured by meaning with a sign beside it."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """As wide as the list, as high as its text."""
        view = self.parent()
        width = view.viewport().width() if isinstance(view, QListView) else 240
        line: GuidanceLine = index.data(GuidanceRole)
        font: QFont = option.font
        metrics = QFontMetrics(font)
        count = len(wrapped(line.text, font, width - 2 * PAD, MAX_LINES))
        return QSize(max(40, width - 2), count * metrics.lineSpacing() + metrics.height() + 2 * PAD)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: GuidanceLine = index.data(GuidanceRole)
        rect: QRect = option.rect
        font: QFont = option.font
        painter.save()
        fill_ground(painter, option)
        painter.fillRect(QRect(rect.left(), rect.top() + 2, 3, rect.height() - 4), theme.colour(line.meaning))
        metrics = QFontMetrics(font)
        ink, y = "muted" if line.fate and line.sign == "↶" else "ink", rect.top() + theme.GRID
        for text in wrapped(line.text, font, rect.width() - 2 * PAD, MAX_LINES):
            write(painter, QRect(rect.left() + PAD, y, rect.width(), metrics.height()), text, ink, font)
            y += metrics.lineSpacing()
        self._fate(painter, line, QRect(rect.left() + PAD, y, rect.width() - 2 * PAD, metrics.height() + theme.GRID),
                   theme.small_font(font))
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _fate(self, painter: QPainter, line: GuidanceLine, room: QRect, font: QFont) -> None:
        mode = self.tr("interrupt") + "  " if line.mode == "interrupt" else ""
        who = f"{mode}{line.author}  {quantities.clock(line.at)}".strip()
        width = write(painter, room, who, "muted", font, right=True)
        if line.place and not line.session:
            self._way(painter, line, QRect(room.left(), room.top(), room.width() - width - PAD, room.height()))
            return
        room.setWidth(max(40, room.width() - width - PAD))
        write(painter, room, f"{line.sign} {visible(line.fate)}", line.meaning)

    def _way(self, painter: QPainter, line: GuidanceLine, room: QRect) -> None:
        """From this computer over the server and the agent to the answer: what is reached, where it is, what comes."""
        agent = self.tr("agent, before step {n}").format(n=quantities.number(line.before))
        at = 0 if line.place == "here" else 2
        plain, strong, high = painter.font(), theme.bold_font(painter.font()), theme.px(12)
        for number, words in enumerate((self.tr("this computer"), self.tr("server"), agent, self.tr("answered"))):
            icon, meaning = _STAGES[(number > at) - (number < at)]
            if number:
                painter.setPen(theme.colour("edge"))
                painter.drawLine(room.left(), room.center().y(), room.left() + theme.px(14), room.center().y())
                room.setLeft(room.left() + theme.px(20))
            if icon:
                icons.draw(painter, icon, QRectF(room.left(), room.center().y() - high / 2, high, high),
                           theme.colour(meaning))
                room.setLeft(room.left() + theme.px(16))
            width = write(painter, room, words, meaning, strong if number == at else plain)
            room.setLeft(room.left() + width + theme.px(6))


_STAGES = {-1: ("check", "keep"), 0: ("hourglass", "person"), 1: ("", "muted")}
"""Icon and colour of a stage that is reached, of that where the message is, and of one that comes."""



def wrapped(text: str, font: QFont, width: int, most: int) -> list[str]:
    """A text in at most so many lines of a width, with its own line ends, the last line shortened with …"""
    metrics = QFontMetrics(font)
    lines: list[str] = []
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    for paragraph in visible(text[:4000], escapes=False).strip().split("\n"):
        layout = QTextLayout(paragraph, font)
        layout.setTextOption(option)
        layout.beginLayout()
        while (line := layout.createLine()).isValid():
            line.setLineWidth(max(40, width))
            if len(lines) == most:
                lines[-1] = metrics.elidedText(lines[-1] + " …", Qt.TextElideMode.ElideRight, max(40, width))
                layout.endLayout()
                return lines
            lines.append(_piece(paragraph, line.textStart(), line.textLength()))
        layout.endLayout()
        if not paragraph and len(lines) < most:
            lines.append("")
    return lines or [""]


def _piece(text: str, start: int, length: int) -> str:
    """A piece by UTF-16 positions, as Qt counts."""
    if text.isascii():
        return text[start : start + length]
    return text.encode("utf-16-le")[2 * start : 2 * (start + length)].decode("utf-16-le", "replace")
