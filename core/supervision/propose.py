"""Turn the rules' findings into verdict events: only what changes an opinion that already stands in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from core.domain.events import Event, VerdictGiven, make_event
from core.domain.step import StepBody
from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import Verdict
from core.formats.tools import table_of
from core.supervision.foreign_tools import in_our_words
from core.supervision.rule import LIVE
from core.supervision.rules import RULES, Evidence, Finding, Rule

_log = logging.getLogger("session")

BodyOf = Callable[[str], StepBody | None]
"""The body of a hash, or None where it is not at hand; such steps are passed over."""


def gather(trajectory: Trajectory, body_of: BodyOf) -> Evidence:
    """What the rules may look at."""
    bodies = (body_of(entry.body) for entry in trajectory.steps)
    steps = [b for b in bodies if b is not None]
    delivered = [g for g in trajectory.advice if g.delivered_step is not None]
    origin = trajectory.created.program if trajectory.created else LIVE
    named = {} if origin == LIVE else {(b.number, at): a.tool for b in steps for at, a in enumerate(b.actions, 1)}
    return Evidence(steps=steps if origin == LIVE else in_our_words(steps, table_of(origin)), files=trajectory.files,
                    written=named, scores=trajectory.scores, guidance=delivered, origin=origin,
                    task=trajectory.created.task if trajectory.created else None)


def propose(trajectory: Trajectory, body_of: BodyOf, rules: Sequence[str] | Sequence[Rule] | None = None
            ) -> list[Event]:
    """The verdicts that rules (by name, or themselves; None: all) would add to this log; empty when all was said.

    A rule that no longer finds a step, or is switched off, takes its earlier verdict back. A rule that breaks says
    nothing and takes nothing back. Raises NotFound for an unknown name.
    """
    chosen = [r if isinstance(r, Rule) else RULES.get([r])[0] for r in (RULES.get() if rules is None else rules)]
    evidence = gather(trajectory, body_of)
    seen = {body.number for body in evidence.steps}
    return [e for rule in chosen for e in _verdicts(rule, trajectory, evidence, seen)]


def findings(rule: Rule, evidence: Evidence) -> dict[int, dict[int, str]] | None:
    """A rule's reasons by step and action, the first of each; None where the rule itself broke, which is logged.

    Action 0 is the whole step, and stands alone: a step of one action is judged as a whole.
    """
    found: dict[int, dict[int, str]] = {}
    actions = {body.number: len(body.actions) for body in evidence.steps}
    try:
        for finding in rule.find(evidence):
            if isinstance(finding, Finding):
                is_one_of_many = 0 < finding.action <= actions.get(finding.step, 0) > 1
                found.setdefault(finding.step, {}).setdefault(finding.action * is_one_of_many, finding.reason)
    except Exception:  # noqa: BLE001 - a person's rule may raise anything; the others go on
        _log.exception("the rule %s broke", rule.name)
        return None
    return {step: {0: reasons[0]} if 0 in reasons else reasons for step, reasons in found.items()}


def _verdicts(rule: Rule, trajectory: Trajectory, evidence: Evidence, seen: set[int]) -> list[Event]:
    found = findings(rule, evidence) if rule.enabled else {}
    if found is None:
        return []
    return [make_event(fact, rule.author) for entry in trajectory.steps if entry.head.number in seen
            if (reasons := found.get(entry.head.number, {})) or entry.verdicts
            for fact in _changes(rule, entry, reasons)]


def _changes(rule: Rule, entry: StepEntry, reasons: Mapping[int, str]) -> list[VerdictGiven]:
    """What a rule says anew of a step, `reasons` being those that it has now by action. What it says of the whole step
    takes back what it said of single actions."""
    given = {v.action: v for v in entry.verdicts.values() if v.author.key == rule.author.key}
    changed = [action for action in sorted({*given, *reasons})
               if not _is_in_log(rule, given.get(action), reasons.get(action))]
    if 0 in changed:
        changed = [0, *reasons] if 0 not in reasons else [0]
    return [VerdictGiven(step=entry.head.number, action=action, value="mask" if action in reasons else "none",
                         reason=reasons.get(action, "")) for action in changed]


def _is_in_log(rule: Rule, given: Verdict | None, reason: str | None) -> bool:
    """Whether the log has a rule's word already."""
    if given is None or reason is None:
        return given is None and reason is None
    return (given.value, given.reason, given.author) == ("mask", reason, rule.author)
