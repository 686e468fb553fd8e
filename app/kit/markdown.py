"""Markdown as parts of a text view, drawn by us: nothing is loaded, no link can be followed, no HTML is obeyed.

Headings, lists, quotes, tables, code and bold words take their form; everything else stays the text that it is. A link
shows its address beside its words, an image its description. Every expression looks at one bounded line.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence

from app.kit.long_text import Part

MOST = 400_000
"""Characters that are drawn so; the rest of a longer text follows as it is."""

_LINE = 4_000
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]{0,40})[^`]*$")
_HEADING = re.compile(r"^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$")
_ITEM = re.compile(r"^(\s*)([-*+]|\d{1,9}[.)])\s+(\[[ xX]\]\s+)?(.*)$")
_QUOTE = re.compile(r"^ {0,3}>\s?(.*)$")
_RULE = re.compile(r"^ {0,3}([-*_])(?:\s*\1){2,}\s*$")
_BORDER = re.compile(r"^\s*\|?\s*:?-{1,}:?\s*(?:\|\s*:?-{1,}:?\s*)*\|?\s*$")
_INLINE = re.compile(
    r"(?P<ticks>`{1,3})(?P<code>[^`]{1,1000}?)(?P=ticks)"
    r"|!\[(?P<alt>[^\]]{0,300})\]\((?P<source>[^)\s]{0,1000})[^)]{0,200}\)"
    r"|\[(?P<words>[^\]]{1,500})\]\((?P<address>[^)\s]{1,1000})[^)]{0,200}\)"
    r"|(?P<stars>\*\*|__)(?=\S)(?P<strong>.{1,1000}?)(?<=\S)(?P=stars)"
    r"|(?<![\w*])\*(?=[^\s*])(?P<soft>[^*]{1,500}?)(?<=[^\s*])\*(?![\w*])")
_BULLETS = ("•", "◦", "▪")
_LEXERS = {"sh": "bash", "shell": "bash", "zsh": "bash", "py": "python", "js": "javascript", "ts": "typescript",
           "yml": "yaml"}


def markdown_parts(text: str) -> list[Part]:
    """The parts of a Markdown text, each line ended."""
    parts = list(_blocks(text[:MOST].split("\n")))
    if len(text) > MOST:
        parts.append(Part(text=text[MOST:]))
    return parts


def _blocks(lines: Sequence[str]) -> Iterator[Part]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if len(line) > _LINE:
            yield Part(text=line + "\n", style="prose")
            at += 1
        elif fence := _FENCE.match(line):
            stop = _fence_end(lines, at + 1, fence[1])
            code = "\n".join(lines[at + 1 : stop])
            language = fence[2].lower()
            yield Part(text=code + "\n", style="block", lexer=_LEXERS.get(language, language))
            at = stop + 1
        elif "|" in line and at + 1 < len(lines) and "|" in lines[at + 1] and _BORDER.match(lines[at + 1][:_LINE]):
            stop = next((n for n in range(at + 2, len(lines)) if "|" not in lines[n]), len(lines))
            yield Part(text=_table([line, *lines[at + 2 : stop]]), style="block")
            at = stop
        else:
            yield from _line(line)
            at += 1


def _fence_end(lines: Sequence[str], start: int, mark: str) -> int:
    """Where a block of code ends: at a line of as many marks, else with the text."""
    return next((n for n in range(start, len(lines))
                 if lines[n].strip().startswith(mark) and not lines[n].strip().strip(mark[0])), len(lines))


def _line(line: str) -> Iterator[Part]:
    if heading := _HEADING.match(line):
        yield Part(text=_plain(heading[2]) + "\n", style="subhead")
    elif _RULE.match(line):
        yield Part(text="─" * 24 + "\n", style="prose", meaning="muted")
    elif item := _ITEM.match(line):
        depth = min(6, len(item[1].expandtabs(4)) // 2)
        sign = item[2] if item[2][0].isdigit() else _BULLETS[min(2, depth)]
        box = {"x": "☑ ", " ": "☐ "}.get(item[3].strip()[1:2].lower() or " ", "") if item[3] else ""
        yield Part(text="    " * depth + f"  {sign} {box}", style="prose", meaning="muted")
        yield from _inline(item[4] + "\n")
    elif quote := _QUOTE.match(line):
        yield Part(text="│ ", style="prose", meaning="muted")
        yield from _inline(quote[1] + "\n", "muted")
    else:
        yield from _inline(line + "\n")


def _inline(text: str, meaning: str = "") -> Iterator[Part]:
    """A line's words, with those that are code, strong or a link set so."""
    at = 0
    for found in _INLINE.finditer(text):
        if found.start() > at:
            yield Part(text=text[at : found.start()], style="prose", meaning=meaning)
        at = found.end()
        if found["code"] is not None:
            yield Part(text=found["code"], style="code")
        elif found["source"] is not None:
            yield Part(text=f"[{found['alt'] or '…'}: {found['source']}]", style="prose", meaning="muted")
        elif found["words"] is not None:
            yield Part(text=found["words"], style="prose", meaning=meaning)
            yield Part(text=f" ({found['address']})", style="prose", meaning="muted")
        elif found["strong"] is not None:
            yield Part(text=_plain(found["strong"]), style="strong", meaning=meaning)
        else:
            yield Part(text=found["soft"], style="prose", meaning=meaning)
    if at < len(text):
        yield Part(text=text[at:], style="prose", meaning=meaning)


def _plain(text: str) -> str:
    """The words alone, where all of them are set alike."""
    return "".join(part.text for part in _inline(text))


def _table(rows: Sequence[str]) -> str:
    """A table in columns, so wide as their widest cell."""
    cells = [[_plain(cell.strip()) for cell in row.strip().strip("|").split("|")] for row in rows]
    count = max(map(len, cells))
    widths = [min(60, max(_width(row[n]) if n < len(row) else 0 for row in cells)) for n in range(count)]
    lines = ["  ".join(cell + " " * max(0, widths[n] - _width(cell)) for n, cell in enumerate(row)).rstrip()
             for row in cells]
    lines.insert(1, "  ".join("─" * width for width in widths))
    return "\n".join(lines) + "\n"


def _width(text: str) -> int:
    """How many cells of a monospace font a text takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)
