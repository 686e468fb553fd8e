"""How much of a title others have, too: a narrow list cuts there, and not what tells them apart. No I/O."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

LEAST = 12
"""So many characters in common are worth a cut."""


def shared(titles: Mapping[str, str]) -> dict[str, int]:
    """Of each name (of titles by name) how many characters its title begins with as another does, up to a word."""
    order = sorted(titles, key=lambda name: titles[name])
    common = [0, *(_common(titles[one], titles[two]) for one, two in pairwise(order)), 0]
    return {name: _to_word(titles[name], most) for name, *near in zip(order, common, common[1:], strict=False)
            if (most := max(near)) >= LEAST}


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
