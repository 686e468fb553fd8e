"""Watching a session in the log as it grows, for commands that wait for its end."""

from __future__ import annotations

import time
from collections.abc import Callable

from core.cli.log_access import reading
from core.domain import events as e
from core.domain.errors import LimitReached
from core.domain.events import Event
from core.domain.gain import gain_of
from core.domain.session import FINAL_STATES
from core.domain.trajectory import Trajectory
from core.store import log
from core.store.home import Home

_LOOK_S = 0.2
_LINE = 100
"""Letters of a step's title that a line shows."""


def watch_to_end(
    home: Home, session: str, on_event: Callable[[Trajectory, Event], None], limit_s: float | None = None
) -> Trajectory:
    """Fold the session's log until it ends; `on_event` gets each event. Raises LimitReached when it takes too long."""
    trajectory = Trajectory(session)
    deadline = None if limit_s is None else time.monotonic() + limit_s
    with reading(home) as conn:
        while True:
            for placed in log.read(conn, session, after=trajectory.seq):
                on_event(trajectory, trajectory.apply(placed))
            if trajectory.seq >= log.head(conn, session):
                if trajectory.row.state in FINAL_STATES:
                    return trajectory
                if deadline is not None and time.monotonic() > deadline:
                    raise LimitReached("too_slow", f"Session {session} did not end within {limit_s:.0f} s.")
                time.sleep(_LOOK_S)


def event_line(trajectory: Trajectory, event: Event) -> str:
    """One line for an event that a person wants to see pass by, or ""."""
    match event.fact:
        case e.StepAdded() as f:
            return f"  step {f.head.number:>3} {'✗' if f.head.is_error else '·'} {_cut(f.head.title)}"
        case e.GuidanceDelivered() as f:
            return f"  ★ guidance delivered at step {f.step}"
        case e.ScoreGiven(failed=True) as f:
            return f"  not scored: {f.message[:300]}"
        case e.ScoreGiven() as f:
            gain = gain_of(trajectory.created.task if trajectory.created else None, f)
            return f"  score {f.total}{f', {gain.words}' if gain else ''}: {_cut(f.message, 2 * _LINE)}"
        case e.SummaryAdded() as f:
            return f"  summary of steps {f.first}–{f.last}"
        case e.SessionContinued():
            return "  continued by a person"
        case e.SessionStateChanged() as f:
            place = f", place {f.queue_place}" if f.queue_place else ""
            return f"  {f.state}{f' ({f.reason}{place})' if f.reason not in ('', f.state) else ''}"
        case e.HostPlaceChanged() as f:
            gpus = f" with GPU {', '.join(f.gpus)}" if f.gpus else ""
            return f"  host {f.host}: {f.state}, {f.place}{gpus} {f.detail}".rstrip()
    return ""


def _cut(text: str, most: int = _LINE) -> str:
    return text if len(text) <= most else text[: most - 2].rstrip() + " …"
