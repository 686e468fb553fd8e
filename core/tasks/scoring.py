"""What an evaluator says, and the outcome of an evaluation that comes of it."""

from __future__ import annotations

import math
from typing import Annotated

import msgspec

from core.domain.bounds import Few, Name, Points
from core.domain.gain import scaled
from core.domain.task import Task


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """The last line of an evaluator: a `total` of 0–100, or the `metric` that it measured, in a unit of its own, of
    which the task's baseline and best known value make a total. `valid` false: what was handed in has not the form
    that was asked for.
    """

    total: float | None = None
    metric: float | None = None
    valid: bool = True
    parts: Annotated[dict[Name, Points], Few] = {}
    message: str = ""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The end of one evaluation: a score, or (`failed`) why there is none, with a stable code as `reason`."""

    total: float | None
    metric: float | None = None
    parts: dict[str, float] = {}
    message: str = ""
    failed: bool = False
    reason: str = ""


def read_score(output: bytes, task: Task | None = None) -> Outcome:
    """The outcome that the last line of an evaluator's output tells; a metric counts on the scale of `task`."""
    lines = [line for line in output.splitlines() if line.strip()]
    try:
        score = msgspec.json.decode(lines[-1] if lines else b"", type=Score)
    except (ValueError, RecursionError) as error:
        return failed(f"The evaluator's answer cannot be read ({error}): {tail(output)}")
    message = score.message[:4000]
    if not score.valid:
        return Outcome(total=0.0, parts=score.parts, message=message, reason="bad_format")
    total = _total(score, task)
    numbers = (total, score.metric, *score.parts.values())
    if total is None:
        return failed("The evaluator gave no total; a metric alone counts where the task has a baseline and a "
                      "best_known value.")
    if not all(n is None or (math.isfinite(n) and abs(n) <= 1e9) for n in numbers) or not 0 <= total <= 100:
        return failed(f"The evaluator gave {total}, which is no score of 0 to 100.")
    return Outcome(total=total, metric=score.metric, parts=score.parts, message=message)


def _total(score: Score, task: Task | None) -> float | None:
    if score.total is not None or score.metric is None or task is None:
        return score.total
    return scaled(task, score.metric) if math.isfinite(score.metric) else score.metric


def failed(message: str, reason: str = "evaluator_failed") -> Outcome:
    """No score, and why: what went wrong was not the agent's to hand in, so it costs no evaluation."""
    return Outcome(total=None, message=message[:4000], failed=True, reason=reason)


def tail(output: bytes) -> str:
    """The end of an output, as text for a message."""
    return output[-1500:].decode("utf-8", "replace").strip()
