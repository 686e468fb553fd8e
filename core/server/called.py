"""Sessions of subagents: made by the runner of the session whose agent called them, steered and ended with it."""

from core.domain.errors import InvalidInput, LimitReached
from core.domain.events import Branched, SessionCreated, SessionStateChanged
from core.domain.ids import root_session
from core.domain.session import FINAL_STATES
from core.domain.task import Task
from core.domain.verdict import Author
from core.protocol.operations import CallSubagent
from core.server.lifecycle import check_id
from core.server.record import SERVER, beginning, require_live, write
from core.store import log
from core.store.sqlite import Connection

MOST_SUBAGENTS = 1_000
"""Sessions that the runner of one session may make: each is one for everybody to see."""


def call_subagent(conn: Connection, session: str, op: CallSubagent) -> dict[str, object]:
    """Make the session of a subagent. Raises InvalidInput, NotFound, Conflict."""
    check_id(session)
    root = root_session(session)
    if root in (session, "") or root_session(op.caller) != root:
        raise InvalidInput("bad_id", f"{session[:80]!r} cannot name a subagent of {op.caller[:80]!r}.")
    require_live(log.row(conn, root))
    created, _ = beginning(conn, root)
    if not log.knows(conn, session) and log.count_below(conn, f"{root}.sub") >= MOST_SUBAGENTS:
        raise LimitReached("too_many_subagents", f"The agent of session {root} called {MOST_SUBAGENTS} subagents.",
                           session=root)
    if not log.create(conn, session):
        return {"seq": log.head(conn, session)}
    task = Task(id=created.task.id, title=op.title or created.task.title, description=op.description)
    author = Author(kind="agent", name=op.caller)
    write(conn, session, SessionCreated(task=task, agent=created.agent), author)
    return write(conn, session, Branched(parent=op.caller, step=op.step, is_call=True), author)


def end_orphan(conn: Connection, session: str) -> None:
    """A subagent is over where the session is whose agent called it and no runner is left to tell how."""
    row, root = log.row(conn, session), log.row(conn, root_session(session))
    if row.state not in FINAL_STATES and root.state in FINAL_STATES:
        write(conn, session, SessionStateChanged(state="stopped", reason="caller_ended"), SERVER)
