"""Numbers over the steps or the time of a trajectory, which the charts draw. No Qt."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Literal

import msgspec

from core.domain.step import StepHead
from core.domain.trajectory import StepEntry, Trajectory, fold
from core.store import log
from core.store.sqlite import connect

KEYS = ("score", "context", "cost", "duration", "idle", "verdicts")
Over = Literal["steps", "time", "work"]
"""What the curves run over: step numbers, seconds since the first step began, or those in which something was done."""

_SIGN = {"keep": 1.0, "unsure": 0.0, "mask": -1.0}


class Series(msgspec.Struct, frozen=True):
    """One curve: values by step number in order. `holds` is for values that stand until the next one."""

    key: str
    points: tuple[tuple[int, float], ...]
    holds: bool = False

    @property
    def top(self) -> float:
        """The greatest value, at least a little above nothing."""
        return max((v for _, v in self.points), default=0.0) or 1.0

    def at(self, step: int) -> float | None:
        """The value at a step: of the newest point not after it."""
        at = bisect_left(self.points, (step + 1,))
        return self.points[at - 1][1] if at else None


class Curves(msgspec.Struct, frozen=True):
    """All curves of one session; `last` is its last step, `clock` tells when each step ended (seconds)."""

    session: str
    title: str
    series: tuple[Series, ...] = ()
    last: int = 0
    clock: Mapping[int, float] = {}
    idle: Mapping[int, float] = {}
    """Seconds without work up to the end of each step of `clock`."""

    def of(self, key: str) -> Series | None:
        """One curve."""
        return next((s for s in self.series if s.key == key), None)

    def x(self, step: int, over: Over) -> float | None:
        """Where a step lies; None where its time is unknown."""
        if over == "steps" or step not in self.clock:
            return float(step) if over == "steps" else None
        return self.clock[step] - (self.idle.get(step, 0.0) if over == "work" else 0.0)

    def step_at(self, x: float, over: Over) -> int:
        """The step that is nearest to a place."""
        if over == "steps":
            return max(1, min(self.last or 1, round(x)))
        return min(self.clock, key=lambda step: abs((self.x(step, over) or 0.0) - x), default=1)


def curves_of(trajectory: Trajectory, title: str, reader: str = "") -> Curves:
    """The curves of a session. With a `reader` (an author's key) verdicts show only where that one has decided."""
    last = trajectory.steps[-1].head.number if trajectory.steps else 0
    heads = [entry.head for entry in trajectory.steps]
    return Curves(trajectory.session, title, tuple(series_of(trajectory, reader)), last, clock_of(heads),
                  idle_until(heads))


class Held(msgspec.Struct, frozen=True):
    """A session in a log or replica: `id` there, `session` as it is named in the window."""

    log: Path
    id: str
    session: str
    title: str
    reader: str = ""
    """The key of who looks, as an author of that server's."""


def curves_of_logs(held: Sequence[Held], blind: bool) -> list[Curves]:
    """The curves of some sessions, read from their files; for a thread. Blind: with the reader's decisions only."""
    return [_held_curves(one, one.reader if blind else "") for one in held]


def _held_curves(held: Held, reader: str) -> Curves:
    conn = connect(held.log, readonly=True)
    try:
        told = fold(held.id, log.read_all(conn, held.id))
    finally:
        conn.close()
    return msgspec.structs.replace(curves_of(told, held.title, reader), session=held.session)


_FORMULA = tuple("=+-@|\uff1d\uff0b\uff0d\uff20")
"""With what a formula begins, also as full-width characters and behind spaces."""


def table_of(curves: Sequence[Curves]) -> list[tuple[object, ...]]:
    """All points as a table: session, title, quantity, step, seconds, value; what a spreadsheet would run is quoted."""
    rows: list[tuple[object, ...]] = [("session", "title", "quantity", "step", "seconds", "value")]
    for one in curves:
        title = f"'{one.title}" if one.title.lstrip()[:1] in _FORMULA or one.title[:1].isspace() else one.title
        rows += [(one.session, title, s.key, step, one.clock.get(step, ""), value)
                 for s in one.series for step, value in s.points]
    return rows


def series_of(trajectory: Trajectory, reader: str = "") -> list[Series]:
    """Score (0–100), context (tokens given at the step), cost (US dollars, running), duration (seconds of the step),
    idle (seconds in which nothing was done), verdicts (1 keep, 0 unsure, −1 mask)."""
    steps = [entry.head for entry in trajectory.steps]
    scores = tuple((s.step, s.total) for s in trajectory.scores if s.total is not None)
    context = tuple((h.number, float(h.usage.input_tokens)) for h in steps if h.usage.input_tokens is not None)
    took = tuple((h.number, (h.ended_at - h.started_at).total_seconds()) for h in steps if h.started_at and h.ended_at)
    verdicts = tuple((e.head.number, _SIGN[word]) for e in trajectory.steps if (word := standing(e, reader)))
    told = [Series("score", scores, holds=True), Series("context", context), Series("cost", _running_cost(steps)),
            Series("duration", took), Series("idle", idle_of(steps)), Series("verdicts", verdicts)]
    return [s for s in told if s.points]


def standing(entry: StepEntry, reader: str = "") -> str:
    """What was decided of a step: the latest person's word, else `mask` where a rule or judge masks; "" for nothing."""
    if not entry.verdicts or (reader and reader not in entry.verdicts):
        return ""
    people = [v.value for v in entry.verdicts.values() if v.author.kind in ("person", "import")]
    if people:
        return people[-1] if people[-1] in _SIGN else ""
    return "mask" if entry.final == "mask" else ""


def clock_of(steps: Sequence[StepHead]) -> dict[int, float]:
    """Seconds from the beginning of the first step that tells it to the end of each."""
    began = next((h.started_at or h.ended_at for h in steps if h.started_at or h.ended_at), None)
    return {} if began is None else {h.number: (h.ended_at - began).total_seconds() for h in steps if h.ended_at}


def idle_of(steps: Sequence[StepHead]) -> tuple[tuple[int, float], ...]:
    """Seconds of each step that went by without work: since the step before ended, and all of a step that waits."""
    told: list[tuple[int, float]] = []
    for before, head in zip([None, *steps], steps, strict=False):
        if head.started_at is None or head.ended_at is None:
            continue
        gap = (head.started_at - before.ended_at).total_seconds() if before and before.ended_at else 0.0
        waited = (head.ended_at - head.started_at).total_seconds() if head.is_waiting else 0.0
        told.append((head.number, max(0.0, gap) + waited))
    return tuple(told)


def idle_until(steps: Sequence[StepHead]) -> dict[int, float]:
    """Seconds without work up to the end of each step."""
    told = idle_of(steps)
    return dict(zip((n for n, _ in told), accumulate(s for _, s in told), strict=True))


def _running_cost(steps: Sequence[StepHead]) -> tuple[tuple[int, float], ...]:
    cost, total = [], 0.0
    for head in steps:
        if head.usage.cost_usd is not None:
            total += head.usage.cost_usd
            cost.append((head.number, total))
    return tuple(cost)
