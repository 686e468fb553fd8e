"""The list of queues: mine, queues, filters, servers; one line is chosen."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, Qt, Signal
from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.desk.queue_book import Shown
from app.kit import quantities, theme, tokens
from app.kit.action_button import IconButton
from app.kit.boxes import column, row
from app.kit.safe_text import PlainLabel
from app.queues.model import SourcesModel
from app.queues.row import SourceDelegate


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
        title = PlainLabel(self.tr("Sessions"), self)
        title.setFont(theme.bold_font(self.font()))
        self.list = QListView(self)
        self.list.setModel(model)
        self.list.setItemDelegate(SourceDelegate(self.list))
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(self.tr("What there is to work through"))
        self.list.setObjectName("sources")
        head = row(title, self.count, 1, IconButton(make, "plus", self), spacing=theme.px(tokens.BETWEEN))
        head.setContentsMargins(theme.px(tokens.SIDE), theme.px(4), theme.px(4), theme.px(4))
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
        at = next((i for i, line in enumerate(self._model.lines) if line.shown == shown), -1)
        self._quiet = True
        if at >= 0:
            self.list.setCurrentIndex(self._model.index(at))
        else:
            self.list.selectionModel().clear()
        self._quiet = False

    def _on_selected(self, selected: QItemSelection) -> None:
        rows = [index.row() for index in selected.indexes()]
        if rows and not self._quiet:
            self.chosen.emit(self._model.lines[rows[0]].shown)
