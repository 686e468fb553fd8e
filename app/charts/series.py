"""Numbers over the steps or the time of a trajectory, which the charts draw: columns in numpy, no Qt.

A session of a hundred thousand steps is read from the trajectory's columns, never step by step.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import msgspec
import numpy as np
from numpy.typing import NDArray

from core.domain.blindness import seen
from core.domain.step_entry import Opinions
from core.domain.steps import WAITING, Steps
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import PEOPLE, masked_actions, step_outcome
from core.store import log
from core.store.sqlite import connect

KEYS = ("score", "context", "cost", "duration", "idle", "verdicts")
Over = Literal["steps", "time", "work"]
"""What the curves run over: step numbers, seconds since the first step began, or those in which something was done."""

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_SIGN = {"keep": 1.0, "unsure": 0.0, "mask": -1.0}


class Series(msgspec.Struct, frozen=True, eq=False):
    """One curve: values by step number in order. `holds` is for values that stand until the next one."""

    key: str
    steps: Ints
    values: Floats
    holds: bool = False

    @property
    def top(self) -> float:
        """The greatest value, at least a little above nothing."""
        return float(self.values.max(initial=0.0)) or 1.0

    def at(self, step: int) -> float | None:
        """The value at a step: of the newest point not after it."""
        at = int(np.searchsorted(self.steps, step, side="right"))
        return float(self.values[at - 1]) if at else None


class Times(msgspec.Struct, frozen=True, eq=False):
    """When each step ended, in seconds since the first began, and how many until then went by without work; NaN where
    the log does not say."""

    ended: Floats
    idle: Floats


class Curves(msgspec.Struct, frozen=True, eq=False):
    """All curves of one session, and its steps with their times."""

    session: str
    title: str
    series: tuple[Series, ...]
    steps: Ints
    times: Times

    @property
    def last(self) -> int:
        """The last step; 0 for none."""
        return int(self.steps[-1]) if len(self.steps) else 0

    def of(self, key: str) -> Series | None:
        """One curve."""
        return next((s for s in self.series if s.key == key), None)

    def xs(self, steps: Ints, over: Over) -> Floats:
        """Where steps lie; NaN where a time is unknown."""
        if over == "steps":
            return steps.astype(float)
        order = np.argsort(self.steps, kind="stable")
        at = order[np.searchsorted(self.steps, steps, sorter=order)]
        return self.times.ended[at] - (self.times.idle[at] if over == "work" else 0.0)

    def x(self, step: int, over: Over) -> float | None:
        """Where a step lies; None where that is unknown."""
        if over == "steps" or step not in self.steps:
            return float(step) if over == "steps" else None
        x = float(self.xs(np.array([step]), over)[0])
        return None if np.isnan(x) else x

    def end(self, over: Over) -> float:
        """Where the last step that is known lies."""
        xs = self.xs(self.steps, over)
        return float(np.nanmax(xs)) if np.isfinite(xs).any() else 0.0

    def step_at(self, x: float, over: Over) -> int:
        """The step that is nearest to a place; 1 where there is none."""
        far = np.abs(self.xs(self.steps, over) - x)
        return int(self.steps[np.nanargmin(far)]) if np.isfinite(far).any() else 1


class LoggedSession(msgspec.Struct, frozen=True):
    """A session in a log or replica: `id` there, `session` as it is named in the window."""

    log: Path
    id: str
    session: str
    title: str
    reader: str = ""
    """The key of who looks, as an author of that server's."""


def curves_of(trajectory: Trajectory, title: str, reader: str = "") -> Curves:
    """The curves of a session. With a `reader` (an author's key) verdicts show only where that one has decided."""
    steps = trajectory.steps
    return Curves(trajectory.session, title, tuple(series_of(trajectory, reader)),
                  np.array(steps.numbers, dtype=np.int64), times_of(steps))


def curves_of_logs(held: Sequence[LoggedSession]) -> list[Curves]:
    """The curves of some sessions, read from their files; for a thread."""
    return [_held_curves(one) for one in held]


def _held_curves(held: LoggedSession) -> Curves:
    with closing(connect(held.log, readonly=True)) as conn:
        trajectory = fold(held.id, log.read_all(conn, held.id))
    return msgspec.structs.replace(curves_of(trajectory, held.title, held.reader), session=held.session)


_FORMULA = tuple("=+-@|\uff1d\uff0b\uff0d\uff20")
"""With what a formula begins, also as full-width characters and behind spaces."""


def table_of(curves: Sequence[Curves]) -> list[tuple[object, ...]]:
    """All points as a table: session, title, quantity, step, seconds, value; what a spreadsheet would run is quoted."""
    rows: list[tuple[object, ...]] = [("session", "title", "quantity", "step", "seconds", "value")]
    for one in curves:
        title = f"'{one.title}" if one.title.lstrip()[:1] in _FORMULA or one.title[:1].isspace() else one.title
        for series in one.series:
            seconds = ["" if np.isnan(s) else float(s) for s in one.xs(series.steps, "time")]
            rows += [(one.session, title, series.key, *point)
                     for point in zip(series.steps.tolist(), seconds, series.values.tolist(), strict=True)]
    return rows


def series_of(trajectory: Trajectory, reader: str = "") -> list[Series]:
    """Score (0–100), context (tokens given at the step), cost (US dollars, running), duration (seconds of the step),
    idle (seconds in which nothing was done), verdicts (1 keep, 0 unsure, −1 mask)."""
    steps = trajectory.steps
    numbers, cost = np.array(steps.numbers, dtype=np.int64), np.array(steps.cost, dtype=float)
    tokens = np.array(steps.tokens_in, dtype=float)
    scores = [(s.step, s.total) for s in trajectory.scores if s.total is not None]
    verdicts = [(steps.numbers[at], _SIGN[value]) for at, opinions in sorted(steps.opinions.items())
                if (value := verdict_value(opinions, len(steps.shape(at).tools), reader))]
    found = [_points("score", scores, holds=True), _column("context", numbers, np.where(tokens < 0, np.nan, tokens)),
             _column("cost", numbers, np.where(np.isnan(cost), np.nan, np.nancumsum(cost))),
             _column("duration", numbers, np.array(steps.ended) - np.array(steps.started)),
             _column("idle", numbers, idle_of(steps)), _points("verdicts", verdicts)]
    return [s for s in found if len(s.steps)]


def _column(key: str, numbers: Ints, values: Floats) -> Series:
    known = np.isfinite(values)
    return Series(key, numbers[known], values[known])


def _points(key: str, points: Sequence[tuple[int, float]], *, holds: bool = False) -> Series:
    return Series(key, np.array([n for n, _ in points], dtype=np.int64), np.array([v for _, v in points], dtype=float),
                  holds)


def verdict_value(opinions: Opinions, actions: int = 0, reader: str = "") -> str:
    """What was decided of a step of so many actions: mask where one of them is masked alone; else the latest person's
    word on the step, or what rules and judges decide; "" for nothing."""
    verdicts = list(seen(opinions.verdicts, reader).values())
    if masked_actions(verdicts, actions):
        return "mask"
    people = [v.value for v in verdicts if v.author.kind in PEOPLE and not v.action]
    decided = people[-1] if people else step_outcome(verdicts, actions)
    return decided if decided in _SIGN else ""


def times_of(steps: Steps) -> Times:
    """The times of the steps."""
    started, ended = np.array(steps.started), np.array(steps.ended)
    either = np.where(np.isnan(started), ended, started)
    known = either[np.isfinite(either)]
    return Times(ended - (known[0] if len(known) else 0.0), np.nancumsum(idle_of(steps)))


def idle_of(steps: Steps) -> Floats:
    """Seconds of each step that went by without work: since the step before ended, and all of a step that waits."""
    started, ended = np.array(steps.started), np.array(steps.ended)
    before = np.concatenate(([np.nan], ended[:-1])) if len(ended) else ended
    gap = np.nan_to_num(np.maximum(0.0, started - before))
    waits = (np.frombuffer(bytes(steps.flags), dtype=np.uint8) & WAITING) != 0
    return np.where(np.isnan(started) | np.isnan(ended), np.nan, gap + np.where(waits, ended - started, 0.0))
