"""A person who acts in the agent's place: who may, and the words that the runner reads."""

import msgspec

from core.domain.errors import Conflict, InvalidInput
from core.domain.events import ActionAsked, Fact, HandBackAsked, TakeoverAsked
from core.domain.ids import is_id
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.operations import Act, HandBack, TakeOver
from core.server.guidance import check_length
from core.server.lifecycle import refuse_subagent
from core.server.record import beginning, person, require_live, write
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection

LONGEST = 200_000
"""Characters of an action's arguments: a file may be among them."""


def take(conn: Connection, principal: Principal, session: str, op: TakeOver | Act | HandBack, command: str
         ) -> dict[str, object]:
    """Write a person's word into the log. Raises NotFound, Conflict, InvalidInput.

    The event bears the command's id: a runner that obeyed it knows it again in a log that was restored.
    """
    row = log.row(conn, session)
    _check_session(conn, row)
    if not is_id(command):  # every request to the model from then on bears it, as the id of a call
        raise InvalidInput("bad_id", f"{command[:80]!r} cannot name an action.")
    return write(conn, session, _fact(row, principal.name, op), person(principal), id=command)


def _check_session(conn: Connection, row: SessionRow) -> None:
    require_live(row)
    refuse_subagent(row, "be taken over")
    if row.state in FINAL_STATES:
        raise Conflict("session_over", f"Session {row.session} is {row.state} already.", state=row.state)
    created, _ = beginning(conn, row.session)
    if created.agent.kind != "own":
        raise Conflict("no_takeover", f"The agent of session {row.session} is not ours: nobody can act in its place. "
                       "Pause or interrupt it, and give it advice.", session=row.session)


def _fact(row: SessionRow, name: str, op: TakeOver | Act | HandBack) -> Fact:
    if isinstance(op, TakeOver):
        return TakeoverAsked(idle_s=op.idle_s)
    if not row.held_by:
        raise Conflict("not_taken_over", f"Nobody has taken session {row.session} over.", session=row.session)
    if isinstance(op, HandBack):
        return HandBackAsked()
    if row.held_by != name:
        raise Conflict("not_taken_over", f"{row.held_by} has taken session {row.session} over: take it over first.",
                       session=row.session, person=row.held_by)
    check_length(op.arguments, LONGEST)
    check_length(op.thought, LONGEST)
    try:
        msgspec.json.decode(op.arguments, type=dict)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise InvalidInput("bad_action", f"The arguments of {op.tool[:80]!r} are no JSON object: {error}") from error
    return ActionAsked(tool=op.tool, arguments=op.arguments, thought=op.thought)
