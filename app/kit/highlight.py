"""Colours of source text by Pygments: text in, spans out; no Qt, so it may run in a thread."""

from __future__ import annotations

from pathlib import PurePosixPath

from pygments import lex
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Comment, Keyword, Name, Number, String, Token, _TokenType
from pygments.util import ClassNotFound

MAX_CHARS = 1_000_000
"""Longer texts are not coloured."""

Span = tuple[int, int, str]
"""Start and length in UTF-16 units, as Qt counts, and the name of a colour of the theme."""

_MEANING: tuple[tuple[_TokenType, str], ...] = (
    (Comment, "comment"), (Keyword, "keyword"), (String, "string"), (Number, "number"),
    (Name.Function, "name"), (Name.Class, "name"), (Name.Decorator, "name"), (Name.Tag, "keyword"),
    (Name.Attribute, "name"), (Token.Generic.Deleted, "error"), (Token.Generic.Inserted, "keep"),
)


_PROSE = ("markdown", "md")
"""In these code without a language is no string of a program: green words would be read as added."""


def lexer_for(path: str) -> str:
    """The name of the lexer for a file's path; "" when there is none."""
    try:
        return str(get_lexer_for_filename(PurePosixPath(path).name or "x").aliases[0])
    except (ClassNotFound, IndexError):
        return ""


def spans(text: str, lexer: str) -> list[Span]:
    """The coloured spans of a text. An unknown lexer, or too long a text, has none."""
    if not lexer or len(text) > MAX_CHARS:
        return []
    try:
        tokens = lex(text, get_lexer_by_name(lexer, stripnl=False, ensurenl=False))
    except ClassNotFound:
        return []
    found: list[Span] = []
    at = 0
    for kind, value in tokens:
        is_block = kind in String.Backtick and lexer in _PROSE
        meaning = "" if is_block else next((name for token, name in _MEANING if kind in token), "")
        if meaning:
            found.append((at, units(value), meaning))
        at += units(value)
    return found


def units(text: str) -> int:
    """The length of a text in UTF-16 units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
