"""How far two people agree on the sessions of a queue that both judged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from core.domain.progress import Judgement
from core.domain.queue import QueueItem
from core.supervision.coefficients import cohen_kappa, krippendorff_alpha

Pair = tuple[Judgement, Judgement]


class Overlap(msgspec.Struct, frozen=True, kw_only=True):
    """Agreement on `steps` that two people decided: Cohen's kappa where they are the same two throughout, else
    Krippendorff's alpha; None where it is not defined."""

    steps: int
    name: Literal["κ", "α"]
    value: float | None


def overlap(items: Iterable[QueueItem]) -> Overlap | None:
    """The agreement over all of these sessions; None where no step was decided by two."""
    found: dict[tuple[str, ...], list[Pair]] = {}
    for item in items:
        people = tuple(h.person for h in item.holders[:2])
        if pairs := _pairs(item):
            turned = people[0] > people[1]
            found.setdefault(tuple(sorted(people)), []).extend((b, a) if turned else (a, b) for a, b in pairs)
    units = [pair for pairs in found.values() for pair in pairs]
    if not units:
        return None
    if len(found) == 1:
        return Overlap(steps=len(units), name="κ", value=cohen_kappa(units))
    return Overlap(steps=len(units), name="α", value=krippendorff_alpha(units))


def _pairs(item: QueueItem) -> list[Pair]:
    """What both said, step by step; a step on which one is unsure was not decided."""
    return [(one.first, one.second) for one in item.both for _ in range(one.steps)
            if "unsure" not in (one.first, one.second)] if len(item.holders) > 1 else []
