"""Rules about trying the same again and waiting for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import msgspec

from core.domain.action_kinds import QUIET, WAITING
from core.domain.step import StepBody
from core.supervision.rule import RULES, Evidence, Finding
from core.supervision.rule_settings import Count
from core.supervision.traces import JobRun, running_at


@RULES.add("blind_retry", "1")
def blind_retry(evidence: Evidence) -> Iterator[Finding]:
    """"Remove … error-prone actions" (APOLLO App. E, priority 3): the same call again, with the same failure, though
    nothing was changed since. Looking into the reason is debugging and kept; so is to try again after a wait.
    """
    last: tuple[bytes, bytes] | None = None
    first = 0
    for body in evidence.steps:
        tools = {a.tool for a in body.actions}
        if tools and tools <= QUIET - {"sleep"} and not _failure(body):
            continue
        failure = _failure(body)
        if failure is not None and last == (_asked(body), failure):
            yield Finding(body.number, f"the call of step {first} again, with the same failure and nothing changed")
        else:
            first = body.number
        last = (_asked(body), failure) if failure is not None else None


def _asked(body: StepBody) -> bytes:
    return msgspec.json.encode([(a.tool, a.arguments) for a in body.actions], order="deterministic")


def _failure(body: StepBody) -> bytes | None:
    """What failed, in a form to compare; None where all went well."""
    failed = [o for o in body.observations if o.is_error]
    ends = [(o.status, o.exit_code, o.error.message if o.error else "", o.output.text[-500:]) for o in failed]
    return msgspec.json.encode(ends) if failed else None


@RULES.add("deadlocked_polling", "1")
def deadlocked_polling(evidence: Evidence, *, run: Count = 10) -> Iterator[Finding]:
    """A monitor deadlock: `run` or more steps in a row that only wait or poll while nothing runs, or that poll a
    running job without a sleep and see the same each time (InnovatorBench's metric M14).

    "The 'sleep' actions during training/inference" demonstrate patience and are kept (APOLLO App. E).
    """
    jobs = evidence.job_runs
    steps: list[StepBody] = []
    for body in chain(evidence.steps, [StepBody(number=0)]):
        if body.actions and all(a.tool in WAITING and not a.malformed for a in body.actions):
            steps.append(body)
            continue
        yield from _idle(steps, jobs, run)
        yield from _same(steps, run)
        steps = []


def _idle(steps: Sequence[StepBody], jobs: Sequence[JobRun], run: int) -> Iterator[Finding]:
    idle = [b for b in steps if not running_at(jobs, b.number) and not _seems_busy(b)]
    if len(idle) >= run:
        for body in idle[1:]:
            yield Finding(body.number, f"one of {len(idle)} steps in a row that wait though nothing runs")


def _seems_busy(body: StepBody) -> bool:
    """Whether a result says that a program runs (imported sessions know no jobs)."""
    return any(o.status == "running" or o.data.get("is_idle") is False or o.data.get("is_busy") is True
               or (isinstance(s := o.data.get("status"), dict) and s.get("completed") is False)
               for o in body.observations)


def _same(steps: Sequence[StepBody], run: int) -> Iterator[Finding]:
    """Polls in a row without a sleep that show one and the same."""
    polls: list[StepBody] = []
    for body in [*steps, StepBody(number=0)]:
        sleeps = any(a.tool == "sleep" for a in body.actions)
        if body.actions and not sleeps and (not polls or _shown(body) == _shown(polls[0])):
            polls.append(body)
            continue
        if len(polls) >= run and _seems_busy(polls[0]):
            for late in polls[1:]:
                yield Finding(late.number, f"one of {len(polls)} polls in a row that show the same, without a sleep")
        polls = [body] if body.actions and not sleeps else []


def _shown(body: StepBody) -> list[str]:
    return [o.output.text for o in body.observations]
