"""Output as a terminal would leave it: colours, and what carriage returns and cursor movement wrote over. No Qt.

Made for texts of a step, which are at hand as a whole; a terminal's stream goes through `app.terminals.emulator`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

_NAMES = ("black", "red", "green", "brown", "blue", "magenta", "cyan", "white")
_TOKEN = re.compile(
    r"\x1b\[([0-9;:]{0,64})([A-HJKPXdfm])"  # what is obeyed
    r"|\x1b(?:\[[0-?]{0,256}[ -/]*[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[PX^_][^\x1b]{0,4096}\x1b\\|[ -/]*[0-~])"
    r"|[\r\n\x08\x07]")
_CHANGES: dict[int, dict[str, Any]] = {
    1: {"bold": True}, 22: {"bold": False}, 7: {"reverse": True}, 27: {"reverse": False}, 39: {"fore": ""},
    49: {"back": ""}, **{base + at: {side: bright + name} for base, side, bright in (
        (30, "fore", ""), (40, "back", ""), (90, "fore", "bright"), (100, "back", "bright"))
        for at, name in enumerate(_NAMES)}}
"""What a code changes of a style."""
MOST_COLUMNS = 4_000
MOST_STYLES = 250


class Style(NamedTuple):
    """How a run looks: names of `theme.TERMINAL`, six hexadecimal digits, or "" for the default."""

    fore: str = ""
    back: str = ""
    bold: bool = False
    reverse: bool = False


PLAIN = Style()


def is_drawn(text: str) -> bool:
    """Whether a text holds anything for a terminal to obey."""
    return "\x1b" in text or "\x08" in text or "\r" in text.replace("\r\n", "\n")


def drawn(text: str) -> Iterator[tuple[str, Style]]:
    """The text as it would stand on an endless screen, as runs of one style; lines end with newlines."""
    screen = _AnsiScreen()
    at = 0
    for token in _TOKEN.finditer(text):
        if token.start() > at:
            screen.write(text[at : token.start()])
        at = token.end()
        screen.obey(token)
    screen.write(text[at:])
    yield from screen.runs()


class _AnsiScreen:
    def __init__(self) -> None:
        self._lines: list[tuple[str, bytes]] = [("", b"")]
        self._row = self._column = 0
        self._styles: dict[Style, int] = {PLAIN: 0}
        self._style, self._number = PLAIN, 0

    def write(self, text: str) -> None:
        """Put characters at the cursor, over what stands there."""
        held, styles = self._lines[self._row]
        column, count = self._column, len(text)
        if column > len(held):
            gap = column - len(held)
            held, styles = held + " " * gap, styles + bytes(gap)
        ink = bytes((self._number,)) * count
        self._lines[self._row] = (held[:column] + text + held[column + count :],
                                  styles[:column] + ink + styles[column + count :])
        self._column += count

    def obey(self, token: re.Match[str]) -> None:
        """Carry out one control."""
        sign = token.group()
        if sign == "\n":
            self._down(1)
            self._column = 0
        elif sign == "\r":
            self._column = 0
        elif sign == "\x08":
            self._column = max(0, self._column - 1)
        elif token.group(2):
            self._control(token.group(2), token.group(1))

    def _control(self, letter: str, parameters: str) -> None:
        if letter == "m":
            self._dress(parameters)
            return
        count = min(MOST_COLUMNS, max(1, _number(parameters.partition(";")[0], 1)))
        if letter in "AF":
            self._row = max(0, self._row - count)
        elif letter in "BE":
            self._down(count)
        elif letter == "C":
            self._column = min(MOST_COLUMNS, self._column + count)
        elif letter == "D":
            self._column = max(0, self._column - count)
        elif letter == "G":
            self._column = count - 1
        elif letter in "KPX":
            self._erase(letter, parameters)
        if letter in "EF":
            self._column = 0

    def _down(self, count: int) -> None:
        self._row += count
        while self._row >= len(self._lines):
            self._lines.append(("", b""))

    def _erase(self, letter: str, parameters: str) -> None:
        held, styles = self._lines[self._row]
        mode = _number(parameters, 0) if letter == "K" else 0
        if mode == 0:
            self._lines[self._row] = (held[: self._column], styles[: self._column])
        else:
            rest = held[self._column :] if mode == 1 else ""
            self._lines[self._row] = (" " * self._column + rest, bytes(self._column) + styles[self._column :]
                                      if mode == 1 else bytes(self._column))

    def _dress(self, parameters: str) -> None:
        codes = [_number(part, 0) for part in re.split("[;:]", parameters)] or [0]
        style, at = self._style, 0
        while at < len(codes):
            style, used = _styled(style, codes[at:])
            at += used
        self._style = style
        if style not in self._styles and len(self._styles) < MOST_STYLES:
            self._styles[style] = len(self._styles)
        self._number = self._styles.get(style, 0)

    def runs(self) -> Iterator[tuple[str, Style]]:
        """All lines."""
        styles = list(self._styles)
        for number, (text, inks) in enumerate(self._lines):
            end = "\n" if number + 1 < len(self._lines) else ""
            if not any(inks):
                yield text + end, PLAIN
                continue
            at = 0
            for ink, same in groupby(inks):
                count = sum(1 for _ in same)
                yield text[at : at + count], styles[ink]
                at += count
            yield end, PLAIN


def _number(digits: str, otherwise: int) -> int:
    return int(digits[:6]) if digits[:6].isdigit() else otherwise


def _styled(style: Style, codes: list[int]) -> tuple[Style, int]:
    """The style after the first of some codes, and how many of them that took."""
    code = codes[0]
    if code in (38, 48):
        name, used = _extended(codes)
        return (style._replace(fore=name) if code == 38 else style._replace(back=name)), used
    return PLAIN if code == 0 else style._replace(**_CHANGES.get(code, {})), 1


def _extended(codes: list[int]) -> tuple[str, int]:
    """The colour of 38;5;N or 38;2;R;G;B."""
    if len(codes) >= 3 and codes[1] == 5:
        return _of_256(codes[2]), 3
    if len(codes) >= 5 and codes[1] == 2:
        return "".join(f"{min(255, c):02x}" for c in codes[2:5]), 5
    return "", len(codes)


def _of_256(number: int) -> str:
    if number < 16:
        return ("bright" if number > 7 else "") + _NAMES[number % 8]
    if number < 232:
        parts = [(number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6]
        return "".join(f"{55 + 40 * p if p else 0:02x}" for p in parts)
    return f"{8 + 10 * (min(255, number) - 232):02x}" * 3
