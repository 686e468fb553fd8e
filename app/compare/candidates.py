"""Which runs one may want beside another, the likeliest first; and what each is called so that no two look alike.
No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from app.desk.session_words import short_id
from app.kit import quantities
from app.kit.safe_text import one_line
from core.domain.session import SessionRow

TITLE = 60
"""So many characters of a title: what tells two runs of one task apart stands behind it."""

_NUMBER = re.compile(r"\d+\s*$")


def candidates(ours: SessionRow, rows: Iterable[SessionRow], read: Sequence[str] = ()) -> list[SessionRow]:
    """The sessions with steps: other runs of the same task first, then those that were asked in the same words; of
    each those first that differ in a last number alone (repeats of one sample), then those last `read`, then the
    newest."""
    places = {session: place for place, session in enumerate(read)}
    sample = _NUMBER.sub("", ours.title)

    def rank(row: SessionRow) -> tuple[object, ...]:
        begun = row.started_at.timestamp() if row.started_at else 0.0
        return (_distance(ours, row), _NUMBER.sub("", row.title) != sample,
                places.get(row.session, len(places)), -begun, row.session)

    return sorted((row for row in rows if row.steps and row.session != ours.session), key=rank)


FAR = 2
"""Of runs that were not asked the same."""


def _distance(ours: SessionRow, row: SessionRow) -> int:
    """0 by the task's name, 1 by the words in which it was asked. A subagent was asked by its caller, not by the task
    that both name."""
    if ours.task and ours.task == row.task and not ours.caller and not row.caller:
        return 0
    return 1 if ours.title and ours.title == row.title else FAR


def usual_other(ours: SessionRow, rows: Iterable[SessionRow], read: Sequence[str] = ()) -> str:
    """What stands beside a run while nobody chose: another run of its task, else the one read before; "" for none."""
    first = next(iter(candidates(ours, rows, read)), None)
    return first.session if first is not None and (_distance(ours, first) < FAR or first.session in read) else ""


def run_name(row: SessionRow) -> str:
    """Title, when it began, model, score and short id."""
    score = quantities.score(row.score) if row.score is not None else ""
    title = one_line(row.title or row.task, TITLE)
    parts = (title, quantities.short_day_and_minute(row.started_at), one_line(row.model, 32), score,
             short_id(row.session))
    return " · ".join(part for part in parts if part)
