"""What is marked in a text view: bands of headings, words that somebody remarked on, matches of what is sought."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from PySide6.QtGui import QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QTextEdit

from app.kit import theme
from app.kit.drawn_text import DrawnText
from app.kit.highlight import units
from app.kit.text_ink import matches, remark_format
from core.domain.anchor import TextAnchor, find_drawn, words_pattern

MARKED_CHARS = 500_000
"""Characters of a text in which matches are marked."""


class TextMarks:
    """The marks of one view; they lie over its letters and change nothing of the text."""

    def __init__(self, edit: DrawnText) -> None:
        self._edit = edit
        self._bands: list[QTextEdit.ExtraSelection] = []
        self._remarks: list[tuple[TextAnchor, str]] = []
        """Words that somebody remarked on and that are in the text, and the remark."""
        self._chosen = 0
        self._sought: re.Pattern[str] | None = None

    def band(self, stretches: Sequence[tuple[int, int]]) -> None:
        """Lay bands over the lines of the headings: from, to."""
        self._bands = [self._band(place) for start, stop in stretches for place in self._blocks_in(start, stop)]
        self._edit.setExtraSelections(self._bands)

    def choose(self, choice: int) -> None:
        """Mark the heading of a choice as chosen; 0: none."""
        if choice != self._chosen:
            self._chosen = choice
            self._bands = [self._band(band.cursor.position()) for band in self._bands]
            self._edit.setExtraSelections(self._bands)
            self.refresh()

    def remark(self, remarks: Sequence[tuple[TextAnchor, str]]) -> None:
        """Underline words that remarks stand on, where they are shown; what is said of them is their tooltip."""
        if list(remarks) != self._remarks:
            self._remarks = list(remarks)
            self.refresh()

    def seek(self, pattern: re.Pattern[str] | None) -> int:
        """Mark every match in what is shown, of a remark's words only those that it stands on, and bring the first into
        sight; returns how many there are."""
        self._sought = pattern
        return self._mark()

    def refresh(self) -> None:
        """Mark anew, in another text."""
        if self._sought is not None:
            self._mark()
        else:
            self._edit.setExtraSelections([*self._bands, *self._remarked()])

    def _mark(self) -> int:
        places = self._places_of_remark() or matches(self._sought, self._first_text())
        marked = (self._match(*place) for place in places)
        self._edit.setExtraSelections([*self._bands, *self._remarked(), *marked])
        if places:
            self._edit.folds.reveal(places[0][0])
            cursor = QTextCursor(self._edit.document())
            cursor.setPosition(places[0][0])
            self._edit.setTextCursor(cursor)
            self._edit.centerCursor()
        return len(places)

    def _remarked(self) -> list[QTextEdit.ExtraSelection]:
        """The words of the remarks, each where it stands."""
        text = self._first_text() if self._remarks else ""
        found = []
        for anchor, remark in self._remarks:
            if place := _drawn_place(anchor, text):
                made = self._match(*place)
                made.format = remark_format(remark)
                found.append(made)
        return found

    def _places_of_remark(self) -> list[tuple[int, int]]:
        """Where the words of a remark stand that is gone to."""
        same = [anchor for anchor, _ in self._remarks if words_pattern(anchor.exact) == self._sought]
        text = self._first_text() if same else ""
        return [place for anchor in same if (place := _drawn_place(anchor, text)) is not None]

    def _first_text(self) -> str:
        """As much of what is shown as can be looked through while the reader types."""
        if self._edit.document().characterCount() <= MARKED_CHARS:
            return self._edit.toPlainText()
        cursor = QTextCursor(self._edit.document())
        cursor.setPosition(MARKED_CHARS, QTextCursor.MoveMode.KeepAnchor)
        return cursor.selectedText().replace("\u2029", "\n")

    def _match(self, start: int, stop: int) -> QTextEdit.ExtraSelection:
        made = self._selection(start)
        made.cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
        made.format.setBackground(theme.tint("attention", 90))
        return made

    def _selection(self, start: int) -> QTextEdit.ExtraSelection:
        made = QTextEdit.ExtraSelection()
        made.cursor = QTextCursor(self._edit.document())
        made.cursor.setPosition(start)
        return made

    def _blocks_in(self, start: int, stop: int) -> Iterator[int]:
        """Where the lines of a stretch begin."""
        block = self._edit.document().findBlock(start)
        while block.isValid() and block.position() < stop:
            yield block.position()
            block = block.next()

    def _band(self, start: int) -> QTextEdit.ExtraSelection:
        made = self._selection(start)
        is_chosen = bool(self._chosen) and self._edit.choice_at(start) == self._chosen
        made.format.setBackground(theme.tint("person", 50) if is_chosen else theme.colour("base"))
        made.format.setProperty(QTextCharFormat.Property.FullWidthSelection, True)
        return made


def _drawn_place(anchor: TextAnchor, text: str) -> tuple[int, int] | None:
    """From where to where, as Qt counts."""
    place = find_drawn(anchor, text)
    if place is None:
        return None
    start = units(text[: place[0]])
    return start, start + units(text[place[0] : place[1]])
