"""Counting what a log, or a copy of it, holds of one session."""

from __future__ import annotations

from core.domain.events import SessionCreated, decode_stored
from core.domain.losses import Losses
from core.store import log, loose_blobs
from core.store.sqlite import Connection, scalar


def losses_of(conn: Connection, session: str) -> Losses:
    """What would be lost with a session. Raises NotFound."""
    row = log.row(conn, session)
    size, names = 0, set[bytes]()
    for (body,) in conn.execute("SELECT body FROM event WHERE session = ?", (session,)):
        size += len(body)
        names |= loose_blobs.names_in((body,))
    size += sum(scalar(conn, "SELECT length(data) FROM blob WHERE hash = ?", name) or 0 for name in names)
    people = [decode_stored(body).author.name for body in log.opinions(conn, session)]
    sql = "SELECT count(*) FROM event WHERE session = ? AND kind = 'guidance_queued'"
    return Losses(session=session, title=row.title, head=log.head(conn, session), steps=row.steps,
                  opinions=len(people), people=tuple(sorted(set(people))), guidance=scalar(conn, sql, session),
                  bytes=size, hosts=_hosts(conn, session) if row.origin == "live" else 0)


def _hosts(conn: Connection, session: str) -> int:
    """How many sandboxes the session's task asked for."""
    sql = "SELECT body FROM event WHERE session = ? AND kind = 'session_created' ORDER BY seq LIMIT 1"
    body = scalar(conn, sql, session)
    fact = decode_stored(bytes(body)).fact if body is not None else None
    return len(fact.task.hosts) if isinstance(fact, SessionCreated) else 0
