"""What of an update is worth a look, so that a reward that is earned the wrong way is noticed. No Qt.

Nothing here says that a session cheats: it says where a person looks first. What is usual is what the update before
and the metrics before tell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import mean, median

import msgspec

from core.workers.reinforcement import GroupSheet, RlMetric, SessionSheet

LONGER, SHORTER = 2.0, 0.5
"""A session of so many times the usual length is worth a look."""

REPEATS = 0.25
"""So much more of its words said again than is usual."""

CHANGED = 1.5
"""A metric that is so many times what it was over the updates before, or that part of it, is told; of failed actions
only that there are more."""

BEFORE, LEAST = 5, 3
"""How many updates before are what is usual, and how few are too few to say."""

_WATCHED: tuple[tuple[str, Callable[[RlMetric], float | None]], ...] = (
    ("length", lambda m: m.length), ("entropy", lambda m: m.entropy), ("errors", lambda m: m.errors),
    ("steps", lambda m: m.steps))


class NotableSession(msgspec.Struct, frozen=True):
    """A session to look at, from a step on. `reason`: quick (the highest reward in the fewest steps), failing (a high
    reward although most actions failed), longer, shorter, repeats; `value` and `usual` are what that compares."""

    reason: str
    session: str
    group: str
    step: int
    value: float
    usual: float


class MetricChange(msgspec.Struct, frozen=True):
    """A metric that is suddenly another: its value of now, and what it was over the updates before."""

    key: str
    now: float
    before: float


def changes(metrics: Sequence[RlMetric], update: int) -> list[MetricChange]:
    """Which metrics of an update are suddenly others."""
    now = next((m for m in metrics if m.update == update), None)
    past = [m for m in metrics if update - BEFORE <= m.update < update and m.update]
    found = []
    for key, of in _WATCHED:
        values = [v for m in past if (v := of(m)) is not None and math.isfinite(v)]
        value = of(now) if now is not None else None
        if value is None or not math.isfinite(value) or len(values) < LEAST or mean(values) <= 0:
            continue
        ratio = value / mean(values)
        if ratio >= CHANGED or (ratio <= 1 / CHANGED and key != "errors"):  # that fewer fail is the aim
            found.append(MetricChange(key, value, mean(values)))
    return found


def samples(groups: Sequence[GroupSheet], before: Sequence[GroupSheet]) -> list[NotableSession]:
    """The sessions of an update to look at first, the most telling reason first; each session once."""
    members = [(group.group, member) for group in groups for member in group.sessions if member.steps]
    usual = [member for group in before or groups for member in group.sessions if member.steps]
    if not members:
        return []
    found = [*_quick(members, usual), *_failing(members), *_repeating(members, usual), *_long(members, usual)]
    return list({sample.session: sample for sample in reversed(found)}.values())[::-1]


Member = tuple[str, SessionSheet]


def _quick(members: Sequence[Member], usual: Sequence[SessionSheet]) -> Iterable[NotableSession]:
    """The highest reward at the fewest steps, and there the fewest tokens."""
    group, best = min(members, key=lambda m: (-m[1].reward, len(m[1].steps), tokens_of(m[1])))
    if best.reward > 0:
        yield NotableSession("quick", best.session, group, best.steps[0].number, len(best.steps),
                     mean(len(one.steps) for one in usual))


def _failing(members: Sequence[Member]) -> Iterable[NotableSession]:
    """A reward above the middle of all, although at least half of the actions failed."""
    middle = median(member.reward for _, member in members)
    wrong = [(group, m) for group, m in members if m.reward > 0 and m.reward >= middle
             and 2 * sum(s.is_error for s in m.steps) >= len(m.steps)]
    if wrong:
        group, worst = max(wrong, key=lambda m: (sum(s.is_error for s in m[1].steps) / len(m[1].steps), m[1].reward))
        failed = [s.number for s in worst.steps if s.is_error]
        yield NotableSession("failing", worst.session, group, failed[0], len(failed), len(worst.steps))


def _repeating(members: Sequence[Member], usual: Sequence[SessionSheet]) -> Iterable[NotableSession]:
    normal = mean(repetition(one) for one in usual)
    group, most = max(members, key=lambda m: repetition(m[1]))
    if repetition(most) >= normal + REPEATS:
        yield NotableSession("repeats", most.session, group, _first_repeat(most), repetition(most), normal)


def _long(members: Sequence[Member], usual: Sequence[SessionSheet]) -> Iterable[NotableSession]:
    """The longest and the shortest, where they are far from what is usual."""
    normal = median(tokens_of(one) for one in usual)
    for reason, (group, member) in (("longer", max(members, key=lambda m: tokens_of(m[1]))),
                                    ("shorter", min(members, key=lambda m: tokens_of(m[1])))):
        tokens = tokens_of(member)
        if (reason == "longer" and tokens >= LONGER * normal) or (reason == "shorter" and tokens <= SHORTER * normal):
            longest = max(member.steps, key=lambda s: s.tokens)
            yield NotableSession(reason, member.session, group, longest.number, tokens, normal)


def tokens_of(member: SessionSheet) -> int:
    """The tokens that a session's policy wrote."""
    return sum(step.tokens for step in member.steps)


def repetition(member: SessionSheet) -> float:
    """The share of a session's runs of three words that were there before (0-1)."""
    words = " ".join(step.text for step in member.steps).split()
    runs = [tuple(words[i : i + 3]) for i in range(len(words) - 2)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0


def _first_repeat(member: SessionSheet) -> int:
    """The first step that says what one before it said; else the first."""
    seen: set[str] = set()
    for step in member.steps:
        if step.text in seen:
            return step.number
        seen.add(step.text)
    return member.steps[0].number
