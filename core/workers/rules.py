"""What the rules' worker is asked and answers: the rules of a task, and what each changes in a session."""

from __future__ import annotations

from typing import Any

import msgspec

from core.workers.messages import WorkerRequest


class RuleLine(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as a person sees it: `settings` as they hold, `usual` as it came, `changed` what rules.toml says of it in
    this scope."""

    name: str
    version: str = ""
    about: str = ""
    enabled: bool = True
    settings: dict[str, Any] = {}
    usual: dict[str, Any] = {}
    changed: dict[str, Any] = {}


class RuleEffect(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule finds now, switched on or not: `would_mask` counts the steps that it alone turns from keep to mask,
    `overruled` those that a person keeps all the same; of those that people decided, they mask `confirmed`.
    `examples` are (session, step, reason). `broken`: the rule itself failed."""

    rule: str
    version: str
    enabled: bool
    found: int = 0
    would_mask: int = 0
    overruled: int = 0
    judged: int = 0
    confirmed: int = 0
    examples: tuple[tuple[str, int, str], ...] = ()
    broken: bool = False


class ListRules(WorkerRequest[list[RuleLine]], frozen=True, tag="rules"):
    """The rules as they hold for a task; "" is all sessions."""

    task: str = ""


class TryRules(WorkerRequest[list[RuleEffect]], frozen=True, tag="effects"):
    """What each rule changes in a session, or would."""

    session: str


class SetRule(WorkerRequest[list[RuleLine]], frozen=True, tag="set"):
    """Switch and tune a rule; the answer is the rules of the task."""

    rule: str
    settings: dict[str, Any] = {}
    task: str = ""


class ProposedVerdicts(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules say anew: encoded `verdict_given` events of rules, from a log that ended with event `head`."""

    head: int
    events: tuple[bytes, ...] = ()


class ProposeVerdicts(WorkerRequest[ProposedVerdicts], frozen=True, tag="propose"):
    """What all rules that hold for a session's task would add to its log; nothing is written."""

    session: str


RulesRequest = ListRules | TryRules | SetRule | ProposeVerdicts
