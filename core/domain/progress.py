"""How far people have judged a session, and what each of them says of a step: one word per step, as it is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec

from core.domain.bounds import Count
from core.domain.verdict import DECIDED, PEOPLE, Verdict, by_action, outcome, together

Judgement = Literal["keep", "mask", "partly", "unsure"]
"""`partly`: some actions of the step are masked, others kept; `unsure`: a person was, and none decided."""

ANYBODY = ""
"""The name under which all people together are counted."""

MOST_PEOPLE = 1_000
"""So many people are counted in one session; who comes later is counted among all alone."""


class Judged(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """So many steps are kept, masked (whole or in part), or left unsure by people."""

    keep: Count = 0
    mask: Count = 0
    unsure: Count = 0

    @property
    def total(self) -> int:
        """The steps that somebody looked at and judged, be it unsure."""
        return self.keep + self.mask + self.unsure

    def plus(self, other: Judged) -> Judged:
        """Both together."""
        return Judged(keep=self.keep + other.keep, mask=self.mask + other.mask, unsure=self.unsure + other.unsure)

    def counted(self, judgement: Judgement, by: int) -> Judged:
        """With one step more or less."""
        name = "mask" if judgement == "partly" else judgement
        return msgspec.structs.replace(self, **{name: max(0, getattr(self, name) + by)})


class Progress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was judged of all steps, of those that failed, and of those that answer or report."""

    steps: Judged = Judged()
    errors: Judged = Judged()
    reports: Judged = Judged()


class StepWord(msgspec.Struct, frozen=True):
    """What somebody says of a step, and whether the step failed, or answers or reports."""

    judgement: Judgement
    is_error: bool
    is_report: bool = False


def judgement_of(verdicts: Iterable[Verdict], actions: int) -> Judgement | None:
    """What people say of a step of so many actions; None while one of its actions is open and nobody is unsure."""
    given = [v for v in verdicts if v.author.kind in PEOPLE]
    if not given:
        return None
    if len(given) == 1 and not given[0].action:  # most steps, of which there are many
        return None if given[0].value == "none" else given[0].value
    parts = by_action(given, actions).values()
    if all(any(v.value in DECIDED for v in on_one) for on_one in parts):
        found = together(outcome(on_one) for on_one in parts)
        return None if found == "undecided" else found
    return "unsure" if any(v.value == "unsure" for v in given) else None


def judgements(verdicts: Iterable[Verdict], actions: int) -> dict[str, Judgement]:
    """The same of each person by key, and of all together under ANYBODY."""
    given = [v for v in verdicts if v.author.kind in PEOPLE]
    by_person = {v.author.key: [w for w in given if w.author.key == v.author.key] for v in given}
    found = {key: judgement_of(mine, actions) for key, mine in {ANYBODY: given, **by_person}.items()}
    return {key: word for key, word in found.items() if word is not None}


def recount(progress: Mapping[str, Progress], before: Mapping[str, StepWord], after: Mapping[str, StepWord]
            ) -> dict[str, Progress]:
    """The progress of each person when what they say of one step changes."""
    counted = dict(progress)
    for words, by in ((before, -1), (after, 1)):
        for person, word in words.items():
            if person in counted or len(counted) < MOST_PEOPLE:
                counted[person] = _with(counted.get(person, Progress()), word, by)
    return {person: one for person, one in counted.items() if one != Progress()}


def _with(progress: Progress, word: StepWord, by: int) -> Progress:
    errors = progress.errors.counted(word.judgement, by) if word.is_error else progress.errors
    reports = progress.reports.counted(word.judgement, by) if word.is_report else progress.reports
    return Progress(steps=progress.steps.counted(word.judgement, by), errors=errors, reports=reports)
