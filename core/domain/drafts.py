"""Generated tasks while they are made: what became of a draft, and each answer of its author. Values only."""

from math import comb
from typing import Literal

import msgspec

Phase = Literal["description", "initial tests", "image", "final tests"]
PHASES: tuple[Phase, ...] = ("description", "initial tests", "image", "final tests")

DraftState = Literal["accepted", "refused", "to mend"]


class DraftRecord(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What became of a draft: the gate that it did not pass, why, and how often its author was asked again.

    `session` is that of its author, where a model wrote it. `solved` of `attempts` sessions of a policy, its
    `solvers`, solved it. `by_person`: somebody decided so, whose word `gate` and `reason` are then.
    """

    number: int
    id: str
    state: DraftState
    title: str = ""
    phase: str = ""
    gate: str = ""
    reason: str = ""
    mended: int = 0
    by_person: bool = False
    session: str = ""
    solved: int = 0
    attempts: int = 0
    solvers: tuple[str, ...] = ()


class DraftAnswer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the author of a draft gave for a phase, as text, and the gate that refused it ("": it passed all)."""

    number: int
    phase: Phase
    attempt: int
    text: str
    gate: str = ""
    reason: str = ""


def pass_at(k: int, attempts: int, solved: int) -> float:
    """The chance that one of k attempts solves a task of which `solved` of so many attempts did: 1 - C(n-c, k)/C(n, k),
    the unbiased estimate (Chen et al., arXiv 2107.03374, equation 1)."""
    return 1.0 - comb(attempts - solved, k) / comb(attempts, k)
