"""Going on with a session: that has ended, with more to use and with advice; or from a snapshot on this computer."""

from core.domain.errors import Conflict
from core.domain.events import SessionContinued
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.task import Budget
from core.protocol.operations import ContinueSession, Guide, RestoreSession
from core.server import guidance
from core.server.lifecycle import refuse_subagent
from core.server.lookups import Lookups
from core.server.record import person, require_live, write
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection

_LIMITS = {"limit_steps": "steps", "limit_wall": "wall_s", "limit_tokens": "tokens", "limit_cost": "cost_usd"}

MOST_NAMED = 500
"""So many snapshots are told, the newest."""


def continue_session(conn: Connection, principal: Principal, session: str, op: ContinueSession, command: str
                     ) -> dict[str, object]:
    """Queue a session that ended: its runner goes on where it was. The event bears the command's id, as a control's.

    Raises NotFound, InvalidInput, Conflict: imported, not_over, limit_stands.
    """
    row = log.row(conn, session)
    _check(row, op.more)
    made = write(conn, session, SessionContinued(more=op.more), person(principal), id=command)
    if op.text:
        return guidance.guide(conn, principal, session, Guide(guidance=op.guidance, text=op.text))
    return made


def _check(row: SessionRow, more: Budget) -> None:
    require_live(row)
    refuse_subagent(row, "go on")
    if row.state not in FINAL_STATES:
        raise Conflict("not_over", f"Session {row.session} is {row.state}: it has not ended, so it needs no word to go "
                       "on.", state=row.state)
    limit = _LIMITS.get(row.reason)
    if limit and not getattr(more, limit):
        raise Conflict("limit_stands", f"Session {row.session} ended by {row.reason}: say how much more it may use, or "
                       "it ends at once again.", limit=row.reason)


def restore(conn: Connection, session: str, op: RestoreSession, lookups: Lookups) -> dict[str, object]:
    """The next runner of the session begins from the snapshot; without one, the result says which are `here`.

    Raises NotFound (no_session, no_snapshot), Conflict: imported, runner_exists, snapshot_too_old.
    """
    row = log.row(conn, session)
    require_live(row)
    if not op.snapshot:
        return {"here": lookups.snapshots(session)[-MOST_NAMED:]}
    if lookups.is_alive(session):
        raise Conflict("runner_exists", f"A runner works on session {session}: stop it first.", session=session)
    is_new = lookups.restore(session, op.snapshot, lambda one: log.from_runner(conn, one))
    return {"snapshot": op.snapshot, "state": row.state, "journal": "restored" if is_new else "as it was"}
