"""Facts about submissions and their scores."""

from __future__ import annotations

from typing import Annotated

from core.domain.blob import BlobRef
from core.domain.bounds import Code, Count, Few, Name, Points, StepPlace, Text
from core.domain.events.fact import Fact


class SubmissionMade(Fact, frozen=True, kw_only=True, tag="submission_made"):
    """The agent handed in its `ordinal`-th submission, at a step."""

    ordinal: Count
    step: StepPlace
    blob: BlobRef = ""


class ScoreGiven(Fact, frozen=True, kw_only=True, tag="score_given"):
    """An evaluator's outcome, 0–100; `failed` when the evaluator itself broke (then `total` is None). `reason` is the
    code of what went wrong before or beside the evaluator's own words, which `message` tells in English. `metric` is
    what was measured, in the evaluator's own unit, where it tells one."""

    ordinal: Count
    step: StepPlace
    total: Points | None
    metric: Points | None = None
    parts: Annotated[dict[Name, Points], Few] = {}
    message: Text = ""
    failed: bool = False
    reason: Code = ""


class SubmissionRescored(Fact, frozen=True, kw_only=True, tag="submission_rescored"):
    """What was handed in `ordinal`-th, scored once more by an evaluator that changed, or a judge; fields as in
    `ScoreGiven`, which stays as it was given.

    `evaluator` names who scored, `version` is the digest of all that its answer hangs on: script and references, or
    model, prompt and rubric.
    """

    ordinal: Count
    evaluator: Name
    version: Code
    total: Points | None
    metric: Points | None = None
    parts: Annotated[dict[Name, Points], Few] = {}
    message: Text = ""
    failed: bool = False
    reason: Code = ""
