"""Turn the rules' findings into verdict events: only what changes an opinion that already stands in the log."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from functools import partial

from core.domain.events import Event, VerdictGiven, make_event
from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import Verdict
from core.supervision.gather import BodyOf, gather
from core.supervision.rules import RULES, Evidence, Finding, Rule
from core.supervision.step_windows import StepWindows

_log = logging.getLogger("session")

Reasons = dict[int, dict[int, str]]
"""Why a rule masks, by step and action."""

def propose(trajectory: Trajectory, body_of: BodyOf, rules: Sequence[str] | Sequence[Rule] | None = None
            ) -> list[Event]:
    """The verdicts that rules (by name, or themselves; None: all) would add to this log; empty when all was said.

    A rule that no longer finds a step, or is switched off, takes its earlier verdict back. A rule that breaks says
    nothing and takes nothing back. Raises NotFound for an unknown name.
    """
    chosen = [r if isinstance(r, Rule) else RULES.get([r])[0] for r in (RULES.get() if rules is None else rules)]
    evidence = gather(trajectory, body_of)
    found = findings([rule for rule in chosen if rule.enabled], evidence)
    judged = {entry.head.number for entry in trajectory.steps if entry.verdicts}
    return [e for rule in chosen if (reasons := found.get(rule.name, {})) is not None
            for e in _verdicts(rule, trajectory, reasons, {*reasons, *judged}.difference(evidence.absent))]


def findings(rules: Sequence[Rule], evidence: Evidence) -> dict[str, Reasons | None]:
    """What some rules find, by their names; None where one broke."""
    works = [partial(_findings, rule, evidence) for rule in rules]
    steps = evidence.steps
    found = steps.run_together(works) if isinstance(steps, StepWindows) else [work() for work in works]
    return {rule.name: reasons for rule, reasons in zip(rules, found, strict=True)}


def _findings(rule: Rule, evidence: Evidence) -> Reasons | None:
    """A rule's reasons by step and action, the first of each; None where the rule itself broke, which is logged.

    Action 0 is the whole step, and stands alone: a step of one action is judged as a whole.
    """
    try:
        found = [finding for finding in rule.find(evidence) if isinstance(finding, Finding)]
    except Exception:  # noqa: BLE001 - a person's rule may raise anything; the others go on
        _log.exception("the rule %s broke", rule.name)
        return None
    reasons: Reasons = {}
    for finding in found:
        is_one_of_many = 0 < finding.action <= evidence.has_several(finding.step)
        reasons.setdefault(finding.step, {}).setdefault(finding.action * is_one_of_many, finding.reason)
    return {step: {0: by_action[0]} if 0 in by_action else by_action for step, by_action in reasons.items()}


def _verdicts(rule: Rule, trajectory: Trajectory, found: Reasons, steps: set[int]) -> list[Event]:
    """What changes on some steps by what a rule found."""
    entries = map(trajectory.steps.__getitem__, trajectory.steps.indices_of(steps))
    return [make_event(fact, rule.author) for entry in entries
            for fact in _changes(rule, entry, found.get(entry.head.number, {}))]


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
