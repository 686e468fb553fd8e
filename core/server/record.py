"""Writing the server's own events into a log, inside the transaction of the command that causes them."""

from core.domain.errors import Conflict
from core.domain.events import Fact, encode_event, make_event
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


def require_live(row: SessionRow) -> None:
    """Raise Conflict (imported) for a session in which nothing runs."""
    if row.origin != "live":
        raise Conflict("imported", f"Session {row.session} was imported; nothing runs in it.")


def check_move(row: SessionRow, to: str) -> None:
    """Raise Conflict (wrong_state) unless a session may go from its state to `to`."""
    if to not in ALLOWED[row.state]:
        raise Conflict("wrong_state", f"Session {row.session} is {row.state} and cannot become {to}.",
                       state=row.state, wanted=to)
