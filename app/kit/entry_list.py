"""A list of entries that are opened by a click or Enter."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from app.kit.entries import EntriesModel, EntryRole
from app.kit.two_lines_delegate import TwoLinesDelegate


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
