"""Sessions as the reader's filters see them."""

from __future__ import annotations

from functools import partial

from app.desk.session_key import server_of
from app.desk.workplace import Workplace
from core.domain.session import SessionRow
from core.domain.session_query import Candidate


def candidate_of(place: Workplace, row: SessionRow) -> Candidate:
    """A session with its server's name, what is new of it, and (asked for only where a term is about it) its review."""
    before = place.watermarks.steps(row.session)
    server = place.servers.name_of(server_of(row.session)) if len(place.desks.all) > 1 else ""
    fresh = max(0, row.steps - before) if before is not None else 0
    return Candidate(row, server, fresh, partial(place.queues.review, row))
