"""The command palette: type some letters of a command, those that match best come first, Enter does it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from PySide6.QtCore import QAbstractTableModel, QEvent, QModelIndex, QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QDialog, QHeaderView, QTableView, QWidget

from app.kit import theme
from app.kit.boxes import column, named, words_box
from app.kit.flat_model import Index
from app.kit.safe_text import PlainLabel, plain_action
from app.kit.scrolled import within

if TYPE_CHECKING:
    from app.window.palette_controller import PaletteCommand


def rank(command: PaletteCommand, words: str) -> tuple[int, int] | None:
    """How well a command matches: the less the better; None where a word is missing."""
    text = f"{command.text} {plain_action(command.english)}".casefold()
    wanted = words.casefold().split()
    if not all(word in text for word in wanted):
        return None
    own = plain_action(command.action.text()).casefold()
    starts = sum(not (own.startswith(word) or f" {word}" in f" {own}") for word in wanted)
    return (0 if command.action.isEnabled() else 1, starts)


class PaletteModel(QAbstractTableModel):
    """Two columns: the command and its keys."""

    def __init__(self, commands: Sequence[PaletteCommand], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._all = list(commands)
        self.shown = list(commands)
        self.look_for("")

    def look_for(self, words: str) -> None:
        """List what holds all these words, the best match first; what cannot be done now comes last."""
        found = [(score, number, command) for number, command in enumerate(self._all)
                 if (score := rank(command, words)) is not None]
        self.beginResetModel()
        self.shown = [command for _, _, command in sorted(found, key=itemgetter(0, 1))]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        return 0 if parent.isValid() else len(self.shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:
        """Command and keys."""
        return 0 if parent.isValid() else 2

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """Text, alignment and colour."""
        if not index.isValid() or index.row() >= len(self.shown):
            return None
        command = self.shown[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return command.key if index.column() else command.text
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{command.text} {command.key}".strip()
        if role == Qt.ItemDataRole.TextAlignmentRole and index.column():
            return int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        if role == Qt.ItemDataRole.ForegroundRole and (index.column() or not command.action.isEnabled()):
            return theme.colour("muted")
        return None


_MOVES = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


class Palette(QDialog):
    """`chosen` gives the action; it is done by whoever opened the palette, once this is closed."""

    chosen = Signal(QAction)

    def __init__(self, commands: Sequence[PaletteCommand], parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Commands"))
        metrics = self.fontMetrics()
        self.resize(within(parent, 72 * metrics.averageCharWidth(), 24 * metrics.height()))
        self.box = words_box(self, self.tr("Type a command: some letters are enough"), self.tr("Command"))
        self.box.installEventFilter(self)
        self.model = PaletteModel(commands, self)
        self.table = named(QTableView(self, showGrid=False), self.tr("Matching commands"))
        self.table.setModel(self.model)
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
