"""Branches that answer one question together: how the arms fared, by how much they differ, and from which action on.

An arm's interval is Student's for a mean, that of a difference Welch's (1947), both at 95 %: with few branches they are
wide, and with one there is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import sqrt
from statistics import fmean, variance

import msgspec

from core.domain.session import FINAL_STATES, SessionRow
from core.domain.trajectory import Trajectory

_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120,
      2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042)
"""The 97.5 % points of Student's t for 1 to 30 degrees of freedom."""

_NORMAL = 1.960

Interval = tuple[float, float]


class Arm(msgspec.Struct, frozen=True, kw_only=True):
    """The branches of one side: how many ended, their scores in the order of the branches, mean and its interval."""

    name: str
    sessions: tuple[str, ...]
    ended: int
    scores: tuple[float, ...] = ()
    mean: float | None = None
    interval: Interval | None = None


class Difference(msgspec.Struct, frozen=True, kw_only=True):
    """By how much the mean score of `arm` exceeds that of `other`."""

    arm: str
    other: str
    mean: float
    interval: Interval | None = None


class Parting(msgspec.Struct, frozen=True, kw_only=True):
    """The first step at which a branch does something else than the one that it is held against; 0: it does not."""

    session: str
    step: int = 0
    title: str = ""
    other_title: str = ""


def members(rows: Sequence[SessionRow], group: str) -> list[SessionRow]:
    """The branches of a group, in the order of their making."""
    return [row for row in rows if row.group == group]


def arms_of(rows: Sequence[SessionRow]) -> list[Arm]:
    """The sides of a group, each where its first branch stands."""
    names = dict.fromkeys(row.arm for row in rows)
    return [_arm(name, [row for row in rows if row.arm == name]) for name in names]


def _arm(name: str, rows: Sequence[SessionRow]) -> Arm:
    over = [row for row in rows if row.state in FINAL_STATES]
    scores = tuple(row.score for row in over if row.score is not None)
    return Arm(name=name, sessions=tuple(row.session for row in rows), ended=len(over), scores=scores,
               mean=fmean(scores) if scores else None, interval=mean_interval(scores))


def differences(arms: Sequence[Arm]) -> list[Difference]:
    """The first arm against each other that has scores."""
    return [Difference(arm=arms[0].name, other=other.name, mean=arms[0].mean - other.mean,
                       interval=difference_interval(arms[0].scores, other.scores))
            for other in arms[1:] if arms[0].mean is not None and other.mean is not None]


def mean_interval(values: Sequence[float]) -> Interval | None:
    """Where the mean lies with 95 %; None for fewer than two values."""
    if len(values) < 2:
        return None
    half = _t(len(values) - 1) * sqrt(variance(values) / len(values))
    return fmean(values) - half, fmean(values) + half


def difference_interval(left: Sequence[float], right: Sequence[float]) -> Interval | None:
    """Where the difference of two means lies with 95 %; None where a side has fewer than two values."""
    if len(left) < 2 or len(right) < 2:
        return None
    a, b = variance(left) / len(left), variance(right) / len(right)
    between = fmean(left) - fmean(right)
    if not a + b:
        return between, between
    freedom = (a + b) ** 2 / (a**2 / (len(left) - 1) + b**2 / (len(right) - 1))
    half = _t(freedom) * sqrt(a + b)
    return between - half, between + half


def _t(freedom: float) -> float:
    """The 97.5 % point; between the table's degrees of freedom by their inverse, in which it is nearly linear."""
    if freedom >= len(_T):
        return _NORMAL + (_T[-1] - _NORMAL) * len(_T) / freedom
    below = int(freedom)
    low, high = _T[below - 1], _T[below]
    share = (1 / below - 1 / freedom) / (1 / below - 1 / (below + 1))
    return low + (high - low) * share


def parting(session: str, of: Trajectory, against: Trajectory) -> Parting:
    """Where a branch parts from another session; steps are held against each other by their numbers."""
    heads = {entry.head.number: entry.head for entry in against.steps}
    for entry in of.steps:
        head, other = entry.head, heads.get(entry.head.number)
        if other is None or (head.tools, head.title) != (other.tools, other.title):
            return Parting(session=session, step=head.number, title=head.title,
                           other_title=other.title if other is not None else "")
    return Parting(session=session)


def reference(rows: Sequence[SessionRow], arms: Sequence[Arm], known: Mapping[str, Trajectory]) -> str:
    """What the branches of a group are held against: the session that they all branched from, else the first one."""
    parents = {row.parent for row in rows}
    parent = next(iter(parents)) if len(parents) == 1 else ""
    return parent if parent in known else arms[0].sessions[0]
