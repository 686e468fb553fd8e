"""Writing the server's own events into a log, inside the transaction of the command that causes them."""

from core.domain.errors import Conflict, NotFound
from core.domain.events import Branched, Fact, SessionCreated, encode_event, make_event
from core.domain.session import ALLOWED, SessionRow
from core.domain.verdict import Author
from core.protocol.codec import check_event
from core.store import log
from core.store.accounts import Principal
from core.store.sqlite import Connection

SERVER = Author(kind="server", name="server")


def person(principal: Principal) -> Author:
    """The annotator behind a token."""
    return Author(kind="person", name=principal.name)


def write(conn: Connection, session: str, fact: Fact, author: Author, *, id: str = "") -> dict[str, object]:
    """Append one event; returns a command's result {"seq": its place}."""
    body = check_event(encode_event(make_event(fact, author, id=id)))
    return {"seq": log.append(conn, session, [body])}


def beginning(conn: Connection, session: str) -> tuple[SessionCreated, Branched | None]:
    """What a session is, and from where it went another way itself. Raises NotFound (no_session)."""
    facts = [placed.event.fact for placed in log.read(conn, session, limit=2)]
    if not facts or not isinstance(facts[0], SessionCreated):
        raise NotFound("no_session", f"Session {session} has not begun.", session=session)
    second = facts[1] if len(facts) > 1 else None
    return facts[0], second if isinstance(second, Branched) and not second.is_call else None


def require_live(row: SessionRow) -> None:
    """Raise Conflict (imported) for a session in which nothing runs."""
    if row.origin != "live":
        raise Conflict("imported", f"Session {row.session} was imported; nothing runs in it.")


def check_move(row: SessionRow, to: str) -> None:
    """Raise Conflict (wrong_state) unless a session may go from its state to `to`."""
    if to not in ALLOWED[row.state]:
        raise Conflict("wrong_state", f"Session {row.session} is {row.state} and cannot become {to}.",
                       state=row.state, wanted=to)
