"""How much of a title others have, too: a narrow list cuts there, and not what tells them apart. No I/O."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable

LEAST = 12
"""So many characters in common are worth a cut."""


class Titles:
    """The titles that there are, in order: whichever one asks about, those that begin most like it stand beside it."""

    def __init__(self, titles: Iterable[str]) -> None:
        self._order = sorted(titles)

    def shared(self, title: str) -> int:
        """How many characters of one of them others begin with as well, up to a word; 0 where they are few."""
        at, after = bisect_left(self._order, title), bisect_right(self._order, title)
        near = [*self._order[max(0, at - 1) : at], *self._order[after : after + 1]]
        most = len(title) if after - at > 1 else max((_common(title, one) for one in near), default=0)
        return _to_word(title, most) if most >= LEAST else 0


def elided(title: str, common: int, wide: int, width_of: Callable[[str], int]) -> str:
    """A title that is too wide, cut in what it has in common with others, so that its rest stands there whole or is cut
    at its own end."""
    if not common or width_of(title) <= wide:
        return title
    rest = title[common:]
    keep = max((n for n in range(common) if width_of(f"{title[:n].rstrip()}… {rest}") <= wide), default=0)
    return f"{title[: max(keep, LEAST // 2)].rstrip()}… {rest}"


def _common(one: str, two: str) -> int:
    low, high = 0, min(len(one), len(two))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == two[low:middle] else (low, middle - 1)
    return low


def _to_word(title: str, most: int) -> int:
    """Back to where the word begins in which titles differ, and one word more where little follows."""
    at = title.rfind(" ", 0, most) + 1 if most < len(title) else 0
    return title.rfind(" ", 0, at - 1) + 1 if len(title) - at < LEAST // 2 else at
