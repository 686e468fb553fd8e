"""The outline as a Qt model: lines that are written when they are painted, phases that fold, words that filter."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from PySide6.QtCore import QObject, Qt

from app.kit.flat_model import SPOKEN, FlatModel, Index
from app.outline.lines import LineText, Outlined, OutlineLine, text_of

LineRole = int(Qt.ItemDataRole.UserRole) + 1
LineTextRole = LineRole + 1


class OutlineModel(FlatModel[OutlineLine]):
    """Shows the lines that no fold hides; with words those alone that hold them all, whatever is folded."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._lines: list[OutlineLine] = []
        self._sessions: Mapping[str, Outlined] = {}
        self._folded: set[tuple[str, str, int]] = set()
        self._filled: set[tuple[str, str, int]] = set()
        """The phases with something in them."""
        self._words: list[str] = []
        self._texts: dict[tuple[object, int, int], LineText] = {}
        """By key, last item and depth: a line may tell of a row that holds a mapping, which is no key itself."""

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        """The line, how it is written, or its text for assistive technology."""
        line = self.row_at(index)
        if line is None or role == LineRole:
            return line
        if role == LineTextRole:
            return self._text(line)
        return self._text(line).spoken if role in SPOKEN else None

    def show(self, lines: list[OutlineLine], sessions: Mapping[str, Outlined]) -> None:
        """Show these lines of these sessions; where nothing is another, nothing moves."""
        self._sessions, self._texts = sessions, {}
        if lines == self._lines:
            self.draw_anew()
            return
        self._lines = lines
        self._filled = {line.key for line, after in pairwise(lines) if line.depth == 0 < after.depth}
        self._show_again()

    def filter(self, words: str) -> None:
        """Show only the lines that hold all these words."""
        self._words = words.casefold().split()
        self._show_again()

    def fold(self, row: int, on: bool) -> bool:
        """Fold or open the phase of a row; whether that changed anything."""
        if not self.is_phase(row) or on == self.is_folded(row):
            return False
        (self._folded.add if on else self._folded.discard)(self.rows[row].key)
        self._show_again()
        return True

    def is_phase(self, row: int) -> bool:
        """Whether a row is a phase with something in it."""
        return 0 <= row < len(self.rows) and self.rows[row].key in self._filled

    def is_folded(self, row: int) -> bool:
        """Whether what is in the phase of a row is hidden."""
        return self.rows[row].key in self._folded

    def line(self, row: int) -> OutlineLine | None:
        """The line of a row."""
        return self.rows[row] if 0 <= row < len(self.rows) else None

    def row_of(self, session: str, item: int) -> int:
        """The row that tells most closely of an item: the deepest, and of these the last that begins before it ends."""
        inside = [row for row, line in enumerate(self.rows) if line.session == session and line.kind != "pause"
                  and 0 <= line.first <= item <= max(line.first, line.last)]
        if inside:
            return max(inside, key=lambda row: (self.rows[row].depth, self.rows[row].first - self.rows[row].last))
        return next((row for row, line in enumerate(self.rows) if getattr(line.what, "session", "") == session), -1)

    def _show_again(self) -> None:
        self.put([line for line in self._lines if self._has_words(line)] if self._words else self._unfolded())

    def _unfolded(self) -> list[OutlineLine]:
        shown, hides = [], False
        for line in self._lines:
            if line.depth == 0:
                hides = line.key in self._folded
            if line.depth == 0 or not hides:
                shown.append(line)
        return shown

    def _has_words(self, line: OutlineLine) -> bool:
        text = self._text(line).spoken.casefold()
        return all(word in text for word in self._words)

    def _text(self, line: OutlineLine) -> LineText:
        key = line.key, line.last, line.depth
        held = self._texts.get(key)
        if held is None:
            one = self._sessions[line.session]
            held = self._texts[key] = text_of(line, one.trajectory, one.reader)
        return held
