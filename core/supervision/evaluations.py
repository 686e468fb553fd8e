"""Rules about the time of an evaluation or of the end, and about a score that went down."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated

from msgspec import Meta

from core.domain.action_kinds import QUIET, names_of
from core.domain.step import StepBody
from core.supervision.rule import RULES, Evidence, Finding
from core.supervision.traces import command_of, commands, running_at

_HOUSEKEEPING = names_of(lambda kind: kind.is_housekeeping)
_BACKUP = re.compile(r"(?:cp|rsync|tar|zip|mkdir|git\s+(?:commit|add|tag|stash|status|log|diff)|sha256sum|md5sum)\b")
_LOOK = re.compile(r"(?:ls|cat|head|tail|less|wc|du|df|nvidia-smi|grep|rg|find|stat|file|diff|ps|pwd|cd|echo|tree|"
                   r"which|top|htop|free|sed\s+-n|git\s+(?:status|log|diff|show))\b(?!.*>)")


@RULES.add("repeated_evaluation", "2")
def repeated_evaluation(evidence: Evidence) -> Iterator[Finding]:
    """"Use Eval / Finish in inappropriate time (for example call eval just after the last eval without any change
    on the output file)" (APOLLO App. E, priority 8).

    Between two evaluations anything but looking and thinking counts as a possible change, and so does sleeping
    while a job runs: the rule speaks only where nothing can have changed.
    """
    changed = {f.step for f in evidence.files}
    last: int | None = None
    running: set[str] = set()
    for body in evidence.steps:
        _follow_jobs(running, body)
        evaluates = _places(body, "eval")
        for place in evaluates if last is not None else ():
            yield Finding(body.number, f"nothing changed since the evaluation at step {last}", place)
        if body.number in changed or _may_change(body, bool(running)):
            last = None
        if evaluates and not _failed(body):
            last = body.number


def _places(body: StepBody, tool: str) -> list[int]:
    """Which of a step's actions, counted from 1, are well-formed ones of a tool."""
    return [at for at, action in enumerate(body.actions, 1) if action.tool == tool and not action.malformed]


def _follow_jobs(running: set[str], body: StepBody) -> None:
    for observation in body.observations:
        if observation.job:
            (running.add if observation.status == "running" else running.discard)(observation.job)


def _may_change(body: StepBody, job_runs: bool) -> bool:
    tools = {a.tool for a in body.actions} - QUIET - {"eval"}
    return bool(tools) or job_runs


def _failed(body: StepBody) -> bool:
    """An evaluation that broke may be asked for again."""
    calls = {a.call_id for a in body.actions if a.tool == "eval"}
    return any(o.is_error for o in body.observations if o.call_id in calls)


@RULES.add("early_finish", "2")
def early_finish(evidence: Evidence) -> Iterator[Finding]:
    """"Use Eval / Finish in inappropriate time" (APOLLO App. E, priority 8): finishing while a job that the agent
    started still runs, or with the outputs of a score below its best, though App. E asks to "select the best output
    files when you want to finish".
    """
    jobs = evidence.job_runs
    changed = {f.step for f in evidence.files}
    for body in evidence.steps:
        if not (places := _places(body, "finish")):
            continue
        if running := running_at(jobs, body.number):
            yield Finding(body.number, f"the job {running[0].job} of step {running[0].start} still runs", places[0])
            continue
        scores = [s for s in evidence.scores if s.total is not None and s.step < body.number]
        best = max((s.total or 0.0 for s in scores), default=0.0)
        if not scores or (scores[-1].total or 0.0) >= best:
            continue
        between = (b for b in evidence.steps if scores[-1].step < b.number < body.number)
        if not any(b.number in changed or _may_change(b, False) for b in between):
            last = scores[-1].total or 0.0
            why = f"the last score is {last:g}, the best was {best:g} and is not put back"
            yield Finding(body.number, why, places[0])


@RULES.add("lowered_score", "1")
def lowered_score(evidence: Evidence, *, max_score: float = 100.0, margin: Annotated[float, Meta(ge=0)] = 0.0
                  ) -> Iterator[Finding]:
    """"Remove actions that decrease performance when already at high scores" (APOLLO App. E, priority 4): what was
    done between a score of `max_score` less `margin` and the lower one that follows it.

    Looking, waiting and backing outputs up are kept, as App. E says.
    """
    scores = [s for s in evidence.scores if s.total is not None]
    for before, after in pairwise(scores):
        high, low = before.total or 0.0, after.total or 0.0
        if high < max_score - margin or low >= high:
            continue
        for body in evidence.steps:
            if before.step < body.number <= after.step and _works(body):
                yield Finding(body.number, f"the score was {high:g} already, and {low:g} after this")


def _works(body: StepBody) -> bool:
    """Whether a step does more than to look, wait, evaluate or back up."""
    for action in body.actions:
        if action.tool in QUIET | _HOUSEKEEPING:
            continue
        parts = commands(command_of(action))
        if not parts or not all(_BACKUP.match(c) or _LOOK.match(c) for c in parts):
            return True
    return False
