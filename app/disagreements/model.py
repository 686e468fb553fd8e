"""Steps on which people, rules or judges say keep and mask, and how far they agree in numbers. No Qt."""

from __future__ import annotations

from itertools import combinations

import msgspec

from core.domain.trajectory import StepEntry, Trajectory
from core.supervision.coefficients import cohen_kappa, raw_agreement


class Disagreement(msgspec.Struct, frozen=True):
    """One step with who keeps and who masks it. `people`: persons differ among themselves."""

    step: int
    title: str
    keep: tuple[str, ...]
    mask: tuple[str, ...]
    people: bool = False


class Pair(msgspec.Struct, frozen=True):
    """Two authors on the steps that both decided; None where that cannot be said."""

    first: str
    second: str
    steps: int
    raw: float | None
    kappa: float | None


def disagreements(trajectory: Trajectory, only: str = "") -> list[Disagreement]:
    """In the order of the steps. `only`: an author's key; steps that this author has not decided are left out."""
    opinions = sorted(trajectory.steps.opinions.items())
    judged = (trajectory.steps[i] for i, of_step in opinions if len(of_step.verdicts) > 1)
    found = (_of(entry) for entry in judged if not only or _decided(entry, only))
    return [one for one in found if one is not None]


def pairs(trajectory: Trajectory) -> list[Pair]:
    """Each two persons, and each judge with each person, on the steps that both decided."""
    steps = [o.verdicts for o in trajectory.steps.opinions.values() if o.verdicts]
    authors = sorted({key for verdicts in steps for key in verdicts}, key=lambda k: (not _is_person(k), k))
    found = []
    for first, second in combinations(authors, 2):
        if not _is_person(first) or second.startswith("rule:"):  # a rule that only masks agrees by its nature
            continue
        both = [(verdicts[first].value, verdicts[second].value) for verdicts in steps
                if all(key in verdicts and verdicts[key].value in ("keep", "mask") for key in (first, second))]
        if both:
            found.append(Pair(first, second, len(both), raw_agreement(both), cohen_kappa(both)))
    return found


def _is_person(key: str) -> bool:
    return key.startswith(("person:", "import:"))


def next_disagreement(found: list[Disagreement], after: int) -> int | None:
    """The next such step behind one, round the end; None when there is none."""
    return next((d.step for d in found if d.step > after), found[0].step if found else None)


def _decided(entry: StepEntry, key: str) -> bool:
    return key in entry.verdicts and entry.verdicts[key].value in ("keep", "mask")


def _of(entry: StepEntry) -> Disagreement | None:
    keep = tuple(k for k, v in entry.verdicts.items() if v.value == "keep")
    mask = tuple(k for k, v in entry.verdicts.items() if v.value == "mask")
    if not keep or not mask:
        return None
    persons = [any(map(_is_person, side)) for side in (keep, mask)]
    return Disagreement(entry.head.number, entry.head.title, keep, mask, all(persons))
