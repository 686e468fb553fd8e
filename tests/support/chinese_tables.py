"""Tables that a command writes into a page of the manual, written into its Chinese twin too."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

Words = Mapping[str, str]
"""A regular expression for a whole cell, or a whole line outside of tables, and what it becomes in Chinese."""

WORD = re.compile(r"[A-Za-z]{2,}")


def words_of(file: Path) -> Words:
    """The words of a file, `PATTERN → CHINESE` a line."""
    lines = (line.partition(" → ") for line in file.read_text(encoding="utf-8").splitlines())
    return {pattern: said for pattern, _, said in lines}


def twin(page: Path) -> Path:
    """The Chinese page beside an English one."""
    return page.with_name(page.name.replace(".md", ".zh.md"))


def in_chinese(text: str, words: Words) -> str:
    """What was made, in Chinese; what has no word stays as it is, so that no long run breaks at its end."""
    return "\n".join(_line(line, words) for line in text.split("\n"))


def lacking(text: str, words: Words) -> set[str]:
    """Cells and lines with words that nobody translated."""
    cells = (cell for line in text.split("\n")
             for cell in (line[2:-2].split(" | ") if line.startswith("| ") else [line]))
    return {cell for cell in cells if WORD.search(cell) and not any(re.fullmatch(one, cell) for one in words)}


def _line(line: str, words: Words) -> str:
    if line.startswith("| "):
        return f"| {' | '.join(_said(cell, words) for cell in line[2:-2].split(' | '))} |"
    return _said(line, words)


def _said(text: str, words: Words) -> str:
    for pattern, said in words.items():
        if found := re.fullmatch(pattern, text):
            return found.expand(said)
    return text
