"""How good the rules and the judge are, held against people; how far people agree; what a rule would change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from statistics import median

import msgspec

from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import DECIDED, PEOPLE, Verdict, by_action, final_verdict, on_action
from core.supervision.coefficients import cohen_kappa, krippendorff_alpha, raw_agreement, wilson
from core.supervision.gather import BodyOf, gather
from core.supervision.judge import BY_GUIDANCE
from core.supervision.propose import findings
from core.supervision.rule import Rule
from core.workers.rules import RuleEffect


class SourceAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """A rule or judge against people, on steps where it masks or keeps and a person decided; where somebody judged an
    action alone, each action of that step counts for itself.

    `judged` of its `masks` were decided on by a person, who masked `confirmed` of them: `precision`, with its 95 %
    interval. `missed` are steps that people mask and it does not. A judge also keeps: `raw` and `kappa` count that.
    """

    source: str
    masks: int
    judged: int
    confirmed: int
    precision: float | None
    interval: tuple[float, float] | None
    missed: int
    recall: float | None
    raw: float | None = None
    kappa: float | None = None


class PairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two people on the steps that both decided."""

    first: str
    second: str
    steps: int
    raw: float | None
    kappa: float | None


class PersonTime(msgspec.Struct, frozen=True, kw_only=True):
    """One person's active time: steps decided, steps looked at, seconds in all; `each` is the median of a step."""

    person: str
    decided: int
    timed: int
    seconds: float
    each: float | None


class Agreement(msgspec.Struct, frozen=True, kw_only=True):
    """All of it over some sessions: of the `steps` people `decided` some, and on others the labels that a file brought
    stand alone (`labelled`). Such labels decide as a person does, and count as one of the people in all that follows;
    `alpha` is Krippendorff's over all of them and all steps."""

    sessions: int
    steps: int
    decided: int
    labelled: int
    sources: tuple[SourceAgreement, ...]
    pairs: tuple[PairAgreement, ...]
    alpha: float | None
    rules: tuple[RuleEffect, ...] = ()
    times: tuple[PersonTime, ...] = ()


class _Unit(msgspec.Struct, frozen=True):
    """What is rated: a step, or each of its actions where somebody judged one alone; with what counts for it."""

    verdicts: tuple[Verdict, ...]


def _units(trajectories: Sequence[Trajectory]) -> list[_Unit]:
    return [_Unit(tuple(on_one)) for t in trajectories for e in t.steps
            for on_one in by_action(e.verdicts.values(), len(e.head.tools)).values()]


def agreement(trajectories: Sequence[Trajectory]) -> Agreement:
    """Compare all standing verdicts of these sessions; `rules` stays empty (see `effects`)."""
    units = _units(trajectories)
    names = sorted({_source(v) for u in units for v in u.verdicts if v.author.kind in ("rule", "judge")})
    people = sorted({v.author.key for u in units for v in u.verdicts if v.author.kind in PEOPLE})
    alpha = krippendorff_alpha([[v.value for v in _people(u)] for u in units])
    steps = [e for t in trajectories for e in t.steps]
    deciders = Counter(map(_decider, steps))
    return Agreement(sessions=len(trajectories), steps=len(steps), decided=deciders["person"],
                     labelled=deciders["import"],
                     sources=tuple(_of_source(n, units) for n in names),
                     pairs=tuple(_of_pair(a, b, units) for a, b in combinations(people, 2)), alpha=alpha,
                     times=tuple(_of_person(p, trajectories) for p in sorted({*people, *_timed(trajectories)})))


def _decider(entry: StepEntry) -> str:
    """Who decided on a whole step, that is on each of its actions: a "person", the labels of its file alone ("import"),
    or nobody ("")."""
    given = [_people(_Unit(tuple(on_one)))
             for on_one in by_action(entry.verdicts.values(), len(entry.head.tools)).values()]
    if not all(given):
        return ""
    return "person" if any(one.author.kind == "person" for on_one in given for one in on_one) else "import"


def _timed(trajectories: Sequence[Trajectory]) -> set[str]:
    return {person for t in trajectories for person in t.spent}


def _of_person(person: str, trajectories: Sequence[Trajectory]) -> PersonTime:
    durations = [seconds for t in trajectories for seconds in t.spent.get(person, {}).values()]
    decided = sum(any(v.author.key == person and v.value in DECIDED for v in e.verdicts.values())
                  for t in trajectories for e in t.steps)
    return PersonTime(person=person, decided=decided, timed=len(durations), seconds=round(sum(durations), 1),
                      each=round(median(durations), 1) if durations else None)


def effects(trajectories: Sequence[Trajectory], body_of: BodyOf, rules_for: Sequence[Sequence[Rule]]
            ) -> list[RuleEffect]:
    """What each rule changes, or would; `rules_for` holds the rules of each trajectory in its place."""
    by_rule: dict[str, RuleEffect] = {}
    for trajectory, rules in zip(trajectories, rules_for, strict=True):
        evidence = gather(trajectory, body_of)
        found = findings(rules, evidence)
        for rule in rules:
            before = by_rule.get(rule.name, RuleEffect(rule=rule.name, version=rule.version, enabled=rule.enabled))
            by_rule[rule.name] = _more(before, trajectory, rule, found[rule.name])
    return list(by_rule.values())


def _more(before: RuleEffect, trajectory: Trajectory, rule: Rule, found: dict[int, dict[int, str]] | None
          ) -> RuleEffect:
    if found is None:
        return msgspec.structs.replace(before, broken=True)
    rows = [(e, action, why) for e in trajectory.steps for action, why in found.get(e.head.number, {}).items()]
    units = [_Unit(tuple(on_action(e.verdicts.values(), action))) for e, action, _ in rows]
    votes = [_person(u) for u in units]
    shown = [(trajectory.session, e.head.number, why) for e, _, why in rows][: max(0, 20 - len(before.examples))]
    return msgspec.structs.replace(
        before, found=before.found + len(rows), overruled=before.overruled + votes.count("keep"),
        would_mask=before.would_mask + sum(_without(u, rule) == "keep" and vote is None
                                           for u, vote in zip(units, votes, strict=True)),
        judged=before.judged + sum(s is not None for s in votes), confirmed=before.confirmed + votes.count("mask"),
        examples=(*before.examples, *shown))


def _without(unit: _Unit, rule: Rule) -> str:
    """The final verdict if this rule said nothing."""
    return final_verdict(v for v in unit.verdicts if v.author.key != rule.author.key)


def _of_source(name: str, units: Iterable[_Unit]) -> SourceAgreement:
    rated = [(_value_of(u, name), _person(u)) for u in units]
    decided = [(s, p) for s, p in rated if p is not None]
    judged = [p for s, p in decided if s == "mask"]
    confirmed = judged.count("mask")
    wanted = sum(p == "mask" for _, p in decided)
    both = [(s, p) for s, p in decided if s is not None] if name.startswith("judge:") else []
    return SourceAgreement(
        source=name, masks=sum(s == "mask" for s, _ in rated), judged=len(judged), confirmed=confirmed,
        precision=confirmed / len(judged) if judged else None, interval=wilson(confirmed, len(judged)),
        missed=wanted - confirmed, recall=confirmed / wanted if wanted else None,
        raw=raw_agreement(both), kappa=cohen_kappa(both))


def _of_pair(first: str, second: str, units: Iterable[_Unit]) -> PairAgreement:
    both = [(a, b) for u in units if (a := _word(u, first)) and (b := _word(u, second))]
    return PairAgreement(first=first, second=second, steps=len(both), raw=raw_agreement(both), kappa=cohen_kappa(both))


def _word(unit: _Unit, author: str) -> str | None:
    return next((v.value for v in unit.verdicts if v.author.key == author and v.value in DECIDED), None)


def _source(verdict: Verdict) -> str:
    """A judge's verdicts by guidance are one source, whichever guidance it was."""
    return verdict.author.key.split(BY_GUIDANCE)[0] + ("/guidance" if BY_GUIDANCE in verdict.author.key else "")


def _value_of(unit: _Unit, source: str) -> str | None:
    """What a source says: mask if any of its verdicts does."""
    values = [v.value for v in unit.verdicts if _source(v) == source and v.value in DECIDED]
    return "mask" if "mask" in values else "keep" if values else None


def _people(unit: _Unit) -> list[Verdict]:
    return [v for v in unit.verdicts if v.author.kind in PEOPLE and v.value in DECIDED]


def _person(unit: _Unit) -> str | None:
    """What people decided: the latest of them, as in the final verdict."""
    verdicts = _people(unit)
    return verdicts[-1].value if verdicts else None
