"""Stretches of lines of a text view that can be folded away: objects of JSON, and all but the first lines of an output.

A fold hides whole lines; the line before it stays and says how many there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from PySide6.QtGui import QTextBlock, QTextDocument

SHOWN_LINES = 24
"""Lines of a terminal's output that stand there at first."""

SPARED = 4
"""An output that has no more lines beyond that is shown whole."""

OPEN_DEPTH, SHORT_JSON = 1, 40
"""JSON of more lines is folded below this depth at first."""


class LineFold(msgspec.Struct):
    """Lines first..last (counted in the whole text) below line `head`. `is_rest`: the head counts what is left out,
    and goes when it is opened."""

    head: int
    first: int
    last: int
    is_folded: bool = False
    is_rest: bool = False


def json_folds(text: str) -> Iterator[LineFold]:
    """The objects and lists of laid-out JSON, each with the line that closes it."""
    opened: list[tuple[int, int]] = []
    lines = text.rstrip("\n").split("\n")
    is_long = len(lines) > SHORT_JSON
    for number, line in enumerate(lines):
        bare = line.strip()
        if opened and bare[:1] in ("}", "]"):
            head, depth = opened.pop()
            yield LineFold(head, head + 1, number, is_long and depth > OPEN_DEPTH)
        if bare.endswith(("{", "[")):
            opened.append((number, len(opened) + 1))


class TextFolds:
    """The folds of one document, inner ones before the outer; lines are hidden and shown by it alone."""

    def __init__(self, document: QTextDocument) -> None:
        self._document = document
        self.folds: dict[int, LineFold] = {}
        """The folds by the number of the line that stays."""

    def clear(self) -> None:
        """The text is another one."""
        self.folds = {}

    def add(self, fold: LineFold) -> None:
        """A fold of lines that stand there."""
        self.folds[fold.head] = fold

    def at(self, line: int) -> LineFold | None:
        """The fold of which a line is the head."""
        return self.folds.get(line)

    def toggle(self, fold: LineFold) -> None:
        """Open or fold."""
        fold.is_folded = not fold.is_folded
        self.apply()

    def reveal(self, position: int) -> bool:
        """Open whatever hides a place; whether anything did."""
        line = self._document.findBlock(position).blockNumber()
        hiding = [fold for fold in self.folds.values() if fold.is_folded and fold.first <= line <= fold.last]
        for fold in hiding:
            fold.is_folded = False
        if hiding:
            self.apply()
        return bool(hiding)

    def apply(self) -> None:
        """Hide what is folded and show the rest."""
        if not self.folds:
            return
        hidden: set[int] = set()
        for fold in self.folds.values():
            if fold.is_folded:
                hidden.update(range(fold.first, fold.last + 1))
            elif fold.is_rest:
                hidden.add(fold.head)
        first = min(min(fold.head, fold.first) for fold in self.folds.values())
        last = max(max(fold.head, fold.last) for fold in self.folds.values())
        block = self._document.findBlockByNumber(first)
        start = block.position()
        while block.isValid() and block.blockNumber() <= last:
            _show(block, block.blockNumber() not in hidden)
            block = block.next()
        end = block.position() if block.isValid() else self._document.characterCount() - 1
        self._document.markContentsDirty(start, max(1, end - start))
        layout = self._document.documentLayout()
        layout.documentSizeChanged.emit(layout.documentSize())


def _show(block: QTextBlock, on: bool) -> None:
    if block.isVisible() != on:
        block.setVisible(on)
        block.setLineCount(max(1, block.layout().lineCount()) if on else 0)
