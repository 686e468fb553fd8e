"""The list of queues: mine, queues, filters, servers; one line is chosen."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QPainter, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.desk.queue_book import Shown
from app.kit import icons, quantities, theme, tokens
from app.kit.action_button import IconButton
from app.kit.boxes import column, row
from app.kit.flat_model import Index
from app.kit.row_paint import fill_ground, write
from app.kit.safe_text import PlainLabel
from app.queues.model import QueueSource, SourceRole, SourcesModel


class QueuesView(QWidget):
    """`chosen` says what is to be listed."""

    chosen = Signal(object)
    came_up = Signal()
    """It can be seen from now on."""

    def __init__(self, model: SourcesModel, make: QAction, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._quiet = False
        self.count = PlainLabel("", self, faint=True)
        title = PlainLabel(self.tr("Sessions"), self, font=theme.bold_font(self.font()))
        self.list = QListView(self)
        self.list.setModel(model)
        self.list.setItemDelegate(SourceDelegate(self.list))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("What there is to work through"))
        self.list.setObjectName("sources")
        head = row(title, self.count, 1, IconButton(make, "plus", self), spacing=theme.px(tokens.BETWEEN),
                   margin=(theme.px(tokens.SIDE), theme.px(4), theme.px(4), theme.px(4)))
        column(head, (self.list, 1), on=self, spacing=0, margin=0)
        self.list.selectionModel().selectionChanged.connect(self._on_selected)

    def showEvent(self, event: QShowEvent) -> None:
        """What is hidden counts nothing."""
        super().showEvent(event)
        self.came_up.emit()

    def show_count(self, total: int) -> None:
        """How many sessions there are in all."""
        self.count.setText(quantities.number(total))

    def show_chosen(self, shown: Shown) -> None:
        """Mark what is listed."""
        at = next((i for i, line in enumerate(self._model.rows) if line.shown == shown), -1)
        self._quiet = True
        if at >= 0:
            self.list.setCurrentIndex(self._model.index(at))
        else:
            self.list.selectionModel().clear()
        self._quiet = False

    def _on_selected(self, selected: QItemSelection) -> None:
        rows = [index.row() for index in selected.indexes()]
        if rows and not self._quiet:
            self.chosen.emit(self._model.rows[rows[0]].shown)


ENTRY, HEADING = 28, 28


class SourceDelegate(QStyledItemDelegate):
    """One line each; the chosen one has the cursor's bar."""

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """A heading has room above it."""
        line: QueueSource | None = index.data(SourceRole)
        return QSize(120, theme.px(HEADING if line is not None and line.shown is None else ENTRY))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line: QueueSource = index.data(SourceRole)
        rect: QRect = option.rect
        painter.save()
        side = theme.px(tokens.SIDE)
        if line.shown is None:
            write(painter, rect.adjusted(side, theme.px(6), -side, 0), line.title, "muted",
                  theme.font_of("caption", option.font))
        else:
            fill_ground(painter, option, hovers=True, bar=True)
            self._entry(painter, line, rect.adjusted(side, 0, -theme.px(8), 0), option)
        painter.restore()

    def _entry(self, painter: QPainter, line: QueueSource, room: QRect, option: QStyleOptionViewItem) -> None:
        small = theme.px(14)
        icons.draw(painter, line.icon, QRectF(room.left(), room.center().y() - small / 2 + 0.5, small, small),
                   theme.colour(line.meaning))
        figures = theme.font_of("caption", option.font)
        width = write(painter, room, line.right, "muted", figures, right=True) + theme.px(tokens.BETWEEN)
        font = theme.mono_font(option.font.pointSizeF()) if line.is_query else option.font
        text = room.adjusted(small + theme.px(6), 0, -width, 0)
        at = text.left() + write(painter, text, line.title, "ink", font) + theme.px(4)
        if line.is_done:
            icons.draw(painter, "check", QRectF(at, text.center().y() - theme.px(6), theme.px(12), theme.px(12)),
                       theme.colour("keep"))
