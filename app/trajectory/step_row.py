"""Paints one line of the step list: number, time, sign and word, tool, title, verdict, duration; and measures it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPalette, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.desk.row_text import RowText
from app.kit import theme
from app.trajectory.model import ListRow, RowRole, RowTextRole, TrajectoryModel

Index = QModelIndex | QPersistentModelIndex
PAD = 2 * theme.GRID
BAR = 3


class StepRowDelegate(QStyledItemDelegate):
    """One line per step, up to three for guidance and summaries. Columns align; nothing is markup."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number_width = 0
        self.set_font(QFont())

    def set_font(self, font: QFont) -> None:
        """Take the list's font; measures what all rows share."""
        self._font, self._bold, self._small = font, theme.bold_font(font), theme.small_font(font)
        self._mono = theme.mono_font(font.pointSizeF())
        self._metrics, self._bold_metrics = QFontMetrics(font), QFontMetrics(self._bold)
        self._mono_metrics = QFontMetrics(self._mono)
        self._mono_cell = self._mono_metrics.horizontalAdvance("m" * 64) / 64
        small = self._small_metrics = QFontMetrics(self._small)
        self._widths: dict[tuple[str, str], int] = {}
        self._inks: dict[str, QColor] = {}
        self.time_width = small.horizontalAdvance("00:00") + PAD
        self.duration_width = small.horizontalAdvance("88.8 s") + PAD
        self.set_digits(3)

    def forget_colours(self) -> None:
        """The palette is another one."""
        self._inks.clear()

    def _ink(self, name: str) -> QColor:
        held = self._inks.get(name)
        if held is None:
            held = self._inks[name] = theme.colour(name)
        return held

    def _tint(self, name: str, alpha: int) -> QColor:
        tint = QColor(self._ink(name))
        tint.setAlpha(alpha)
        return tint

    def _width(self, text: str, metrics: QFontMetrics, kind: str) -> int:
        """The width of a short text that many rows share."""
        held = self._widths.get((kind, text))
        if held is None:
            if len(self._widths) > 2000:
                self._widths.clear()
            held = self._widths[(kind, text)] = metrics.horizontalAdvance(text)
        return held

    def set_digits(self, digits: int) -> bool:
        """Make room for step numbers of so many digits; whether that is another room than before."""
        before, self.number_width = self.number_width, QFontMetrics(self._font).horizontalAdvance("8" * digits) + PAD
        return before != self.number_width

    @property
    def line_height(self) -> int:
        """The height of a line of one step, in pixels."""
        return self._metrics.height() + PAD

    def height(self, parts: RowText, width: int) -> int:
        """The height of a row for a list of that width."""
        if parts.lines == 1:
            return self.line_height
        count = len(self._wrapped(parts, width))
        return self.line_height + self._metrics.lineSpacing() * max(0, count - 1)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The measured size."""
        parts: RowText = index.data(RowTextRole)
        return QSize(option.rect.width(), self.height(parts, option.rect.width()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw one row."""
        parts: RowText | None = index.data(RowTextRole)
        if parts is None:
            return
        rect: QRect = option.rect
        painter.save()
        self._background(painter, option, index, parts, rect)
        line = QRect(rect.left(), rect.top(), rect.width(), self.line_height)
        x = self._left(painter, parts, line)
        right = self._right(painter, parts, line)
        self._title(painter, parts, QRect(x, rect.top(), max(0, right - x), rect.height()), rect)
        painter.restore()

    # ---- parts -----------------------------------------------------------------------------------

    def _background(self, painter: QPainter, option: QStyleOptionViewItem, index: Index, parts: RowText,
                    rect: QRect) -> None:
        palette: QPalette = option.palette
        state = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, palette.color(QPalette.ColorRole.Highlight))
        elif parts.meaning in ("person", "live"):
            painter.fillRect(rect, self._tint(parts.meaning, 20))
        model, row = index.model(), index.data(RowRole)
        if isinstance(model, TrajectoryModel) and _is_found(model, row):
            painter.fillRect(rect, self._tint("attention", 36))
        if parts.meaning and parts.meaning != "muted":
            painter.fillRect(QRect(rect.left(), rect.top(), BAR, rect.height()), self._ink(parts.meaning))

    def _left(self, painter: QPainter, parts: RowText, line: QRect) -> int:
        """Number and time; returns where the title may begin."""
        x = line.left() + BAR
        painter.setFont(self._font)
        painter.setPen(self._ink("muted"))
        needed = self._metrics.horizontalAdvance(parts.number) + PAD
        width = max(self.number_width, needed)
        painter.drawText(x + width - needed + PAD, self._base(line), parts.number)
        x += width + PAD
        painter.setFont(self._small)
        painter.drawText(x, self._base(line), parts.time)
        return x + self.time_width

    def _right(self, painter: QPainter, parts: RowText, line: QRect) -> int:
        """Duration, verdict, sign and word, from the right; returns where the title must end."""
        right, base = line.right() - PAD, self._base(line)
        if parts.duration:
            width = self._width(parts.duration, self._small_metrics, "small")
            painter.setFont(self._small)
            painter.setPen(self._ink("muted"))
            painter.drawText(right - width, base, parts.duration)
            right -= max(width, self.duration_width) + PAD
        for text, meaning in ((parts.verdict, parts.verdict_meaning), self._mark(parts)):
            if text:
                width = self._width(text, self._metrics, "")
                painter.setFont(self._font)
                painter.setPen(self._ink(meaning))
                painter.drawText(right - width, base, text)
                right -= width + PAD + theme.GRID
        return right

    def _base(self, line: QRect) -> int:
        """Where letters stand in a line of one step."""
        return line.top() + (self.line_height - self._metrics.height()) // 2 + self._metrics.ascent()

    def _mark(self, parts: RowText) -> tuple[str, str]:
        if parts.lines > 1 or not (parts.word or parts.sign):
            return "", ""
        return f"{parts.sign} {parts.word}".strip(), parts.meaning

    def _title(self, painter: QPainter, parts: RowText, room: QRect, rect: QRect) -> None:
        if parts.lines > 1:
            self._long_title(painter, parts, room, rect)
            return
        x, base = room.left(), self._base(room)
        masked = parts.verdict_meaning == "mask"
        painter.setPen(self._ink("muted" if masked or parts.meaning == "muted" else "ink"))
        if parts.tool:
            width = self._width(parts.tool, self._bold_metrics, "bold")
            painter.setFont(self._bold)
            fits = width <= room.width()
            painter.drawText(x, base, parts.tool if fits else self._bold_metrics.elidedText(parts.tool, _ELIDE,
                                                                                        room.width()))
            x += width + PAD
        left = room.right() - x
        if left > 0:
            painter.setFont(self._mono if parts.tool else self._font)
            painter.drawText(x, base, self._elided(parts, left))

    def _elided(self, parts: RowText, width: int) -> str:
        """The title as far as it fits. Letters of the monospace font are counted: measuring each row is slow."""
        if not (parts.tool and parts.title.isascii()):
            return (self._mono_metrics if parts.tool else self._metrics).elidedText(parts.title, _ELIDE, width)
        cells = int(width / self._mono_cell)
        return parts.title if len(parts.title) <= cells else parts.title[: max(0, cells - 1)] + "…"

    def _long_title(self, painter: QPainter, parts: RowText, room: QRect, rect: QRect) -> None:
        painter.setPen(self._ink(parts.meaning))
        painter.setFont(self._bold)
        label = f"{parts.sign} {parts.word}"
        painter.drawText(QRect(room.left(), room.top(), room.width(), self.line_height), _LEFT, label)
        painter.setFont(self._font)
        painter.setPen(self._ink("ink"))
        top = room.top() + theme.GRID
        indent = self._bold_metrics.horizontalAdvance(label) + PAD
        for number, text in enumerate(self._wrapped(parts, rect.width())):
            x = room.left() + (indent if number == 0 else 0)
            painter.drawText(QPoint(x, top + self._metrics.ascent() + number * self._metrics.lineSpacing()), text)

    def _wrapped(self, parts: RowText, width: int) -> list[str]:
        """The title in lines that fit; the first one is shortened by the label before it."""
        left = BAR + max(self.number_width, self._metrics.horizontalAdvance(parts.number) + PAD) + PAD + self.time_width
        room = max(80, width - left - PAD)
        indent = self._bold_metrics.horizontalAdvance(f"{parts.sign} {parts.word}") + PAD
        layout = QTextLayout(parts.title, self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[str] = []
        layout.beginLayout()
        while len(lines) < parts.lines:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(max(40, room - indent) if not lines else room)
            start, length = line.textStart(), line.textLength()
            last = len(lines) + 1 == parts.lines
            text = parts.title[start:] if last else parts.title[start : start + length]
            lines.append(self._metrics.elidedText(text, _ELIDE, max(40, room - indent) if not lines else room))
        layout.endLayout()
        return lines


_LEFT = int(Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft) | int(Qt.TextFlag.TextSingleLine)
_ELIDE = Qt.TextElideMode.ElideRight


def _is_found(model: TrajectoryModel, row: ListRow | None) -> bool:
    return row is not None and row.kind == "item" and row.first in model.found
