"""A list of two-line entries: what each stands for, how it is drawn with matches marked; a click or Enter opens one."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QModelIndex, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QPainter, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.kit import theme
from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.kit.row_paint import fill_ground, write

TwoLinesRole = int(Qt.ItemDataRole.UserRole) + 1
EntryRole = TwoLinesRole + 1
PAD = 2 * theme.GRID


class TwoLines(msgspec.Struct, frozen=True):
    """One entry. `meaning` colours `sign`; `spans` are (start, stop) of `below` that are marked."""

    title: str
    below: str
    sign: str = ""
    meaning: str = "muted"
    right: str = ""
    spans: tuple[tuple[int, int], ...] = ()

    @property
    def spoken(self) -> str:
        """The entry as one text."""
        return ", ".join(t for t in (self.title, self.right, self.below) if t)


class EntriesModel(FlatModel[tuple[object, TwoLines]]):
    """Entries (what it stands for, how it is drawn). The same list shown again moves nothing."""

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The lines (TwoLinesRole), what they stand for (EntryRole), or the text for assistive technology."""
        what, lines = self.row_at(index) or (None, None)
        if role == TwoLinesRole:
            return lines
        if role == EntryRole:
            return what
        return lines.spoken if lines is not None and role in SPOKEN else None

    def show(self, entries: Sequence[tuple[object, TwoLines]]) -> None:
        """Show other entries."""
        if list(entries) != self.rows:
            self.put(entries, same=[what for what, _ in entries] == [what for what, _ in self.rows])

    def grow(self, entries: Sequence[tuple[object, TwoLines]]) -> None:
        """Show a longer list that begins with as many rows as there are: nothing moves, what differs is drawn anew."""
        known = len(self.rows)
        for row, entry in enumerate(entries[:known]):
            if entry != self.rows[row]:
                self.rows[row] = entry
                self.dataChanged.emit(self.index(row), self.index(row))
        if len(entries) > known:
            self.beginInsertRows(QModelIndex(), known, len(entries) - 1)
            self.rows += entries[known:]
            self.endInsertRows()


class TwoLinesDelegate(QStyledItemDelegate):
    """Every entry has the same height."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Two lines and the room round them."""
        return QSize(120, 2 * QFontMetrics(option.font).height() + PAD + theme.GRID)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        lines: TwoLines | None = index.data(TwoLinesRole)
        if lines is None:
            return
        rect: QRect = option.rect
        font: QFont = option.font
        painter.save()
        fill_ground(painter, option)
        height = QFontMetrics(font).height()
        line = QRect(rect.left() + PAD, rect.top() + theme.GRID, rect.width() - 2 * PAD, height)
        self._first(painter, lines, line, font)
        self._below(painter, lines, QRect(line.left(), line.bottom() + 3, line.width(), height), theme.small_font(font))
        painter.setPen(theme.colour("line"))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.restore()

    def _first(self, painter: QPainter, lines: TwoLines, line: QRect, font: QFont) -> None:
        small = theme.small_font(font)
        right = line.right()
        if lines.right:
            width = QFontMetrics(small).horizontalAdvance(lines.right)
            write(painter, QRect(right - width, line.top(), width + 1, line.height()), lines.right, "muted", small)
            right -= width + PAD
        left, bold = line.left(), theme.bold_font(font)
        if lines.sign:
            room = QRect(left, line.top(), right - left, line.height())
            left += write(painter, room, lines.sign, lines.meaning, bold) + theme.GRID
        write(painter, QRect(left, line.top(), max(0, right - left), line.height()), lines.title, "ink", bold)

    def _below(self, painter: QPainter, lines: TwoLines, line: QRect, font: QFont) -> None:
        shown = QFontMetrics(font).elidedText(lines.below, Qt.TextElideMode.ElideRight, line.width())
        layout = QTextLayout(shown, font)
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.NoWrap)
        layout.setTextOption(option)
        layout.setFormats([_mark(start, stop) for start, stop in lines.spans if stop <= len(shown)])
        layout.beginLayout()
        layout.createLine().setLineWidth(line.width())
        layout.endLayout()
        painter.setPen(theme.colour("muted"))
        layout.draw(painter, QPointF(line.topLeft()))


def _mark(start: int, stop: int) -> QTextLayout.FormatRange:
    made = QTextLayout.FormatRange()
    made.start, made.length = start, stop - start
    format = QTextCharFormat()
    format.setForeground(theme.colour("ink"))
    format.setBackground(theme.tint("attention", 90))
    made.format = format
    return made


class EntryList(QListView):
    """`opened` says what the chosen entry stands for."""

    opened = Signal(object)

    def __init__(self, model: EntriesModel, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setModel(model)
        self.setItemDelegate(TwoLinesDelegate(self))
        self.setUniformItemSizes(True)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(name)
        self.clicked.connect(self._open_entry)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter opens."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._open_entry(self.currentIndex())
            return
        super().keyPressEvent(event)

    def _open_entry(self, index: QModelIndex) -> None:
        self.opened.emit(index.data(EntryRole))
