"""Rows of a terminal as runs of one style: compact to keep, quick to draw."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple


class Cell(NamedTuple):
    """One character with its style: the fields of pyte's own, to which it is equal. The window has it without loading
    pyte, whose tables of widths take longer than all terminals' views."""

    data: str
    fg: str = "default"
    bg: str = "default"
    bold: bool = False
    italics: bool = False
    underscore: bool = False
    strikethrough: bool = False
    reverse: bool = False
    blink: bool = False


PLAIN = Cell(" ")
_PARTS = re.compile("[ -~]+|([\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\uff01-\uff60]+)|.")


class Run(NamedTuple):
    """Text of one style that begins in a column: of narrow ASCII characters, or of wide ones (two cells each), or
    a single other character with what combines with it."""

    column: int
    text: str
    style: Cell
    cells: int


Row = tuple[Run, ...]
HistoryRow = Row | str


def compact(line: Mapping[int, Cell]) -> Row:
    """A screen line as runs, without the blanks at its end."""
    runs: list[Run] = []
    start, text, style = 0, "", PLAIN
    for x, char in _cells(line):
        if char.data.isascii():
            plain = _STYLES.get(char) or _style(char)
            if plain is style and start + len(text) == x:
                text += char.data
                continue
            if text:
                runs.append(Run(start, text, style, len(text)))
            start, text, style = x, char.data, plain
        else:
            if text:
                runs.append(Run(start, text, style, len(text)))
            wide = 2 if _width(char.data[0]) == 2 else 1
            runs.append(Run(x, char.data[:8], _style(char), wide))
            start, text, style = x + wide, "", PLAIN
    if text and (style != PLAIN or text.strip()):
        runs.append(Run(start, text.rstrip() if style == PLAIN else text, style, len(text)))
    return tuple(runs)


_STYLES: dict[Cell, Cell] = {PLAIN: PLAIN}


def _style(char: Cell) -> Cell:
    """The one blank that stands for a style, so that styles compare by identity."""
    if len(_STYLES) > 8192:
        _STYLES.clear()
        _STYLES[PLAIN] = PLAIN
    blank = char._replace(data=" ")
    return _STYLES.setdefault(char, _STYLES.setdefault(blank, blank))


def _cells(line: Mapping[int, Cell]) -> Iterator[tuple[int, Cell]]:
    last = max(line, default=-1)
    while last >= 0 and line[last] == PLAIN:
        last -= 1
    for x in range(last + 1):
        char = line[x]
        if char.data:
            yield x, char


def row_text(row: HistoryRow) -> str:
    """The plain text of a row."""
    if isinstance(row, str):
        return row
    parts, at = [], 0
    for run in row:
        parts.append(" " * (run.column - at) + run.text)
        at = run.column + run.cells
    return "".join(parts)


def plain_lines(line: str, columns: int) -> Iterator[str]:
    """A printed line cut to the grid's width: what a returned carriage overwrote is gone."""
    line = line.rstrip("\r").rpartition("\r")[2].expandtabs(8)
    line = line if line.isprintable() else "".join(c for c in line if c.isprintable())
    width = columns if line.isascii() else columns // 2
    for at in range(0, min(len(line), 20 * width) or 1, width):
        yield line[at : at + width]


def row_of(row: HistoryRow) -> Row:
    """A line of the history as runs; one that nobody saw drawn is plain text until it is looked at."""
    return tuple(_plain_runs(row)) if isinstance(row, str) else row


def _plain_runs(text: str) -> Iterator[Run]:
    column = 0
    for found in _PARTS.finditer(text):
        part = found.group()
        cells = len(part) if part.isascii() else 2 * len(part) if found.group(1) else max(0, _width(part))
        if cells:
            yield Run(column, part, PLAIN, cells)
            column += cells


@lru_cache(maxsize=4096)
def _width(char: str) -> int:
    from pyte.screens import wcwidth

    return int(wcwidth(char))


def columns_text(row: Row, first: int, last: int) -> str:
    """The text of a row between two columns."""
    parts, at = [], first
    for run in row:
        for column, piece, cells in pieces(run):
            if first <= column < last:
                parts.append(" " * (column - at) + piece)
                at = column + cells
    return "".join(parts)


def pieces(run: Run) -> Iterator[tuple[int, str, int]]:
    """A run's characters, each with its column and cells."""
    each = run.cells // len(run.text) if run.cells % len(run.text) == 0 else 0
    if not each:
        yield run.column, run.text, run.cells
        return
    for i, piece in enumerate(run.text):
        yield run.column + i * each, piece, each
