"""Verdicts: keep or mask, by whom and why; and which one counts in the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec

from core.domain.bounds import Code, Name

VerdictValue = Literal["keep", "mask", "unsure", "none"]
"""`none` takes an author's earlier verdict back."""

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
    """One author's standing opinion on one step."""

    author: Author
    value: VerdictValue
    reason: str = ""


Outcome = Literal["keep", "mask", "undecided"]
"""What was decided of a step. `undecided`: nobody's keep or mask has an effect on it."""

_DECIDING = ("person", "import", "rule", "judge")


def outcome(verdicts: Iterable[Verdict]) -> Outcome:
    """What was decided: the final verdict where a person's, a rule's or a judge's keep or mask makes it."""
    given = [v for v in verdicts if v.author.kind in _DECIDING and v.value in ("keep", "mask")]
    return final_verdict(given) if given else "undecided"


def final_verdict(verdicts: Iterable[Verdict]) -> Literal["keep", "mask"]:
    """What training does with a step.

    A person's keep or mask decides; of several persons the latest given (the last in order) counts.
    Otherwise the step is masked if any rule or judge masks it, else kept.
    """
    given = list(verdicts)
    people = [v.value for v in given if v.author.kind in ("person", "import") and v.value in ("keep", "mask")]
    if people:
        return "mask" if people[-1] == "mask" else "keep"
    return "mask" if any(v.value == "mask" for v in given if v.author.kind in ("rule", "judge")) else "keep"
