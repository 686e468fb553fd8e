"""Verdicts: keep or mask, by whom and why; and which one counts in the end.

A verdict is on a whole step, or on one of its actions. An author's word on an action is an exception from what the
same author says of the step; a later word on the step takes such exceptions back.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Literal

import msgspec

from core.domain.bounds import Code, Name

VerdictValue = Literal["keep", "mask", "unsure", "none"]
"""`none` takes an author's earlier verdict back."""

PEOPLE = ("person", "import")
"""The kinds of author whose keep or mask decides."""

DECIDED = ("keep", "mask")

Outcome = Literal["keep", "mask", "undecided"]
"""What was decided of an action. `undecided`: nobody's keep or mask has an effect on it."""

StepOutcome = Literal["keep", "mask", "partly", "undecided"]
"""What was decided of a step. `partly`: some of its actions are masked, others kept; `undecided`: nobody decided on the
step, or on one of its actions."""

AuthorKind = Literal["agent", "person", "rule", "judge", "server", "import"]


class Author(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who did something. `version` is the rule's or judge's."""

    kind: AuthorKind
    name: Name
    version: Code = ""

    @property
    def key(self) -> str:
        """One string for one author, whatever the version: the latest verdict per key counts."""
        return f"{self.kind}:{self.name}"


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """One author's standing opinion on one step, or on the `action`-th of its actions (counted from 1; 0: all).

    `at` is when one on an action was given: a word on the whole step takes back only what is older.
    """

    author: Author
    value: VerdictValue
    reason: str = ""
    action: int = 0
    at: datetime | None = None

    @property
    def key(self) -> str:
        """One string for what it is about and by whom: the latest verdict per key counts."""
        return verdict_key(self.author, self.action)


def verdict_key(author: Author, action: int = 0) -> str:
    """The author's key for a whole step, "2:person:li" for its second action: no kind of author is a number."""
    return f"{action}:{author.key}" if action else author.key


def take(verdicts: dict[str, Verdict], verdict: Verdict, at: datetime) -> None:
    """Let a verdict that was given at a time take its place as the latest; `none` takes back what it is about."""
    verdicts.pop(verdict.key, None)
    if not verdict.action:
        mine = [v for v in verdicts.values() if v.action and v.author.key == verdict.author.key]
        for exception in mine:
            if exception.at is None or exception.at <= at:
                del verdicts[exception.key]
    if verdict.value != "none":
        verdicts[verdict.key] = verdict


def outcome(verdicts: Iterable[Verdict]) -> Outcome:
    """What was decided by verdicts on one thing.

    A person's keep or mask decides; of several persons the latest given (the last in order) counts. Otherwise a mask
    of any rule or judge does, then a keep.
    """
    given = list(verdicts)
    people = [v.value for v in given if v.author.kind in PEOPLE and v.value in DECIDED]
    if people:
        return "mask" if people[-1] == "mask" else "keep"
    proposed = {v.value for v in given if v.author.kind in ("rule", "judge")}
    return "mask" if "mask" in proposed else "keep" if "keep" in proposed else "undecided"


def final_verdict(verdicts: Iterable[Verdict]) -> Literal["keep", "mask"]:
    """What training does with something on which these verdicts stand: what is not masked is kept."""
    return "mask" if outcome(verdicts) == "mask" else "keep"


def on_action(verdicts: Iterable[Verdict], action: int) -> list[Verdict]:
    """What counts for one action (0: for the whole step): each author's word on it, else on the whole step."""
    given = list(verdicts)
    named = {v.author.key for v in given if v.action == action} if action else set()
    return [v for v in given if v.action == action or (not v.action and v.author.key not in named)]


def by_action(verdicts: Iterable[Verdict], actions: int) -> dict[int, list[Verdict]]:
    """What counts for each of a step's so many actions; all of them are one thing, 0, while nobody names one."""
    given = list(verdicts)
    if not any(0 < v.action <= actions for v in given):
        return {0: on_action(given, 0)}
    return {action: on_action(given, action) for action in range(1, actions + 1)}


def step_outcome(verdicts: Iterable[Verdict], actions: int) -> StepOutcome:
    """What was decided of a step of so many actions."""
    return together(outcome(on_one) for on_one in by_action(verdicts, actions).values())


def together(outcomes: Iterable[Outcome]) -> StepOutcome:
    """What was decided of a step whose actions were decided so."""
    found = set(outcomes)
    return "undecided" if "undecided" in found else found.pop() if len(found) == 1 else "partly"


def masked_actions(verdicts: Iterable[Verdict], actions: int) -> tuple[int, ...]:
    """The actions that are masked one by one; () where none is, or the step as a whole."""
    return tuple(a for a, on_one in by_action(verdicts, actions).items() if a and final_verdict(on_one) == "mask")


def without(verdicts: Mapping[str, Verdict], authors: Iterable[str]) -> list[Verdict]:
    """The verdicts but for those of some authors, by their keys ("rule:blind_edit") or kinds ("rule")."""
    left_out = set(authors)
    return [v for v in verdicts.values() if v.author.key not in left_out and v.author.kind not in left_out]
