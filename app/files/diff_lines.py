"""A content as lines: how each is shown, and by what it is compared. Pure, fit for a thread."""

from __future__ import annotations

from typing import Literal

import msgspec

from app.kit.safe_text import visible

MAX_BYTES = 4_000_000
"""Of a larger content only the start is compared."""

Spaces = Literal["exact", "trailing", "all"]
"""exact: every space counts; trailing: those at a line's end and line ends do not; all: no white space does."""


class Whitespace(msgspec.Struct, frozen=True):
    """What of the white space counts in a comparison. `blank_lines`: added or removed empty lines are no change."""

    spaces: Spaces = "exact"
    blank_lines: bool = False


class Lines(msgspec.Struct, frozen=True):
    """The lines of one content: as they are shown, and the keys that are compared."""

    shown: tuple[str, ...]
    keys: tuple[str, ...]


def is_binary(data: bytes) -> bool:
    """Whether a content is no text: it holds a zero byte near its start."""
    return b"\0" in data[:8192]


def pair_of(old: bytes, new: bytes, space: Whitespace) -> tuple[Lines, Lines]:
    """Both contents as lines. What only differs in ways that cannot be seen (line ends) is made visible."""
    texts = [data[:MAX_BYTES].decode("utf-8", "replace") for data in (old, new)]
    ends = all(texts) and space.spaces == "exact"
    returns = ends and texts[0].count("\r\n") != texts[1].count("\r\n")
    cut = ends and texts[0].endswith("\n") != texts[1].endswith("\n")
    left, right = (_lines(text, space.spaces, returns=returns, cut=cut) for text in texts)
    return left, right


def _lines(text: str, spaces: Spaces, *, returns: bool, cut: bool) -> Lines:
    if not text:
        return Lines((), ())
    lines = text.removesuffix("\n").split("\n")
    shown = [visible(line.removesuffix("\r")).expandtabs(4) for line in lines]
    keys = [key_of(line, spaces) for line in lines]
    if returns:
        shown = [f"{one}␍" if line.endswith("\r") else one for one, line in zip(shown, lines, strict=True)]
    elif spaces == "exact":
        keys = [key.removesuffix("\r") for key in keys]
    if cut and not text.endswith("\n"):
        shown[-1] += "‹no LF›"
        keys[-1] += "\0"
    return Lines(tuple(shown), tuple(keys))


def key_of(line: str, spaces: Spaces) -> str:
    """What of a line is compared."""
    if spaces == "all":
        return "".join(line.split())
    return line.rstrip() if spaces == "trailing" else line
