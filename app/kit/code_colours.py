"""The colours of code in a text view: laid over its letters, for long texts from a thread."""

from __future__ import annotations

import bisect
from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtGui import QTextBlock, QTextCharFormat, QTextDocument, QTextLayout

from app.kit import theme
from app.kit.background import BackgroundWork
from app.kit.highlight import Span, spans, units

INLINE = 20_000
"""Texts up to this many characters are coloured at once; longer ones in a thread."""

CodePlace = tuple[int, str, str]
"""Where a piece of code stands in the text, the piece, and the Pygments name of its language."""


class CodeColours(QObject):
    """Colours the code of one document."""

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._places: tuple[CodePlace, ...] = ()
        self._work = BackgroundWork(self)
        self._work.done.connect(self._colour_places)

    def show(self, places: Sequence[CodePlace]) -> None:
        """Colour these pieces; what is still being looked for of others is dropped."""
        self._work.drop()
        self._places = tuple(places)
        if sum(len(text) for _, text, _ in self._places) <= INLINE:
            self._colour_places(_all_spans(self._places))
        else:
            self._work.start(_all_spans, self._places)

    def _colour_places(self, found: list[Span]) -> None:
        starts = [start for start, _, _ in found]
        formats = {name: _ink(name) for name in {n for _, _, n in found}}
        for place, text, _ in self._places:
            block, end = self._document.findBlock(place), place + units(text)
            while block.isValid() and block.position() < end:
                _colour_block(block, found, starts, formats)
                block = block.next()
            self._document.markContentsDirty(place, units(text))


def _colour_block(block: QTextBlock, found: list[Span], starts: list[int], formats: dict[str, QTextCharFormat]) -> None:
    first, last = block.position(), block.position() + block.length()
    ranges = []
    for start, length, name in found[max(0, bisect.bisect_right(starts, first) - 1) : bisect.bisect_left(starts, last)]:
        low, high = max(start, first), min(start + length, last)
        if low < high:
            piece = QTextLayout.FormatRange()
            piece.start, piece.length, piece.format = low - first, high - low, formats[name]
            ranges.append(piece)
    block.layout().setFormats(ranges)


def _all_spans(places: Sequence[CodePlace]) -> list[Span]:
    return [(start + at, n, name) for start, text, lexer in places for at, n, name in spans(text, lexer)]


def _ink(name: str) -> QTextCharFormat:
    made = QTextCharFormat()
    made.setForeground(theme.colour(name))
    return made
