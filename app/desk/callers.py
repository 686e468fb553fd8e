"""Which sessions are subagents of which: the rows of the sessions say it, nothing is read for it."""

from __future__ import annotations

from app.desk.desk import Desk
from app.desk.session_key import id_of, key_of
from core.domain.session import SessionRow

DEEPEST = 12
"""Subagents of subagents are followed so far; rows that name each other end here too."""


def line_of(desk: Desk, session: str) -> list[str]:
    """The sessions that lead to one: the first caller that is known, …, its own caller, itself."""
    found = [session] if session else []
    while found and len(found) < DEEPEST and (row := desk.row(found[0])) is not None and row.caller:
        above = key_of(row.caller, desk.server)
        if above in found or desk.row(above) is None:
            break
        found.insert(0, above)
    return found


def called_by(desk: Desk, session: str) -> dict[int, list[SessionRow]]:
    """The subagents of a session by the step that called them; 0: it is not known which."""
    name, called = id_of(session), dict[int, list[SessionRow]]()
    for row in desk.rows() if name else ():
        if row.caller == name:
            called.setdefault(row.caller_step, []).append(row)
    return called
