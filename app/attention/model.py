"""What needs a person's look: where and why it was raised, and whether now is a quiet hour. No Qt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, time

import msgspec

from app.desk.session_words import URGENCY
from core.domain.events import AttentionRaised, Placed
from core.domain.session import SessionRow

LOOK_BACK = 2_048
"""Events from the end of a log among which the reason is looked for; older ones stay without a step."""

_BLOCK = 128


class Alert(msgspec.Struct, frozen=True):
    """One thing to look at in one session; `until` is the seq at which it was raised, 0 stands for the newest."""

    session: str
    kind: str
    until: int = 0


class Raised(msgspec.Struct, frozen=True):
    """Where (0: not at a step), when and why an alert was raised."""

    step: int = 0
    evidence: str = ""
    at: datetime | None = None


def alerts_of(rows: Sequence[SessionRow]) -> list[Alert]:
    """Everything that needs attention: what waits for a person first, then the newest."""
    pairs = [(row, kind) for row in rows for kind in row.attention]
    pairs.sort(key=lambda t: -(t[0].updated_at.timestamp() if t[0].updated_at else 0))
    pairs.sort(key=lambda t: URGENCY.index(t[1]) if t[1] in URGENCY else len(URGENCY))
    return [Alert(row.session, kind) for row, kind in pairs]


def raised(read: Callable[[str, int, int], Sequence[Placed]], head: int, alert: Alert) -> Raised | None:
    """The newest event that raised an alert; None where the copy does not hold it. `read(session, after, limit)`."""
    after = head
    while after > max(0, head - LOOK_BACK):
        stop, after = after, max(0, after - _BLOCK)
        found: Raised | None = None
        at = after
        while at < stop and (block := read(alert.session, at, stop - at)):
            for placed in block:
                event = placed.event
                if isinstance(event.fact, AttentionRaised) and event.fact.kind == alert.kind:
                    found = Raised(event.fact.step, event.fact.evidence, event.at)
            at = block[-1].seq
        if found is not None:
            return found
    return None


def is_quiet(now: time, start: str, stop: str) -> bool:
    """Whether a time of the day ("22:00") lies between two others, over midnight too; never when both are the same."""
    clock, first, last = now.strftime("%H:%M"), start, stop
    return first <= clock < last if first <= last else clock >= first or clock < last
