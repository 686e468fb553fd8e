"""Draws a difference: unified or side by side, coloured, with word marks; only the rows in sight are laid out."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.files.diff import Diff, DiffLine, DiffRow, Span, folded, unified
from app.kit import theme
from app.kit.i18n import plural

_PAD = theme.GRID


class DiffView(QAbstractScrollArea):
    """Rows of a Diff. Gaps open at a click or Return."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._diff = Diff()
        self.side_by_side = False
        self._open: set[int] = set()
        self._shown: list[tuple[int, DiffRow]] = []
        self._selected: tuple[int, int] | None = None
        self._message = ""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Difference"))
        self._measure()

    def set_side_by_side(self, on: bool) -> None:
        """Choose between side by side and unified."""
        self.side_by_side = on
        self._lay_out()

    def show_diff(self, diff: Diff) -> None:
        """Show a difference from its first change."""
        self._diff, self._open, self._selected, self._message = diff, set(), None, ""
        if diff.binary:
            self._message = self.tr("A binary content: it cannot be compared line by line.")
        elif not diff.rows:
            self._message = self.tr("Both versions are empty.")
        if not diff.added and not diff.removed and len(diff.rows) > 1:
            self._open = {0}
        self._lay_out()
        self.verticalScrollBar().setValue(0)
        self.horizontalScrollBar().setValue(0)

    def show_message(self, text: str) -> None:
        """Show a sentence of ours instead."""
        self._diff, self._shown, self._message = Diff(), [], text
        self._lay_out()

    def next_change(self, direction: int = 1) -> None:
        """Go to the next (1) or previous (-1) run of changes."""
        starts = [i for i, (_, r) in enumerate(self._shown)
                  if r.kind == "change" and (i == 0 or self._shown[i - 1][1].kind != "change")]
        top = self.verticalScrollBar().value()
        here = [i for i in starts if (i - 2 > top if direction > 0 else i - 2 < top)]
        if here:
            self.verticalScrollBar().setValue(max(0, (here[0] if direction > 0 else here[-1]) - 2))

    def copy(self) -> None:
        """Put the selected rows, else everything, into the clipboard: as a patch in unified form."""
        first, last = sorted(self._selected) if self._selected else (0, len(self._shown) - 1)
        lines = []
        for _, row in unified(self._shown[first : last + 1]):
            sign = " " if row.kind == "same" else "+" if row.new else "-"
            line = row.new or row.old
            lines.append(sign + line.text if line else f"@@ … {row.hidden} … @@")
        QGuiApplication.clipboard().setText("\n".join(lines))

    def changeEvent(self, event: QEvent) -> None:
        """Follow the application's font and colours."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._measure()
            self._lay_out()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep the scroll bars right."""
        super().resizeEvent(event)
        self._ranges()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll, go to changes, copy."""
        bar, page = self.verticalScrollBar(), self.verticalScrollBar().pageStep()
        moves = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: 1 - page, Qt.Key.Key_PageDown: page - 1,
                 Qt.Key.Key_Home: -(10**9), Qt.Key.Key_End: 10**9, Qt.Key.Key_Space: page - 1}
        key = Qt.Key(event.key())
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self._selected = (0, len(self._shown) - 1)
            self.viewport().update()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._open_first_gap()
        elif key in moves and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            bar.setValue(max(0, bar.value() + moves[key]))
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Open a gap, or begin to select rows."""
        row = self._row_at(event.position().y())
        if event.button() != Qt.MouseButton.LeftButton or row is None:
            return
        if self._shown[row][1].kind == "gap":
            self._open_gap(row)
            return
        extend = event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selected
        self._selected = (self._selected[0], row) if extend and self._selected else (row, row)
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Select rows."""
        row = self._row_at(event.position().y())
        if event.buttons() & Qt.MouseButton.LeftButton and self._selected and row is not None:
            self._selected = (self._selected[0], row)
            self.viewport().update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.Base))
        if self._message:
            painter.setPen(theme.colour("muted"))
            room = QRectF(self.viewport().rect()).adjusted(6 * _PAD, 6 * _PAD, -6 * _PAD, -6 * _PAD)
            painter.drawText(room, int(Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap), self._message)
            return
        top = self.verticalScrollBar().value()
        for i in range(top, min(len(self._shown), top + self._page() + 2)):
            self._paint_row(painter, i, (i - top) * self._height)

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Redraw at the new place."""
        self.viewport().update()

    def _paint_row(self, painter: QPainter, i: int, y: float) -> None:
        row, width = self._shown[i][1], float(self.viewport().width())
        if row.kind == "gap":
            self._paint_gap(painter, row, QRectF(0, y, width, self._height))
        elif self.side_by_side:
            half = width / 2
            self._paint_side(painter, row, row.old, QRectF(0, y, half, self._height), "removed")
            self._paint_side(painter, row, row.new, QRectF(half, y, half, self._height), "added")
            painter.setPen(self.palette().color(QPalette.ColorRole.Mid))
            painter.drawLine(QPointF(half, y), QPointF(half, y + self._height))
        else:
            self._paint_unified(painter, row, QRectF(0, y, width, self._height))
        if self._selected and min(self._selected) <= i <= max(self._selected):
            painter.fillRect(QRectF(0, y, width, self._height), theme.tint("person", 40))

    def _paint_gap(self, painter: QPainter, row: DiffRow, box: QRectF) -> None:
        painter.fillRect(box, self.palette().color(QPalette.ColorRole.AlternateBase))
        painter.setPen(theme.colour("muted"))
        painter.setFont(theme.small_font(self.font()))
        text = self.tr("⋯ %Ln unchanged line(s)", "", plural(row.hidden))
        painter.drawText(box.adjusted(self._gutter + _PAD, 0, 0, 0), int(Qt.AlignmentFlag.AlignVCenter), text)

    def _paint_unified(self, painter: QPainter, row: DiffRow, box: QRectF) -> None:
        line = row.new or row.old
        if line is None:
            return
        meaning = "" if row.kind == "same" else "added" if row.new else "removed"
        if meaning:
            painter.fillRect(box, theme.colour(f"{meaning}_line"))
        self._number(painter, row.old, QRectF(0, box.top(), self._gutter, self._height))
        self._number(painter, row.new, QRectF(self._gutter, box.top(), self._gutter, self._height))
        self._sign(painter, meaning, 2 * self._gutter, box.top())
        spans = self._spans(row.new is not None, line)
        self._text(painter, line, spans, meaning, QRectF(2 * self._gutter + self._cell * 2, box.top(),
                                                         box.width() - 2 * self._gutter - 2 * self._cell, self._height))

    def _paint_side(self, painter: QPainter, row: DiffRow, line: DiffLine | None, box: QRectF, meaning: str) -> None:
        if line is None:
            painter.fillRect(box, self.palette().color(QPalette.ColorRole.AlternateBase))
            return
        if row.kind == "change":
            painter.fillRect(box, theme.colour(f"{meaning}_line"))
        sign = meaning if row.kind == "change" else ""
        self._number(painter, line, QRectF(box.left(), box.top(), self._gutter, self._height))
        self._sign(painter, sign, box.left() + self._gutter, box.top())
        self._text(painter, line, self._spans(meaning == "added", line), sign,
                   box.adjusted(self._gutter + 2 * self._cell, 0, -1, 0))

    def _number(self, painter: QPainter, line: DiffLine | None, box: QRectF) -> None:
        if line is not None:
            painter.setFont(self._font)
            painter.setPen(theme.colour("muted"))
            align = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(box.adjusted(0, 0, -_PAD, 0), align, str(line.number))

    def _sign(self, painter: QPainter, meaning: str, x: float, y: float) -> None:
        if meaning:
            painter.setFont(self._font)
            painter.setPen(theme.colour("keep" if meaning == "added" else "error"))
            painter.drawText(QRectF(x, y, self._cell * 2, self._height), int(Qt.AlignmentFlag.AlignCenter),
                             "+" if meaning == "added" else "−")

    def _spans(self, new: bool, line: DiffLine) -> tuple[Span, ...]:
        table = self._diff.new_spans if new else self._diff.old_spans
        return table[line.number - 1] if line.number <= len(table) else ()

    def _text(self, painter: QPainter, line: DiffLine, spans: tuple[Span, ...], meaning: str, box: QRectF) -> None:
        if not line.text:
            return
        painter.save()
        painter.setClipRect(box)
        layout = QTextLayout(line.text, self._font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        option.setTextDirection(Qt.LayoutDirection.LeftToRight)
        layout.setTextOption(option)
        layout.setFormats([_piece(a, n, ink=theme.colour(name)) for a, n, name in spans]
                          + [_piece(a, n, paper=theme.colour(f"{meaning}_word")) for a, n in line.marks if meaning])
        layout.beginLayout()
        layout.createLine().setLineWidth(1e7)
        layout.endLayout()
        painter.setPen(self.palette().color(QPalette.ColorRole.Text))
        shift = self.horizontalScrollBar().value() * self._cell
        # Wide characters come from a taller font: all rows stand on the same base line.
        top = box.top() + (self._height - self._line) / 2 + self._ascent - layout.lineAt(0).ascent()
        layout.draw(painter, QPointF(box.left() - shift, top))
        painter.restore()

    def _open_gap(self, row: int) -> None:
        self._open.add(self._shown[row][0])
        place = self.verticalScrollBar().value()
        self._lay_out()
        self.verticalScrollBar().setValue(place)

    def _open_first_gap(self) -> None:
        top = self.verticalScrollBar().value()
        for i in range(top, min(len(self._shown), top + self._page())):
            if self._shown[i][1].kind == "gap":
                self._open_gap(i)
                return

    def _row_at(self, y: float) -> int | None:
        row = self.verticalScrollBar().value() + int(y // self._height)
        return row if 0 <= row < len(self._shown) else None

    def _measure(self) -> None:
        self._font = theme.mono_font()
        metrics = QFontMetricsF(self._font)
        self._cell, self._line, self._ascent = metrics.horizontalAdvance("M"), metrics.height(), metrics.ascent()
        self._height = float(round(metrics.height() * 1.12))
        self._gutter = self._cell * 4

    def _lay_out(self) -> None:
        shown = folded(self._diff.rows, self._open)
        self._shown = shown if self.side_by_side else unified(shown)
        last = max((r.new or r.old).number for _, r in self._shown if r.kind != "gap") if any(  # type: ignore[union-attr]
            r.kind != "gap" for _, r in self._shown) else 1
        self._gutter = self._cell * max(3, len(str(last))) + 2 * _PAD
        self._ranges()
        self.viewport().update()

    def _page(self) -> int:
        return max(1, int(self.viewport().height() / self._height))

    def _ranges(self) -> None:
        self.verticalScrollBar().setPageStep(self._page())
        self.verticalScrollBar().setRange(0, max(0, len(self._shown) - self._page()))
        widest = max((len(side.text) for _, r in self._shown for side in (r.old, r.new) if side), default=0)
        gutters = 1 if self.side_by_side else 2
        room = self.viewport().width() / (2 if self.side_by_side else 1) - gutters * self._gutter - 2 * self._cell
        across = max(1, int(room / self._cell))
        self.horizontalScrollBar().setPageStep(across)
        self.horizontalScrollBar().setRange(0, max(0, widest + 2 - across))


def _piece(
    start: int, length: int, *, ink: QColor | None = None, paper: QColor | None = None
) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    form = QTextCharFormat()
    if ink is not None:
        form.setForeground(ink)
    if paper is not None:
        form.setBackground(paper)
    made.start, made.length, made.format = start, length, form
    return made
