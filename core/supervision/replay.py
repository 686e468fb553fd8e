"""The decision on each step, made again from the log: as it was at any time, with any of its authors left out."""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

import msgspec

from core.domain.trajectory import Trajectory
from core.domain.verdict import Verdict, final_verdict

_DECIDING = ("person", "import", "rule", "judge")


class StepDecision(msgspec.Struct, frozen=True, kw_only=True):
    """What training does with a step, and the opinions that decide it (`because`): people's where there are any, else
    those of rules and judges that mask it. `left_out` had an opinion that does not count here."""

    step: int
    value: Literal["keep", "mask"]
    because: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def replay(trajectory: Trajectory, ignored: Collection[str] = ()) -> list[StepDecision]:
    """The decisions on a prefix of a log that was folded. `ignored` names authors ("rule:blind_edit") or whole kinds of
    them ("rule", "judge", "person")."""
    return [_decision(entry.head.number, list(entry.verdicts.values()), ignored) for entry in trajectory.steps]


def _decision(step: int, verdicts: list[Verdict], ignored: Collection[str]) -> StepDecision:
    heard = [v for v in verdicts if v.author.key not in ignored and v.author.kind not in ignored]
    value = final_verdict(heard)
    people = [v for v in heard if v.author.kind in ("person", "import") and v.value in ("keep", "mask")]
    because = [v for v in people or heard if v.value == value and v.author.kind in _DECIDING]
    return StepDecision(step=step, value=value, because=tuple(_author_words(v) for v in because),
                        left_out=tuple(_author_words(v) for v in verdicts if v not in heard))


def _author_words(verdict: Verdict) -> str:
    return f"{verdict.author.key} {verdict.author.version}".strip()
