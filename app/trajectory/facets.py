"""Filters over the steps of a trajectory: by family, tool, host, end, time, and by who judged them how. No Qt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice

import msgspec

from core.domain.blindness import is_judged, seen
from core.domain.progress import judgement_of
from core.domain.steps import Steps, StepShape
from core.domain.trajectory import Trajectory
from core.domain.verdict import Verdict, by_action, masked_actions, step_outcome

OUTCOMES = ("keep", "mask", "unsure", "undecided", "unjudged", "disagree")
"""`undecided`: no person judged the step, as it is counted everywhere; `unjudged`: nobody's keep or mask has an effect
on it, so that an export asks what becomes of it."""
ANY_ERROR = "error"


class Facets(msgspec.Struct, frozen=True):
    """What the listed steps have in common; "" means whatever.

    `ended` is a status, "error" for any failure, or "error:KIND". `author` is an author's key ("rule:null_action") or
    a kind ("rule"). `outcome` is one of OUTCOMES: of that author, or else of all. `time` is "FROM-TO" in seconds
    since 1970: when the step began.
    """

    family: str = ""
    tool: str = ""
    host: str = ""
    ended: str = ""
    author: str = ""
    outcome: str = ""
    time: str = ""

    @property
    def count(self) -> int:
        """How many filters hold."""
        return sum(bool(value) for value in msgspec.structs.astuple(self))

    def steps_of(self, trajectory: Trajectory, start: int = 0, reader: str = "") -> Iterator[int]:
        """The steps from the `start`-th on that pass, by index: columns are read, no step is decoded.

        A blind `reader` gets no step because of what others think of it.
        """
        steps = trajectory.steps
        fits = {number for number, shape in enumerate(steps.shapes) if self._fits(shape)}
        unjudged = self._judged((), 0)
        first, last = span_of(self.time) if self.time else (0.0, 0.0)
        for at, shape in enumerate(islice(steps.shape_of, start, None), start):
            if (shape in fits and (self._fits_opinions(steps, at, reader) if at in steps.opinions else unjudged)
                    and (not self.time or first <= steps.started[at] < last)):
                yield at

    def _fits(self, shape: StepShape) -> bool:
        if self.family and shape.family != self.family:
            return False
        if self.tool and self.tool not in shape.tools:
            return False
        if self.host and self.host not in shape.hosts:
            return False
        kind, _, error = self.ended.partition(":")
        if not self.ended:
            return True
        return (shape.is_error and error in ("", shape.error)) if kind == ANY_ERROR else shape.status == self.ended

    def _fits_opinions(self, steps: Steps, at: int, reader: str) -> bool:
        if self.outcome == "undecided" and not self.author:
            return not is_judged(steps, at, reader)
        return self._judged(seen(steps.opinions[at].verdicts, reader).values(), len(steps.shape(at).tools))

    def _judged(self, verdicts: Iterable[Verdict], actions: int) -> bool:
        if not (self.author or self.outcome):
            return True
        everybody = list(verdicts)
        chosen = [v for v in everybody if self.author in ("", v.author.kind, v.author.key)]
        if self.outcome == "disagree":
            return differ(chosen, actions)
        if self.outcome == "undecided":
            return not chosen
        if self.outcome == "unjudged":
            return step_outcome(chosen, actions) == "undecided"
        if self.author or not self.outcome:
            return any(self.outcome in ("", v.value) for v in chosen)
        if self.outcome == "unsure":
            return judgement_of(everybody, actions) == "unsure"
        if self.outcome == "mask":
            return step_outcome(everybody, actions) == "mask" or bool(masked_actions(everybody, actions))
        return step_outcome(everybody, actions) == self.outcome


class Choices(msgspec.Struct, frozen=True):
    """What a trajectory has to filter by, most frequent first."""

    families: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    times: tuple[str, ...] = ()


def choices_of(trajectory: Trajectory, reader: str = "") -> Choices:
    """The values that occur; a blind `reader` learns of no author who spoke where they have not."""
    counts: dict[str, Counter[str]] = {name: Counter() for name in Choices.__struct_fields__}
    steps = trajectory.steps
    for number, count in Counter(steps.shape_of).items():
        shape = steps.shapes[number]
        for name, values in (("families", (shape.family,)), ("tools", set(shape.tools)), ("hosts", shape.hosts),
                             ("errors", (shape.error,) if shape.is_error else ()), ("statuses", (shape.status,))):
            for value in values:
                counts[name][value] += count
    for opinions in steps.opinions.values():
        counts["authors"].update({v.author.key for v in seen(opinions.verdicts, reader).values()})
    named = {name: tuple(sorted((v for v in seen if v), key=lambda v: (-seen[v], v))) for name, seen in counts.items()}
    return Choices(**(named | {"times": times_of(steps.started)}))


MOST_SPANS = 48
"""So many hours at most are offered one by one; of a longer session days are."""

HOUR, DAY = 3600, 86_400


def span_of(time: str) -> tuple[float, float]:
    """The seconds since 1970 of "FROM-TO"; before that year they are negative."""
    low, _, high = time[1:].partition("-")
    return float(time[0] + low), float(high)


def times_of(started: Iterable[float]) -> tuple[str, ...]:
    """The hours (or days) in which steps began, as "FROM-TO", in order; UTC."""
    hours = sorted({int(at // HOUR) for at in started if at == at})
    if len(hours) <= MOST_SPANS:
        return tuple(f"{h * HOUR}-{(h + 1) * HOUR}" for h in hours)
    return tuple(f"{d * DAY}-{(d + 1) * DAY}" for d in sorted({h * HOUR // DAY for h in hours}))


def differ(verdicts: Iterable[Verdict], actions: int) -> bool:
    """Whether of one thing, the step or an action, some say keep and others mask."""
    return any({"keep", "mask"} <= {v.value for v in on_one} for on_one in by_action(verdicts, actions).values())
