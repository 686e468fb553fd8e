"""Turn the rules' findings into verdict events: only what changes an opinion that already stands in the log."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from core.domain.events import Event, VerdictGiven, make_event
from core.domain.step import StepBody
from core.domain.trajectory import StepEntry, Trajectory
from core.supervision.foreign_tools import in_our_words
from core.supervision.rule import LIVE
from core.supervision.rules import RULES, Evidence, Finding, Rule

_log = logging.getLogger("session")

BodyOf = Callable[[str], StepBody | None]
"""The body of a hash, or None where it is not at hand; such steps are passed over."""


def gather(trajectory: Trajectory, body_of: BodyOf, secrets: Sequence[str] = ()) -> Evidence:
    """What the rules may look at."""
    bodies = (body_of(entry.body) for entry in trajectory.steps)
    steps = [b for b in bodies if b is not None]
    delivered = [g for g in trajectory.guidance.values() if g.delivered_step is not None]
    origin = trajectory.created.origin if trajectory.created else LIVE
    return Evidence(steps=steps if origin == LIVE else in_our_words(steps), files=trajectory.files,
                    scores=trajectory.scores, guidance=delivered, secrets=secrets, origin=origin,
                    task=trajectory.created.task if trajectory.created else None)


def propose(trajectory: Trajectory, body_of: BodyOf, rules: Sequence[str] | Sequence[Rule] | None = None,
            secrets: Sequence[str] = ()) -> list[Event]:
    """The verdicts that rules (by name, or themselves; None: all) would add to this log; empty when all was said.

    A rule that no longer finds a step, or is switched off, takes its earlier verdict back. A rule that breaks says
    nothing and takes nothing back. Raises NotFound for an unknown name.
    """
    chosen = [r if isinstance(r, Rule) else RULES.get([r])[0] for r in (RULES.get() if rules is None else rules)]
    evidence = gather(trajectory, body_of, secrets)
    seen = {body.number for body in evidence.steps}
    return [e for rule in chosen for e in _verdicts(rule, trajectory, evidence, seen)]


def findings(rule: Rule, evidence: Evidence) -> dict[int, str] | None:
    """A rule's reason by step, the first of each; None where the rule itself broke, which is logged."""
    found: dict[int, str] = {}
    try:
        for finding in rule.find(evidence):
            if isinstance(finding, Finding):
                found.setdefault(finding.step, finding.reason)
    except Exception:  # noqa: BLE001 - a person's rule may raise anything; the others go on
        _log.exception("the rule %s broke", rule.name)
        return None
    return found


def _verdicts(rule: Rule, trajectory: Trajectory, evidence: Evidence, seen: set[int]) -> list[Event]:
    found = findings(rule, evidence) if rule.enabled else {}
    if found is None:
        return []
    facts = (_change(rule, entry, found.get(entry.head.number)) for entry in trajectory.steps
             if entry.head.number in seen)
    return [make_event(fact, rule.author) for fact in facts if fact is not None]


def _change(rule: Rule, entry: StepEntry, reason: str | None) -> VerdictGiven | None:
    before = entry.verdicts.get(rule.author.key)
    if reason is None:
        return VerdictGiven(step=entry.head.number, value="none") if before else None
    same = before and before.value == "mask" and before.reason == reason and before.author == rule.author
    return None if same else VerdictGiven(step=entry.head.number, value="mask", reason=reason)
