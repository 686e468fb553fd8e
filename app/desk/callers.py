"""Which sessions are subagents of which: the rows of the sessions say it, nothing is read for it."""

from __future__ import annotations

from app.desk.desk import Desk
from app.desk.session_key import id_of, key_of
from app.kit import quantities
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


def number_of(desk: Desk, session: str, step: int) -> str:
    """A step's number as the list has it: `9.46` is the 46th of the subagent that step 9 called."""
    calls = [row.caller_step for one in line_of(desk, session)[1:] if (row := desk.row(one)) is not None]
    return ".".join([*(str(call) if call else "?" for call in calls), quantities.number(step)])


def step_named(desk: Desk, session: str, number: str) -> tuple[str, int] | None:
    """The session and step of such a number, read from the first caller on; None where there is none."""
    *calls, last = number.split(".")
    here = (line_of(desk, session) or [session])[0]
    for call in calls:
        rows = called_by(desk, here).get(int(call), [])
        if len(rows) != 1:
            return None
        here = rows[0].session
    row = desk.row(here)
    return (here, int(last)) if row is not None and 0 < int(last) <= row.steps else None


def called_by(desk: Desk, session: str) -> dict[int, list[SessionRow]]:
    """The subagents of a session by the step that called them; 0: it is not known which."""
    name, called = id_of(session), dict[int, list[SessionRow]]()
    for row in desk.rows() if name else ():
        if row.caller == name:
            called.setdefault(row.caller_step, []).append(row)
    return called
