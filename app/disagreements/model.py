"""Steps on which people, rules or judges say keep and mask, and how far they agree in numbers. No Qt."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import msgspec

from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import DECIDED, Verdict, by_action
from core.supervision.coefficients import cohen_kappa, raw_agreement


class Disagreement(msgspec.Struct, frozen=True):
    """One step, or its `action`-th action (0: the whole step), with who keeps and who masks it. `people`: persons
    differ among themselves."""

    step: int
    title: str
    keep: tuple[str, ...]
    mask: tuple[str, ...]
    people: bool = False
    action: int = 0


class Pair(msgspec.Struct, frozen=True):
    """Two authors on the steps that both decided; None where that cannot be said."""

    first: str
    second: str
    steps: int
    raw: float | None
    kappa: float | None


def disagreements(trajectory: Trajectory, only: str = "") -> list[Disagreement]:
    """In the order of the steps. `only`: an author's key; what this author has not decided is left out."""
    opinions = sorted(trajectory.steps.opinions.items())
    judged = (trajectory.steps[i] for i, of_step in opinions if len(of_step.verdicts) > 1)
    found = (_of(entry, action, on_one) for entry in judged
             for action, on_one in by_action(entry.verdicts.values(), len(entry.head.tools)).items()
             if not only or any(v.author.key == only and v.value in DECIDED for v in on_one))
    return [one for one in found if one is not None]


def pairs(trajectory: Trajectory) -> list[Pair]:
    """Each two persons, and each judge with each person, on what both decided: steps, or actions where somebody judged
    one alone."""
    steps = trajectory.steps
    rated = [{v.author.key: v.value for v in on_one if v.value in DECIDED}
             for at, o in steps.opinions.items() if o.verdicts
             for on_one in by_action(o.verdicts.values(), len(steps.shape(at).tools)).values()]
    authors = sorted({key for values in rated for key in values}, key=lambda k: (not _is_person(k), k))
    found = []
    for first, second in combinations(authors, 2):
        if not _is_person(first) or second.startswith("rule:"):  # a rule that only masks agrees by its nature
            continue
        both = [(values[first], values[second]) for values in rated if first in values and second in values]
        if both:
            found.append(Pair(first, second, len(both), raw_agreement(both), cohen_kappa(both)))
    return found


def _is_person(key: str) -> bool:
    return key.startswith(("person:", "import:"))


def next_disagreement(found: list[Disagreement], after: int, action: int = 0) -> Disagreement | None:
    """The next one behind a step (and an action of it), round the end; None when there is none."""
    return next((d for d in found if (d.step, d.action) > (after, action)), found[0] if found else None)


def _of(entry: StepEntry, action: int, verdicts: Sequence[Verdict]) -> Disagreement | None:
    keep = tuple(v.author.key for v in verdicts if v.value == "keep")
    mask = tuple(v.author.key for v in verdicts if v.value == "mask")
    if not keep or not mask:
        return None
    persons = [any(map(_is_person, side)) for side in (keep, mask)]
    return Disagreement(entry.head.number, entry.head.title, keep, mask, all(persons), action)
