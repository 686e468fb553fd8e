"""Bringing a session back from a snapshot on this computer, or saying which there are."""

from __future__ import annotations

from core.domain.errors import Conflict
from core.protocol.operations import RestoreSession
from core.server.lookups import Lookups
from core.store import log
from core.store.sqlite import Connection

MOST_NAMED = 500
"""So many snapshots are told, the newest."""


def restore(conn: Connection, session: str, op: RestoreSession, lookups: Lookups) -> dict[str, object]:
    """The next runner of the session begins from the snapshot; without one, the result says which are `here`.

    Raises NotFound (no_session, no_snapshot), Conflict: imported, runner_exists, snapshot_too_old.
    """
    row = log.row(conn, session)
    if row.origin != "live":
        raise Conflict("imported", f"Session {session} was imported; nothing runs in it.")
    if not op.snapshot:
        return {"here": lookups.snapshots(session)[-MOST_NAMED:]}
    if lookups.is_alive(session):
        raise Conflict("runner_exists", f"A runner works on session {session}: stop it first.", session=session)
    is_new = lookups.restore(session, op.snapshot, lambda one: log.from_runner(conn, one))
    return {"snapshot": op.snapshot, "state": row.state, "journal": "restored" if is_new else "as it was"}
