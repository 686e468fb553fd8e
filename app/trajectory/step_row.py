"""Paints one row of the step list: verdict, number, time, sign, tool, title, outcome, duration; and measures it.

Each has a fixed place in every row; only the title stretches. Rows of steps have one height, so that no text is laid
out to place them; people's words may take three lines.
"""

from __future__ import annotations

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFont, QPainter, QPen, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.desk.row_text import RowText
from app.kit import theme, tokens
from app.kit.flat_model import Index
from app.trajectory.model import RowTextRole, TrajectoryModel
from app.trajectory.nested import NestedModel
from app.trajectory.row_ink import RowInk, short_path

GAP = tokens.BETWEEN
DEEPEST = 4
"""A subagent's rows stand further in at most so often; their tool is as much narrower."""

MOST_TOOL = 0.34
"""The tool takes no more than this share of a narrow row."""

_SELECTED, _HOVERED = QStyle.StateFlag.State_Selected.value, QStyle.StateFlag.State_MouseOver.value
"""As plain numbers: an operation on Qt's flags takes as long as drawing a word."""


class StepRowDelegate(QStyledItemDelegate):
    """One line per step, up to three for people's words. Columns align; nothing is markup."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.number_width = 0
        self.read_row = -1
        """The row that is read where none is current: the newest step of an end that is followed."""
        self.set_font(QFont())

    def set_font(self, font: QFont) -> None:
        """Take the list's font; measures what all rows share."""
        self.ink = RowInk(font)
        self.set_digits(3)

    def set_digits(self, digits: int) -> bool:
        """Make room for step numbers of so many digits; whether that is another room than before."""
        before = self.number_width
        needed = self.ink.metrics.horizontalAdvance("8" * digits + ",") + 4
        self.number_width = max(self.ink.columns["number"], needed)
        return before != self.number_width

    def height(self, parts: RowText, width: int) -> int:
        """The height of a row for a list of that width."""
        if parts.lines == 1:
            return self.ink.height
        count = len(self._wrapped(parts, width - self._title_left(width) - self.ink.columns["end"]))
        return self.ink.height + self.ink.metrics.lineSpacing() * max(0, count - 1)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        parts: RowText = index.data(RowTextRole)
        return QSize(option.rect.width(), self.height(parts, option.rect.width()))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rows = index.model()
        assert isinstance(rows, TrajectoryModel | NestedModel)
        parts, is_found = rows.painted(index.row())
        if parts is None:
            return
        painter.save()
        rect = option.rect
        self._background(painter, option, rect, index.row(), parts.ground, is_found)
        self.draw(painter, parts, rect)
        painter.restore()

    def draw(self, painter: QPainter, parts: RowText, rect: QRect) -> None:
        """Everything but the ground."""
        line = QRect(rect.left(), rect.top(), rect.width(), self.ink.height)
        base = line.top() + (self.ink.height - self.ink.metrics.height()) // 2 + self.ink.metrics.ascent()
        x = self._facts(painter, parts, line, base)
        x = self._tool(painter, parts, line, base, x)
        if parts.lines > 1:
            self._long_title(painter, parts, QRect(x, rect.top(), rect.right() - self.ink.columns["end"] - x,
                                                   rect.height()), base)
            return
        right = self._right(painter, parts, line, base)
        if right > x:
            self._title(painter, parts, x, right - x, base)

    def broken(self, parts: RowText, width: int) -> tuple[str, str]:
        """What of a strong title stands in a row of that width, up to a word's end, and the rest."""
        ink = self.ink
        room = width - self._title_left(width) - ink.columns["end"] - GAP
        room -= ink.columns["duration"] if width >= ink.no_duration else 0
        if ink.bold_metrics.horizontalAdvance(parts.title) <= room:
            return parts.title, ""
        layout = QTextLayout(parts.title, ink.bold)
        layout.beginLayout()
        line = layout.createLine()
        line.setLineWidth(max(80, room))
        length = line.textLength()
        layout.endLayout()
        return parts.title[:length].rstrip(), parts.title[length:]

    def draw_below(self, painter: QPainter, text: str, line: QRect) -> None:
        """A second line under a row's title."""
        left = line.left() + self._title_left(line.width())
        room = line.right() - self.ink.columns["end"] - left
        base = line.bottom() + theme.px(tokens.TYPE["row"][1]) - self.ink.metrics.descent() - theme.px(4)
        painter.setFont(self.ink.font)
        painter.setPen(self.ink.colour("muted"))
        painter.drawText(left, base, self.ink.metrics.elidedText(text, _ELIDE, room))

    # ---- parts -----------------------------------------------------------------------------------

    def _background(self, painter: QPainter, option: QStyleOptionViewItem, rect: QRect, row: int, ground: str,
                    is_found: bool) -> None:
        state, widget, ink = option.state.value, option.widget, self.ink
        if ground:
            painter.fillRect(rect, ink.colour(f"{ground}_tint"))
        has_keys = widget is not None and widget.hasFocus()
        current = widget.currentIndex().row() if isinstance(widget, QAbstractItemView) else -1
        is_read = row == (self.read_row if current < 0 else current)
        if state & _SELECTED or (is_read and current < 0):
            painter.fillRect(rect, ink.colour("selected" if has_keys else "selected_idle"))
            if ink.is_high_contrast:
                theme.frame_selected(painter, rect)
        elif state & _HOVERED:
            painter.fillRect(rect, ink.colour("hover"))
        if is_found:
            painter.fillRect(rect, ink.colour("attention_tint"))
        if is_read:
            bar = QRect(rect.left(), rect.top(), tokens.CURSOR, rect.height())
            painter.fillRect(bar, ink.colour("person" if has_keys else "edge"))

    def _tool_width(self, width: int) -> int:
        return min(self.ink.columns["tool"], int(width * MOST_TOOL))

    def _title_left(self, width: int) -> int:
        columns = self.ink.columns
        time = columns["time"] if width >= self.ink.no_time else 0
        return (columns["margin"] + columns["verdict"] + self.number_width + GAP // 2 + time + columns["icon"]
                + self._tool_width(width) + GAP)

    def _facts(self, painter: QPainter, parts: RowText, line: QRect, base: int) -> int:
        """Verdict, number and time; returns where the icon stands."""
        ink, columns = self.ink, self.ink.columns
        x = line.left() + columns["margin"]
        if parts.state:
            ink.sign(painter, parts.state, x, line.top())
        x += columns["verdict"] + self.number_width
        if parts.number:
            painter.setPen(ink.colour("muted"))
            start = max(line.left() + columns["margin"], x - ink.width(parts.number, ink.metrics))
            ink.put(painter, start, base, parts.number, ink.font)  # a fold's range goes on where no sign and time is
        x += GAP // 2
        if line.width() >= ink.no_time:
            x += columns["time"]
            if parts.time:
                painter.setPen(ink.colour("muted"))
                ink.put(painter, x - 6 - ink.width(parts.time, ink.small_metrics), base, parts.time, ink.small)
        return x

    def _tool(self, painter: QPainter, parts: RowText, line: QRect, base: int, x: int) -> int:
        """Sign and tool; returns where the title begins."""
        ink = self.ink
        meaning = parts.meaning if parts.meaning in ("error", "person", "live") else ""
        if parts.is_failed:
            meaning = "error"
        elif parts.state == "mask" or parts.icon == "hourglass":
            meaning = meaning or "muted"
        shift = self._guides(painter, parts.depth, line, x) if parts.depth else 0
        if parts.icon:
            ink.icon(painter, parts.icon, meaning or "ink", x + shift, line.top() + self.ink.height / 2)
        x += ink.columns["icon"] + shift
        width = self._tool_width(line.width()) - shift
        painter.setPen(ink.colour(meaning or "ink"))
        text = parts.tool
        if ink.width(text, ink.bold_metrics) > width:
            text = ink.bold_metrics.elidedText(text, _ELIDE, width)
        ink.put(painter, x, base, text, ink.bold)
        return x + width + GAP

    def _guides(self, painter: QPainter, depth: int, line: QRect, x: int) -> int:
        """A line for each caller of a subagent's row; returns how much further in it stands."""
        step = self.ink.step_in
        painter.setPen(self.ink.colour("line"))
        for left in range(0, step * min(depth, DEEPEST), step):
            painter.drawLine(x + left + 5, line.top(), x + left + 5, line.bottom())
        return step * min(depth, DEEPEST)

    def _right(self, painter: QPainter, parts: RowText, line: QRect, base: int) -> int:
        """Duration and outcome, from the right; returns where the title must end."""
        ink = self.ink
        right = line.right() - ink.columns["end"]
        if line.width() >= ink.no_duration:
            if parts.duration:
                width = ink.width(parts.duration, ink.small_metrics)
                painter.setPen(ink.colour("muted"))
                ink.put(painter, right - width, base, parts.duration, ink.small)
            right -= ink.columns["duration"]
        if parts.word:
            right = self._word(painter, parts, line, base, right)
        for count, sign, meaning in ((parts.removed, "−", "error"), (parts.added, "+", "keep")):
            if count and not parts.is_chip:
                text = f"{sign}{count}"
                right -= ink.width(text, ink.metrics)
                painter.setPen(ink.colour(meaning))
                ink.put(painter, right, base, text, ink.font)
                right -= GAP // 2 + 2
        return right - GAP

    def _word(self, painter: QPainter, parts: RowText, line: QRect, base: int, right: int) -> int:
        ink = self.ink
        font, metrics = (ink.small, ink.small_metrics) if parts.is_chip else (ink.font, ink.metrics)
        width = ink.width(parts.word, metrics)
        if parts.is_chip:
            chip = QRect(right - width - 12, line.top() + (self.ink.height - ink.chip) // 2, width + 12, ink.chip)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen if not ink.is_high_contrast else QPen(ink.colour(parts.meaning)))
            painter.setBrush(ink.colour(f"{parts.meaning}_tint"))
            painter.drawRoundedRect(chip, tokens.RADII["chip"], tokens.RADII["chip"])
            right -= 6
        painter.setPen(ink.colour(parts.meaning or "muted"))
        ink.put(painter, right - width, base, parts.word, font)
        return right - width - (6 if parts.is_chip else 0) - GAP

    def _title(self, painter: QPainter, parts: RowText, x: int, room: int, base: int) -> None:
        ink = self.ink
        masked = parts.state == "mask"
        is_mono = parts.face in ("code", "path")
        font = ink.mono if is_mono else ink.bold if parts.face == "strong" else ink.font
        painter.setPen(ink.colour("muted" if masked or parts.icon == "hourglass" else "ink"))
        if parts.face == "path" and parts.title.isascii():
            folder, name = short_path(parts.title, max(1, int(room / ink.cell)))
            width = round(len(folder) * ink.cell)
            ink.put(painter, x + width, base, name, font)
            painter.setPen(ink.colour("muted"))
            ink.put(painter, x, base, folder, font)
            end = width + round(len(name) * ink.cell)
        else:
            text = self._elided(parts.title, room, is_mono)
            ink.put(painter, x, base, text, font)
            end = min(room, (ink.mono_metrics if is_mono else ink.metrics).horizontalAdvance(text)) if masked else 0
        if masked:
            painter.setPen(ink.colour("mask"))
            painter.drawLine(x, base - ink.metrics.ascent() // 3, x + end, base - ink.metrics.ascent() // 3)

    def _elided(self, text: str, width: int, is_mono: bool) -> str:
        """The title as far as it fits. Letters of the monospace font are counted: measuring each row is slow."""
        if not (is_mono and text.isascii()):
            return (self.ink.mono_metrics if is_mono else self.ink.metrics).elidedText(text, _ELIDE, width)
        cells = int(width / self.ink.cell)
        return text if len(text) <= cells else text[: max(0, cells - 1)] + "…"

    def _long_title(self, painter: QPainter, parts: RowText, room: QRect, base: int) -> None:
        painter.setFont(self.ink.font)
        painter.setPen(self.ink.colour("ink"))
        for number, text in enumerate(self._wrapped(parts, room.width())):
            painter.drawText(QPoint(room.left(), base + number * self.ink.metrics.lineSpacing()), text)

    def _wrapped(self, parts: RowText, room: int) -> list[str]:
        """The title in lines that fit; the last one is shortened."""
        room = max(80, room)
        layout = QTextLayout(parts.title, self.ink.font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        layout.setTextOption(option)
        lines: list[str] = []
        layout.beginLayout()
        while len(lines) < parts.lines:
            line = layout.createLine()
            if not line.isValid():
                break
            line.setLineWidth(room)
            start, length = line.textStart(), line.textLength()
            last = len(lines) + 1 == parts.lines
            text = parts.title[start:] if last else parts.title[start : start + length]
            lines.append(self.ink.metrics.elidedText(text, _ELIDE, room))
        layout.endLayout()
        return lines


_ELIDE = Qt.TextElideMode.ElideRight
