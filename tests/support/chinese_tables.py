"""Tables that a command writes into a page of the manual, written into its Chinese twin too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

Words = Mapping[str, str]
"""A regular expression for a whole cell, or a whole line outside of tables, and what it becomes in Chinese."""

WORD = re.compile(r"[A-Za-z]{2,}")


def twin(page: Path) -> Path:
    """The Chinese page beside an English one."""
    return page.with_name(page.name.replace(".md", ".zh.md"))


def in_chinese(text: str, words: Words, names: frozenset[str] = frozenset()) -> str:
    """What was made, in Chinese; `names` stay. Raises KeyError for a cell or line with words that nobody translated."""
    return "\n".join(_line(line, words, names) for line in text.split("\n"))


def _line(line: str, words: Words, names: frozenset[str]) -> str:
    if line.startswith("| "):
        return f"| {' | '.join(_said(cell, words, names) for cell in line[2:-2].split(' | '))} |"
    return _said(line, words, names)


def _said(text: str, words: Words, names: frozenset[str]) -> str:
    for pattern, said in words.items():
        if found := re.fullmatch(pattern, text):
            return found.expand(said)
    if text not in names and WORD.search(re.sub(r"`[^`]*`", "", text)):
        raise KeyError(text)
    return text
