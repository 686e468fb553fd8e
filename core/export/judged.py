"""Which steps training may see: what was decided on them, and what becomes of those on which nobody decided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from core.domain.errors import Conflict
from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import Outcome, StepOutcome, by_action, outcome, together, without
from core.export.options import ExportOptions
from core.export.source import LogSource
from core.workers.export import UNJUDGED

_NAMED = 5


def decided(entry: StepEntry, options: ExportOptions) -> StepOutcome:
    """What was decided on a step by those whose verdicts count here; keep, where none shall count. A step of which one
    action is masked is masked in part, also where nobody judged another."""
    found = set(decided_by_action(entry, options).values())
    return "partly" if "mask" in found and len(found) > 1 else together(found)


def unjudged(trajectory: Trajectory, options: ExportOptions) -> set[int]:
    """The numbers of the steps on which, or on an action of which, nobody decided."""
    return {entry.head.number for entry in trajectory.steps
            if "undecided" in decided_by_action(entry, options).values()}


def decided_by_action(entry: StepEntry, options: ExportOptions) -> dict[int, Outcome]:
    """The same for each of its actions, counted from 1; for all of them as one, 0, while nobody names one."""
    if entry.head.author and options.taken_over == "mask":
        return {0: "mask"}
    if options.verdicts == "none":
        return {0: "keep"}
    counted = without(entry.verdicts, options.ignored)
    return {action: outcome(on_one) for action, on_one in by_action(counted, len(entry.head.tools)).items()}


def outcomes(trajectory: Trajectory, options: ExportOptions) -> Counter[StepOutcome]:
    """How many steps were decided how."""
    return Counter(decided(entry, options) for entry in trajectory.steps)


def refuse_unjudged(source: LogSource, sessions: Sequence[str], options: ExportOptions) -> None:
    """Raises Conflict (steps_unjudged), naming the sessions, where there are steps that nobody judged and no word on
    them."""
    if options.unjudged != "refuse" or options.verdicts == "none":
        return
    counts: dict[str, tuple[int, int]] = {}
    for session in sessions:
        trajectory = source.trajectory(session)
        if open_steps := unjudged(trajectory, options):
            counts[session] = len(open_steps), len(trajectory.steps)
    if counts:
        steps = sum(count for count, _ in counts.values())
        sentence = UNJUDGED.format(steps=steps, sessions=len(counts), of=len(sessions), named=named_sessions(counts))
        raise Conflict("steps_unjudged", sentence, steps=steps, sessions=len(counts))


def named_sessions(counts: dict[str, tuple[int, int]]) -> str:
    """The first sessions, each with how many of its steps nobody judged (session → these, all)."""
    named = [f"{session}: {count} of {of}" for session, (count, of) in list(counts.items())[:_NAMED]]
    return ", ".join(named) + (f", and {len(counts) - _NAMED} more" if len(counts) > _NAMED else "")
