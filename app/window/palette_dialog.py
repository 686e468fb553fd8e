"""The command palette: type some letters of a command, Enter does it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHeaderView, QLineEdit, QTableView, QWidget

from app.kit import theme
from app.kit.boxes import column
from app.kit.safe_text import PlainLabel
from app.kit.scrolled import within
from app.window.palette import PaletteCommand, PaletteModel

_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Palette(QDialog):
    """`chosen` gives the action; it is done by whoever opened the palette, once this is closed."""

    chosen = Signal(QAction)

    def __init__(self, commands: Sequence[PaletteCommand], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Commands"))
        metrics = self.fontMetrics()
        self.resize(within(parent, 72 * metrics.averageCharWidth(), 24 * metrics.height()))
        self.box = QLineEdit(self, placeholderText=self.tr("Type a command: some letters are enough"))
        self.box.setAccessibleName(self.tr("Command"))
        self.box.installEventFilter(self)
        self.model = PaletteModel(commands, self)
        self.table = QTableView(self)
        self.table.setModel(self.model)
        self.table.setAccessibleName(self.tr("Matching commands"))
        self.nothing = PlainLabel(self.tr("No command has these letters."), self, faint=True)
        self._lay_out()
        self.box.textChanged.connect(self._on_text)
        self.box.returnPressed.connect(self._choose_row)
        self.table.clicked.connect(self._choose_row)
        self._on_text("")

    def _lay_out(self) -> None:
        table = self.table
        table.horizontalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.horizontalHeader().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        table.verticalHeader().hide()
        table.verticalHeader().setDefaultSectionSize(self.fontMetrics().height() + 2 * theme.GRID)
        table.setShowGrid(False)
        table.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        table.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        column(self.box, self.nothing, table, on=self, spacing=2 * theme.GRID, margin=2 * theme.GRID)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Up, Down and the page keys move in the list while one types."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in _MOVES:
            page = max(1, self.table.viewport().height() // max(1, self.table.rowHeight(0)))
            by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1, Qt.Key.Key_PageUp: -page}.get(Qt.Key(event.key()), page)
            row = self.table.currentIndex().row() + by
            self.table.selectRow(max(0, min(self.model.rowCount() - 1, row)))
            return True
        return super().eventFilter(watched, event)

    def _on_text(self, words: str) -> None:
        self.model.look_for(words)
        self.nothing.setVisible(not self.model.rowCount())
        self.table.selectRow(0)

    def _choose_row(self) -> None:
        row = self.table.currentIndex().row()
        if 0 <= row < self.model.rowCount() and self.model.shown[row].action.isEnabled():
            self.chosen.emit(self.model.shown[row].action)
            self.accept()
