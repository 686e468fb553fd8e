"""Going on with a session that has ended: with more to use, and with advice."""

from __future__ import annotations

from core.domain.errors import Conflict
from core.domain.events import SessionContinued
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.task import Budget
from core.protocol.operations import ContinueSession, Guide
from core.server import guidance
from core.server.lifecycle import refuse_subagent
from core.server.record import person, write
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection

_LIMITS = {"limit_steps": "steps", "limit_wall": "wall_s", "limit_tokens": "tokens", "limit_cost": "cost_usd"}


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
    if row.origin != "live":
        raise Conflict("imported", f"Session {row.session} was imported; nothing runs in it.")
    refuse_subagent(row, "go on")
    if row.state not in FINAL_STATES:
        raise Conflict("not_over", f"Session {row.session} is {row.state}: it has not ended, so it needs no word to go "
                       "on.", state=row.state)
    limit = _LIMITS.get(row.reason)
    if limit and not getattr(more, limit):
        raise Conflict("limit_stands", f"Session {row.session} ended by {row.reason}: say how much more it may use, or "
                       "it ends at once again.", limit=row.reason)
