"""What a text view writes with: the formats of its parts, the colours of a terminal's output, pieces, matches."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from PySide6.QtGui import QFont, QTextCharFormat
from PySide6.QtWidgets import QWidget

from app.kit import theme
from app.kit.ansi import Style
from app.kit.highlight import units
from app.kit.safe_text import MAX_LINE
from app.kit.terminal_cells import Cell
from app.kit.terminal_ink import ink

if TYPE_CHECKING:
    from app.kit.long_text import Part

MOST_MARKS = 500
"""How many matches are marked in one text."""

MARKED_LINE = 2_000
"""Characters of a line in which matches are marked."""

SLICE = 16 * MAX_LINE
"""Characters that are inserted at a time when all of a long text is asked for."""


def slices(parts: Sequence[Part], start: int) -> Iterator[tuple[Part, str]]:
    """What follows the first `start` characters, in pieces that end with a line where there is one."""
    for part in parts:
        at, start = min(start, len(part.text)), max(0, start - len(part.text))
        while at < len(part.text):
            stop = min(len(part.text), at + SLICE)
            line = part.text.rfind("\n", at, stop) + 1
            stop = line if line > at and stop < len(part.text) else stop
            whole = stop == len(part.text) or part.text[stop - 1] == "\n"
            yield part, part.text[at:stop] + ("" if whole else "↩\n")
            at = stop


def dressed(plain: QTextCharFormat, style: Style) -> QTextCharFormat:
    """A run of a terminal's output in its own colours, made readable."""
    made = QTextCharFormat(plain)
    cell = Cell(" ", fg=style.fore or "default", bg=style.back or "default", bold=style.bold, reverse=style.reverse)
    fore, back = ink(cell, theme.colour("ink").rgb(), theme.colour("base").rgb())
    made.setForeground(fore)
    if back is not None:
        made.setBackground(back)
    if style.bold:
        made.setFontWeight(QFont.Weight.DemiBold)
    return made


def format_of(part: Part, widget: QWidget) -> QTextCharFormat:
    """How the letters of a part look."""
    made = QTextCharFormat()
    font = widget.font()
    if part.style in ("mono", "code", "block", "doubted"):
        font = theme.mono_font(widget.font().pointSizeF())
    elif part.style in ("prose", "strong", "subhead"):
        font = theme.font_of("reading", widget.font())
        font = font if part.style == "prose" else theme.bold_font(font)
    elif part.style == "heading":
        font = theme.bold_font(theme.font_of("fact", widget.font()))
    elif part.style == "meta":
        font = theme.small_font(widget.font())
    made.setFont(font)
    if part.style == "code":
        made.setBackground(theme.colour("window"))
    made.setForeground(theme.colour(part.meaning or ("muted" if part.style in ("meta", "heading") else "ink")))
    if part.shade:
        made.setBackground(theme.colour(part.shade))
    if part.style == "doubted":
        made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.DotLine)
    if part.hint:
        made.setToolTip(part.hint)
    return made


def small_format(widget: QWidget, meaning: str = "muted") -> QTextCharFormat:
    """How words of ours between the parts look."""
    made = QTextCharFormat()
    made.setFont(theme.small_font(widget.font()))
    made.setForeground(theme.colour(meaning))
    return made


def remark_format(remark: str) -> QTextCharFormat:
    """How words look that somebody remarked on, with the remark as their tooltip."""
    made = QTextCharFormat()
    made.setBackground(theme.colour("person_tint"))
    made.setUnderlineStyle(QTextCharFormat.UnderlineStyle.SingleUnderline)
    made.setUnderlineColor(theme.colour("person"))
    made.setToolTip(remark)
    return made


def matches(pattern: re.Pattern[str] | None, text: str) -> list[tuple[int, int]]:
    """Where a pattern matches, in Qt's units; at most MOST_MARKS, line by line: a short line cannot hang for long."""
    found: list[tuple[int, int]] = []
    if pattern is None:
        return found
    at = 0
    for line in text.split("\n"):
        for match in pattern.finditer(line[:MARKED_LINE]):
            if match.end() > match.start():
                start = at + units(line[: match.start()])
                found.append((start, start + units(match.group())))
        if len(found) >= MOST_MARKS:
            break
        at += units(line) + 1
    return found
