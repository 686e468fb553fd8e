"""Every command of the window with its key, those first that match what is typed best."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, Qt
from PySide6.QtGui import QAction, QKeySequence

from app.kit import theme
from app.kit.flat_model import Index
from app.kit.safe_text import plain_action


class PaletteCommand(msgspec.Struct, frozen=True):
    """A command: where it stands, its words (also in English), and the action itself."""

    place: str
    action: QAction
    english: str = ""

    @property
    def text(self) -> str:
        """As it is shown: place › words."""
        return f"{self.place} › {plain_action(self.action.text()).rstrip('…')}"

    @property
    def key(self) -> str:
        """Its keys, as this platform writes them."""
        return "  ".join(k.toString(QKeySequence.SequenceFormat.NativeText) for k in self.action.shortcuts())


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
        self.shown = [command for _, _, command in sorted(found, key=_order)]
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:
        """How many match."""
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


def _order(found: tuple[tuple[int, int], int, PaletteCommand]) -> tuple[tuple[int, int], int]:
    return found[0], found[1]
