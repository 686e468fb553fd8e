"""A terminal drawn on its own cell grid: monospace, wide characters in two cells, selection and scrollback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QMenu, QWidget

from app.kit import theme
from app.kit.safe_text import visible
from app.kit.terminal_cells import HistoryRow, Row, Run, columns_text, pieces, row_of, row_text
from app.kit.terminal_ink import ink

if TYPE_CHECKING:
    from app.terminals.emulator import Emulator

Spot = tuple[int, int]
"""An absolute line number and a column."""

_MARGIN = 2 * theme.GRID
_SCROLL = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_Home: -(10**9), Qt.Key.Key_End: 10**9}


class TerminalScreen(QAbstractScrollArea):
    """Shows an emulator's history and screen. It only reads; keys scroll, select and copy."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._emulator: Emulator | None = None
        self._rows: list[Row] = []
        self._anchor: Spot | None = None
        self._end: Spot | None = None
        self._ends_seen = True
        self._zoom = 0.0
        self._first = 0
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(self.tr("Terminal"))
        self.viewport().setCursor(Qt.CursorShape.IBeamCursor)
        self._copy = QAction(self.tr("Copy"), self)
        self._copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        self._copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._copy.triggered.connect(self.copy)
        self._all = QAction(self.tr("Select all"), self)
        self._all.setShortcut(QKeySequence(QKeySequence.StandardKey.SelectAll))
        self._all.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        self._all.triggered.connect(self.select_all)
        self.addActions([self._copy, self._all])
        self.verticalScrollBar().valueChanged.connect(self._on_scrolled)
        self._measure()

    def show_emulator(self, emulator: Emulator | None) -> None:
        """Show another terminal, at its end."""
        self._emulator, self._ends_seen = emulator, True
        self._anchor = self._end = None
        self.refresh()

    def refresh(self) -> None:
        """Draw what the emulator holds now; what is read above the end stays where it is."""
        self._rows = self._emulator.screen_rows() if self._emulator else []
        stay = None if self._ends_seen else self.verticalScrollBar().value() + self._first
        self._first = self._emulator.dropped if self._emulator else 0
        self._ranges()
        bar = self.verticalScrollBar()
        bar.setValue(bar.maximum() if stay is None else stay - self._first)
        self.viewport().update()

    def text(self) -> str:
        """Everything, history and screen, as plain text."""
        return "\n".join(row_text(self._row(i)) for i in range(self._first, self._first + self._count()))

    def selected_text(self) -> str:
        """The selected text; "" when nothing is."""
        if self._anchor is None or self._end is None:
            return ""
        start, stop = sorted((self._anchor, self._end))
        lines = []
        for line in range(max(start[0], self._first), min(stop[0], self._first + self._count() - 1) + 1):
            first = start[1] if line == start[0] else 0
            last = stop[1] if line == stop[0] else 10**6
            lines.append(columns_text(self._row(line), first, last).rstrip())
        return "\n".join(lines)

    def copy(self) -> None:
        """Put the selection, else everything on the screen, into the clipboard as plain text."""
        text = self.selected_text() or "\n".join(row_text(r) for r in self._rows)
        QGuiApplication.clipboard().setText(visible(text))

    def select_all(self) -> None:
        """Select history and screen."""
        self._anchor, self._end = (self._first, 0), (self._first + self._count() - 1, 10**6)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        """Follow the font and the colours of the application."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.ApplicationFontChange):
            self._measure()
        ink.cache_clear()
        self.viewport().update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The end stays in sight."""
        super().resizeEvent(event)
        self.refresh()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Scroll by keys; Ctrl with + and − changes the size of the characters."""
        bar, key = self.verticalScrollBar(), Qt.Key(event.key())
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        if control and key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_0):
            self._zoom = {Qt.Key.Key_Minus: self._zoom - 1, Qt.Key.Key_0: 0.0}.get(key, self._zoom + 1)
            self._measure()
            self.refresh()
        elif key in _SCROLL and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            bar.setValue(bar.value() + _SCROLL[key])
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            bar.setValue(bar.value() + (bar.pageStep() - 1) * (1 if key == Qt.Key.Key_PageDown else -1))
        else:
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a selection; with Shift, extend it."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        spot = self._spot(event.position().toPoint())
        if not (event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._anchor):
            self._anchor = spot
        self._end = spot
        self.viewport().update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Extend the selection, scrolling at the edges."""
        if not event.buttons() & Qt.MouseButton.LeftButton:
            return
        y, bar = event.position().y(), self.verticalScrollBar()
        if y < 0 or y > self.viewport().height():
            bar.setValue(bar.value() + (1 if y > 0 else -1))
        self._end = self._spot(event.position().toPoint())
        self.viewport().update()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Select the word under the pointer."""
        line, column = self._spot(event.position().toPoint())
        text = row_text(self._row(line))
        start = end = min(column, max(0, len(text) - 1))
        while start > 0 and not text[start - 1].isspace():
            start -= 1
        while end < len(text) and not text[end].isspace():
            end += 1
        self._anchor, self._end = (line, start), (line, end)
        self.viewport().update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Copy and select all."""
        menu = QMenu(self)
        menu.addActions([self._copy, self._all])
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(event.globalPos())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self.palette().color(QPalette.ColorRole.Base))
        top = self.verticalScrollBar().value() + self._first
        left = _MARGIN - self.horizontalScrollBar().value() * self._cell
        for i in range(self._visible_lines() + 1):
            line = top + i
            if line >= self._first + self._count():
                break
            self._paint_row(painter, self._row(line), left, _MARGIN / 2 + i * self._height)
            self._paint_selection(painter, line, left, _MARGIN / 2 + i * self._height)
        self._paint_cursor(painter, top, left)

    def _paint_row(self, painter: QPainter, row: Row, left: float, top: float) -> None:
        default = self.palette().color(QPalette.ColorRole.Text)
        base = self.palette().color(QPalette.ColorRole.Base)
        for run in row:
            box = QRect(round(left + run.column * self._cell), round(top), round(run.cells * self._cell) + 1,
                        round(self._height))
            if box.right() < 0 or box.left() > self.viewport().width():
                continue
            foreground, paper = ink(run.style, default.rgb(), base.rgb())
            if paper is not None:
                painter.fillRect(box.adjusted(0, 0, -1, 0), paper)
            painter.setPen(foreground)
            painter.setFont(self._font_of(run))
            if run.cells == len(run.text) or len(run.text) == 1:
                painter.drawText(box.left(), round(top + self._ascent), run.text)
                continue
            for column, piece, _ in pieces(run):
                painter.drawText(round(left + column * self._cell), round(top + self._ascent), piece)

    def _font_of(self, run: Run) -> QFont:
        style = run.style
        key = (style.bold, style.italics, style.underscore, style.strikethrough)
        if key not in self._fonts:
            font = QFont(self._font)
            font.setBold(style.bold)
            font.setItalic(style.italics)
            font.setUnderline(style.underscore)
            font.setStrikeOut(style.strikethrough)
            self._fonts[key] = font
        return self._fonts[key]

    def _paint_selection(self, painter: QPainter, line: int, left: float, top: float) -> None:
        if self._anchor is None or self._end is None or self._anchor == self._end:
            return
        start, stop = sorted((self._anchor, self._end))
        if not start[0] <= line <= stop[0]:
            return
        first = start[1] if line == start[0] else 0
        last = stop[1] if line == stop[0] else self._emulator.columns if self._emulator else 0
        box = QRect(round(left + first * self._cell), round(top), round((last - first) * self._cell),
                    round(self._height))
        painter.fillRect(box, theme.tint("live", 70))

    def _paint_cursor(self, painter: QPainter, top: int, left: float) -> None:
        if self._emulator is None or not self._emulator.cursor[2]:
            return
        column, row, _ = self._emulator.cursor
        line = self._first + len(self._history()) + row - top
        box = QRect(round(left + column * self._cell), round(_MARGIN / 2 + line * self._height), round(self._cell),
                    round(self._height) - 1)
        painter.fillRect(box, theme.tint("live", 110))

    def _measure(self) -> None:
        size = QGuiApplication.font().pointSizeF() + self._zoom
        self._font = theme.mono_font(max(6.0, size - 0.5))
        self._font.setFixedPitch(True)
        self._font.setKerning(False)
        self._fonts: dict[tuple[bool, bool, bool, bool], QFont] = {}
        metrics = QFontMetricsF(self._font)
        self._cell = metrics.horizontalAdvance("M" * 32) / 32
        self._height = float(round(metrics.height() * 1.06))
        self._ascent = metrics.ascent() + (self._height - metrics.height()) / 2

    def _history(self) -> list[HistoryRow]:
        return self._emulator.history if self._emulator and not self._emulator.alternate else []

    def _count(self) -> int:
        return len(self._history()) + len(self._rows)

    def _row(self, line: int) -> Row:
        history = self._history()
        at = line - self._first
        if 0 <= at < len(history):
            return row_of(history[at])
        return self._rows[at - len(history)] if 0 <= at - len(history) < len(self._rows) else ()

    def _visible_lines(self) -> int:
        return max(1, int((self.viewport().height() - _MARGIN) / self._height))

    def _ranges(self) -> None:
        bar, page = self.verticalScrollBar(), self._visible_lines()
        bar.blockSignals(True)
        bar.setPageStep(page)
        bar.setRange(0, max(0, self._count() - page))
        bar.blockSignals(False)
        columns = self._emulator.columns if self._emulator else 0
        across = int((self.viewport().width() - 2 * _MARGIN) / self._cell)
        widest = max((r[-1].column + r[-1].cells for r in self._rows if r), default=0)
        self.horizontalScrollBar().setPageStep(max(1, across))
        self.horizontalScrollBar().setRange(0, max(0, min(columns, widest + 1) - across))

    def _on_scrolled(self, value: int) -> None:
        self._ends_seen = value >= self.verticalScrollBar().maximum()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        """Redraw at the new place."""
        self.viewport().update()

    def _spot(self, point: QPoint) -> Spot:
        line = self.verticalScrollBar().value() + int((point.y() - _MARGIN / 2) // self._height)
        line = max(0, min(line, self._count() - 1))
        column = (point.x() - _MARGIN) / self._cell + self.horizontalScrollBar().value()
        return self._first + line, max(0, round(column))
