"""The decision on each step, made again from the log: as it was at any time, with any of its authors left out."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from core.domain.trajectory import StepEntry, Trajectory
from core.domain.verdict import DECIDED, PEOPLE, Outcome, Verdict, by_action, on_action, outcome, without

_DECIDING = ("person", "import", "rule", "judge")


class StepDecision(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was decided of a step, or of its `action`-th action where actions are judged one by one (0: the whole step),
    and the opinions that decide it (`because`): people's where there are any, else those of rules and judges with the
    same word. `left_out` had an opinion that does not count here."""

    step: int
    value: Outcome
    because: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    action: int = 0


def replay(trajectory: Trajectory, ignored: Collection[str] = ()) -> list[StepDecision]:
    """The decisions on a prefix of a log that was folded. `ignored` names authors ("rule:blind_edit") or whole kinds of
    them ("rule", "judge", "person")."""
    return [decision for entry in trajectory.steps for decision in _decisions(entry, ignored)]


def _decisions(entry: StepEntry, ignored: Collection[str]) -> Iterator[StepDecision]:
    heard = without(entry.verdicts, ignored)
    unheard = [v for v in entry.verdicts.values() if v not in heard]
    for action, on_one in by_action(heard, len(entry.head.tools)).items():
        value = outcome(on_one)
        people = [v for v in on_one if v.author.kind in PEOPLE and v.value in DECIDED]
        because = [v for v in people or on_one if v.value == value and v.author.kind in _DECIDING]
        yield StepDecision(step=entry.head.number, action=action, value=value,
                           because=tuple(_author_words(v) for v in because),
                           left_out=tuple(_author_words(v) for v in on_action(unheard, action)))


def _author_words(verdict: Verdict) -> str:
    return f"{verdict.author.key} {verdict.author.version}".strip()
