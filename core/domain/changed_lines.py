"""How many lines a change adds and removes, and which files it names, as far as its text says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import partial
from itertools import takewhile

import msgspec

_MOST = 400
"""Lines up to which two texts are compared line by line; of longer ones only what is equal at both ends."""

_HERE = re.compile(r"<<-?\s*['\"]?(\w+)['\"]?")
_INTO = re.compile(r"(?<![<>&\d])>{1,2}\s*['\"]?([\w./~$-]+)|\btee\s+(?:-a\s+)?['\"]?([\w./~$-]+)")
_PATCHED = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(\S[^\t\n]*)", re.MULTILINE)


class LineCount(msgspec.Struct, frozen=True):
    """Lines that a change adds and removes."""

    added: int = 0
    removed: int = 0

    @classmethod
    def of_patch(cls, text: str) -> LineCount:
        """What a patch says."""
        lines = text.split("\n")
        return cls(sum(x.startswith("+") and not x.startswith("+++") for x in lines),
                   sum(x.startswith("-") and not x.startswith("---") for x in lines))

    @classmethod
    def of_texts(cls, pairs: Iterable[tuple[str, str]]) -> LineCount:
        """What replacements of texts say."""
        return cls._sum((old.split("\n") if old else [], new.split("\n") if new else []) for old, new in pairs)

    @classmethod
    def of_contents(cls, pairs: Iterable[tuple[str, str]]) -> LineCount:
        """How contents of files differ: what ends with a line's end has no empty line behind it."""
        return cls._sum((_lines_of(old), _lines_of(new)) for old, new in pairs)

    @classmethod
    def _sum(cls, pairs: Iterable[tuple[list[str], list[str]]]) -> LineCount:
        counts = [_compared(old, new) for old, new in pairs]
        return cls(sum(c[0] for c in counts), sum(c[1] for c in counts))


def written_lines(text: str) -> int:
    """The lines of a file that is written."""
    return text.count("\n") + (not text.endswith("\n")) if text else 0


def heredocs(command: str) -> Iterator[tuple[str, str]]:
    """(path, text) of each `cat > PATH <<MARK … MARK` of a shell command; each line is read once."""
    lines = iter(command.split("\n"))
    for line in lines:
        here = _HERE.search(line)
        if here is None:
            continue
        text = "\n".join(takewhile(partial(_goes_on, here[1]), lines))
        if (into := _INTO.search(line)) is not None:
            yield into[1] or into[2], text


def patched_paths(text: str) -> tuple[str, ...]:
    """The files that a patch names."""
    return tuple(dict.fromkeys(m[1].strip() for m in _PATCHED.finditer(text) if m[1].strip() != "/dev/null"))


def _goes_on(mark: str, line: str) -> bool:
    return line.strip() != mark


def _lines_of(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _compared(one: list[str], two: list[str]) -> tuple[int, int]:
    while one and two and one[-1] == two[-1]:
        one.pop()
        two.pop()
    start = next((n for n, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    one, two = one[start:], two[start:]
    same = 0
    if max(len(one), len(two)) <= _MOST:
        same = sum(block.size for block in SequenceMatcher(None, one, two, autojunk=False).get_matching_blocks())
    return len(two) - same, len(one) - same
