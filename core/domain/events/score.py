"""Facts about submissions and their scores."""

from __future__ import annotations

from core.domain.blob import BlobRef
from core.domain.events.fact import Fact


class SubmissionMade(Fact, frozen=True, kw_only=True, tag="submission_made"):
    """The agent handed in its `ordinal`-th submission, at a step."""

    ordinal: int
    step: int
    blob: BlobRef = ""


class ScoreGiven(Fact, frozen=True, kw_only=True, tag="score_given"):
    """An evaluator's outcome, 0–100; `failed` when the evaluator itself broke (then `total` is None)."""

    ordinal: int
    step: int
    total: float | None
    parts: dict[str, float] = {}
    message: str = ""
    failed: bool = False
