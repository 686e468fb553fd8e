"""What stands below or beside a part of a text view: folds, a ground of its own, a picture or why there is none."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QLocale
from PySide6.QtGui import QFont, QFontMetricsF, QImage, QTextCharFormat, QTextCursor

from app.kit import theme, tokens
from app.kit.drawn_text import MARGIN, DrawnText, PlacedPicture
from app.kit.i18n import translate
from app.kit.text_folds import SHOWN_LINES, SPARED, LineFold, json_folds
from app.kit.text_ink import small_format

if TYPE_CHECKING:
    from app.kit.long_text import Part

_CHANGED = {"+": "added_line", "-": "removed_line"}


def furnish(edit: DrawnText, cursor: QTextCursor, part: Part, text: str, first: int,
            pictures: Mapping[str, QImage | str]) -> None:
    """After a part that was inserted from line `first` on, of which a reader sees `text`."""
    if part.icon:
        edit.signs.append((first, part.icon, part.meaning or "muted"))
    if part.folds:
        for fold in json_folds(text):
            edit.folds.add(LineFold(first + fold.head, first + fold.first, first + fold.last, fold.is_folded))
    if part.style == "block":
        _block(edit, cursor, part, text, first)
    if part.terminal:
        _terminal(edit, cursor, text, first)
    if part.picture:
        _picture(edit, cursor, pictures.get(part.picture))


def set_apart(edit: DrawnText, cursor: QTextCursor, part: Part) -> None:
    """A narrow empty line where the part that comes next would touch a frame: its own, or that of the one before."""
    before = cursor.block().previous()
    is_framed = part.style == "block" or part.terminal
    follows = bool(edit.grounds) and edit.grounds[-1][1] == before.blockNumber()
    if not (cursor.atBlockStart() and before.isValid() and before.length() > 1 and (is_framed or follows)):
        return
    usual, narrow = cursor.blockCharFormat(), QTextCharFormat()
    font = QFont(edit.font())
    font.setPixelSize(theme.px(tokens.WITHIN))
    narrow.setFont(font)
    cursor.setBlockCharFormat(narrow)
    cursor.insertText("\n", narrow)
    cursor.setBlockCharFormat(usual)


def _block(edit: DrawnText, cursor: QTextCursor, part: Part, text: str, first: int) -> None:
    """A ground of its own; what goes and what comes on those of a difference."""
    edit.grounds.append((first, max(first, _end(cursor, text))))
    if part.lexer != "diff":
        return
    for line, ground in enumerate(map(_CHANGED.get, (line[:1] for line in text.split("\n"))), first):
        if ground:
            edit.tinted[line] = ground


def _end(cursor: QTextCursor, text: str) -> int:
    """The last line of what was inserted that is not empty, where empty ones end it."""
    last = cursor.blockNumber() - cursor.atBlockStart()
    return last - (len(text) - len(text.rstrip("\n")) - 1 if text.endswith("\n") else 0)


def _terminal(edit: DrawnText, cursor: QTextCursor, text: str, first: int) -> None:
    """A ground of its own; of a long output the first lines, and how many more there are."""
    last = cursor.blockNumber() - cursor.atBlockStart()
    if last < first:
        return
    end = _end(cursor, text)
    edit.grounds.append((first, end))
    more = end + 1 - first - SHOWN_LINES
    if more > SPARED and cursor.atBlockStart():
        words = translate("LongText", "{n} lines more (Enter)").format(n=QLocale().toString(more))
        cursor.insertText(f"{words}\n\n", small_format(edit))
        edit.folds.add(LineFold(last + 1, first + SHOWN_LINES, last, True, is_rest=True))


def _picture(edit: DrawnText, cursor: QTextCursor, found: QImage | str | None) -> None:
    """Empty lines as high as the picture, which is painted over them; or why there is none."""
    if isinstance(found, str):
        cursor.insertText(f"✗ {found}\n\n", small_format(edit, "attention"))
    elif found is not None:
        look: QTextCharFormat = small_format(edit)
        most = max(80, edit.viewport().width() - 4 * MARGIN)
        wide = min(found.width(), most)
        high = round(found.height() * wide / found.width())
        line = cursor.blockNumber()
        cursor.insertText("\n" * (1 + math.ceil(high / QFontMetricsF(look.font()).lineSpacing())), look)
        edit.pictures.append(PlacedPicture(line, found, wide, high))
