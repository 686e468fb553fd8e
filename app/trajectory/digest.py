"""What happened in a session since the reader looked last. No Qt."""

from __future__ import annotations

import msgspec

from core.domain.steps import ERROR
from core.domain.trajectory import Trajectory

_FAILED = bytes(int(bool(flags & ERROR)) for flags in range(256))


class Digest(msgspec.Struct, frozen=True):
    """Counts of what is new; `first` is the first new step. Scores are None where there was none."""

    first: int
    steps: int
    errors: int = 0
    guidance: int = 0
    summaries: int = 0
    score_before: float | None = None
    score: float | None = None


def digest_of(trajectory: Trajectory, seen: int) -> Digest | None:
    """What came after step `seen`; None when there is nothing new."""
    steps = trajectory.steps
    at = steps.index_of(seen)
    start = next((i for i in range(0 if at is None else at + 1, len(steps)) if steps.numbers[i] > seen), len(steps))
    if start == len(steps):
        return None
    first = steps.numbers[start]
    scores = [s for s in trajectory.scores if s.total is not None]
    before = [s.total for s in scores if s.step <= seen]
    return Digest(
        first=first, steps=len(steps) - start, errors=bytes(steps.flags[start:]).translate(_FAILED).count(1),
        guidance=sum(1 for g in trajectory.guidance.values() if (g.delivered_step or 0) >= first),
        summaries=sum(1 for s in trajectory.summaries.values() if s.last > seen),
        score_before=before[-1] if before else None, score=scores[-1].total if scores else None)
