"""The eye: the exact messages the model was given at a step, what entered and left, each with its tokens."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QPaintEvent, QPalette, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QHeaderView,
    QMenu,
    QSizePolicy,
    QSplitter,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
    QToolButton,
    QWidget,
)

from app.kit import quantities, theme, tokens
from app.kit.boxes import column, named, row
from app.kit.flat_model import Index
from app.kit.long_text import LongText
from app.kit.safe_text import PlainLabel
from app.step.context import PLACE, SHOWN, SIZE, TOKENS, WORDS, ContextModel, ShareRole
from app.step.entered_border import BorderRows, span_borders
from app.step.presence import PresenceBar

BAR = 108
"""The width of the column of sizes."""

MOST_LIST = 2 / 3
"""The share of the room that the list of messages takes at most."""


class SizeBars(QStyledItemDelegate):
    """A message's length as a bar beside the longest."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw the bar over the ground of the row."""
        super().paint(painter, option, index)
        share, ink = index.data(ShareRole)
        height = theme.px(8)
        room = QRect(option.rect.left() + 4, option.rect.center().y() - height // 2, option.rect.width() - 8, height)
        painter.fillRect(room, theme.colour("hover"))
        painter.fillRect(QRect(room.left(), room.top(), max(1, round(room.width() * share)), height), theme.colour(ink))


class Figures(QStyledItemDelegate):
    """Figures at the right of the last column, as far from the edge as what stands at the left is."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """The figure and its distance."""
        return super().sizeHint(option, index) + QSize(theme.px(tokens.SIDE), 0)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """The ground of the row, then the figure on it."""
        drawn = QStyleOptionViewItem(option)
        self.initStyleOption(drawn, index)
        text, drawn.text = drawn.text, ""
        style = drawn.widget.style()
        style.drawControl(QStyle.ControlElement.CE_ItemViewItem, drawn, painter, drawn.widget)
        painter.save()
        painter.setFont(drawn.font)
        painter.setPen(drawn.palette.color(QPalette.ColorRole.Text))
        painter.drawText(drawn.rect.adjusted(0, 0, -theme.px(tokens.SIDE), 0), drawn.displayAlignment, text)
        painter.restore()


class EyeView(QWidget):
    """The list of messages above, the chosen message below, and where a text was in the contexts."""

    opened = Signal(str)
    """The hash of the message that the reader chose."""

    gone_asked = Signal()
    """The list of what earlier contexts held is wanted."""

    def __init__(self, model: ContextModel, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._chosen = ""
        self._is_moved = False
        """The reader dragged what parts list and message."""
        self.summary = PlainLabel("", self, elide=True)
        self.shown = named(QComboBox(self), self.tr("Which messages are listed"))
        words = (self.tr("Whole context"), self.tr("Changes"), self.tr("Entered"), self.tr("Left"),
                 self.tr("Gone by now"))
        for key, text in zip(SHOWN, words, strict=True):
            self.shown.addItem(text, key)
        self.table = named(QTableView(self), self.tr("Messages of the context"))
        self.table.setModel(model)
        self.shares = ShareBar(self)
        self.shares.hide()
        self.text = LongText(self, name=self.tr("The chosen message"))
        self.presence = PresenceBar(self)
        self.copy = QToolButton(self, popupMode=QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy.setText(self.tr("Copy"))
        self.copy.setToolTip(self.tr("Copy what the model was given"))
        self.copy.setAccessibleName(self.tr("Copy what the model was given"))
        self.copy.setMenu(QMenu(self.copy))
        self._lay_out()
        self.shown.activated.connect(self._on_shown)
        self.table.selectionModel().currentRowChanged.connect(self._on_current)
        model.modelReset.connect(self._on_reset)
        self.table.activated.connect(self._on_toggled)
        self.table.doubleClicked.connect(self._on_toggled)

    def _lay_out(self) -> None:
        table = self.table
        table.setObjectName("rows")  # in high contrast the frame is around the row, not around each cell
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setShowGrid(False)
        table.setTabKeyNavigation(False)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(theme.px(tokens.HEIGHTS["message"]))
        table.horizontalHeader().setHighlightSections(False)
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setResizeContentsPrecision(40)
        table.horizontalHeader().setSectionResizeMode(WORDS, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(SIZE, QHeaderView.ResizeMode.Fixed)
        table.horizontalHeader().resizeSection(SIZE, theme.px(BAR))
        table.setItemDelegateForColumn(PLACE, BorderRows(table))
        table.setItemDelegateForColumn(SIZE, SizeBars(table))
        table.setItemDelegateForColumn(TOKENS, Figures(table))
        table.setWordWrap(False)
        table.setTextElideMode(Qt.TextElideMode.ElideRight)
        table.setFrameShape(QTableView.Shape.NoFrame)
        table.horizontalHeader().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        split = self._split = QSplitter(Qt.Orientation.Vertical, self, childrenCollapsible=False)
        split.addWidget(table)
        split.addWidget(self.text)
        split.splitterMoved.connect(self._on_moved)
        above = column(row((self.summary, 1), self.shown, self.copy), self.shares, self.presence, spacing=theme.GRID)
        above.setContentsMargins(theme.px(tokens.SIDE), 0, theme.px(tokens.SIDE), theme.GRID)
        column(above, (split, 1), on=self, spacing=0, margin=0)

    def offer(self, actions: Sequence[QAction]) -> None:
        """What the Copy button offers."""
        self.copy.menu().addActions(list(actions))

    def show_context(self) -> None:
        """The model shows another context: tell its sum, choose its last message."""
        self.summary.setText(self._model.summary())
        self.shares.show_shares(self._model.shares, *self._model.tokens())
        rows = self._model.rowCount()
        self.text.placeholder(self._nothing() if not rows else "")
        self._share_room()
        if rows:
            first = self._model.first_holding()
            self.table.selectRow(first if first >= 0 else rows - 1)
            self.table.scrollTo(self._model.index(first if first >= 0 else rows - 1, 0))

    def _on_reset(self) -> None:
        span_borders(self.table)

    def _on_moved(self, *_: object) -> None:
        self._is_moved = True

    def _share_room(self) -> None:
        """The list is as high as its messages, up to two thirds; until the reader gives it another share."""
        room = sum(self._split.sizes())
        if room and not self._is_moved:
            table = self.table
            lines = table.verticalHeader().length() + table.horizontalHeader().height() + 2 * tokens.HAIRLINE
            high = min(lines, round(room * MOST_LIST))
            self._split.setSizes([high, room - high])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another height: the list and the message share it anew."""
        super().resizeEvent(event)
        self._share_room()

    def show_again(self) -> None:
        """More is known of the same messages: the chosen one stays chosen."""
        self.shares.show_shares(self._model.shares, *self._model.tokens())
        at = self._model.row_of(self._chosen)
        if at >= 0:
            self.table.selectRow(at)
            self.table.scrollTo(self._model.index(at, 0))

    def _on_toggled(self, index: QModelIndex) -> None:
        self._model.toggle(index.row())
        self.show_again()

    def _nothing(self) -> str:
        if self._model.shown == "gone":
            return self.tr("Nothing is gone: this context holds all that earlier ones held.")
        return self.tr("Nothing changed since the step before.")

    def _on_shown(self, index: int) -> None:
        self._model.set_shown(self.shown.itemData(index))
        self.show_context()
        if self._model.shown == "gone":
            self.gone_asked.emit()

    def _on_current(self, current: QModelIndex) -> None:
        if current.isValid():
            name = self._model.lines[current.row()].ref.hash
            if name != self._chosen:
                self._chosen = name
                self.opened.emit(name)


INKS = {"system": "edge", "task": "person", "steps": "muted", "errors": "error", "entered": "keep"}
GAP = 2


class ShareBar(QWidget):
    """What a context is made of."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: dict[str, int] = {}
        self._sums: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_shares(self, shares: dict[str, int], total: str, short: str) -> None:
        """Show tokens by kind, and their sum in words, in short where the room is small."""
        self._shares, self._sums = {name: count for name, count in shares.items() if count}, (total, short)
        self.setVisible(bool(self._shares))
        self.setAccessibleName(", ".join([*map(self._words, self._shares), total]))
        self.setToolTip(total)
        self.update()

    def sizeHint(self) -> QSize:
        """The bar and its legend."""
        return QSize(200, theme.px(14) + tokens.BETWEEN + self.fontMetrics().height())

    def _words(self, name: str) -> str:
        word = {"system": self.tr("instructions"), "task": self.tr("task"), "steps": self.tr("earlier steps"),
                "errors": self.tr("errors"), "entered": self.tr("entered")}[name]
        return f"{word} {quantities.tokens(self._shares[name])}"

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        whole, height, x = sum(self._shares.values()) or 1, theme.px(14), 0
        painter.setFont(theme.small_font(self.font()))
        metrics = painter.fontMetrics()
        base, at = height + tokens.BETWEEN + metrics.ascent(), 0
        for name, count in self._shares.items():
            ink = theme.colour(INKS[name])
            width = max(2, round(self.width() * count / whole) - GAP)
            painter.fillRect(QRect(x, 0, width, height), ink)
            x += width + GAP
            painter.fillRect(QRect(at, base - metrics.ascent() // 2 - 4, 8, 8), ink)
            painter.setPen(theme.colour("muted"))
            painter.drawText(at + 13, base, self._words(name))
            at += 13 + metrics.horizontalAdvance(self._words(name)) + tokens.READING
        painter.setPen(theme.colour("muted"))
        fitting = (words for words in self._sums if at + metrics.horizontalAdvance(words) < self.width())
        if words := next(fitting, ""):
            painter.drawText(self.width() - metrics.horizontalAdvance(words), base, words)
        painter.end()
