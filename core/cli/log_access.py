"""How commands reach the store: reading straight from the file, writing through the authority alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

from core.cli.output import note
from core.domain.blindness import hide_opinions
from core.domain.errors import Conflict, NotFound
from core.domain.queue import is_asked_blindly
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author
from core.protocol.operations import AnyOp
from core.store import accounts, log, queues, tombstones
from core.store.home import Home
from core.store.lock import FileLock
from core.store.schema import check_known, migrations, open_log
from core.store.sqlite import Connection, connect, scalar

if TYPE_CHECKING:
    from core.server.authority import Authority

T = TypeVar("T")


@contextmanager
def reading(home: Home) -> Iterator[Connection]:
    """A connection to the log of record that cannot write; an empty log is made where there is none.

    A server that starts at this moment may have made the file and not its tables yet: then they are made here. A log
    of an older version is brought up to date before. Raises Conflict (server_older) where its server still runs.
    """
    with closing(_ready(home)) as conn:
        yield conn


def _ready(home: Home) -> Connection:
    """A connection to a log that is made and up to date; most often one look at it is enough."""
    if not home.server_db.exists():
        open_log(home.server_db).close()
    conn = connect(home.server_db, readonly=True)
    try:
        is_made = bool(scalar(conn, "SELECT count(*) FROM sqlite_master WHERE name = 'session'"))
        if is_made and not check_known(conn, home.server_db, migrations):
            return conn
    except BaseException:
        conn.close()
        raise
    conn.close()
    _bring_up(home) if is_made else open_log(home.server_db).close()
    return connect(home.server_db, readonly=True)


def _is_older(home: Home) -> bool:
    with closing(connect(home.server_db, readonly=True)) as conn:
        return bool(check_known(conn, home.server_db, migrations))


def _bring_up(home: Home) -> None:
    lock = FileLock(home.server_lock)
    if not lock.take():
        if _is_older(home):  # it was not at work on that very thing
            raise Conflict("server_older", "The server that runs here is older than this program: restart it.")
        return
    with lock:
        open_log(home.server_db).close()


def trajectory(conn: Connection, session: str, at: int = 0) -> Trajectory:
    """A session's trajectory, of its first `at` events (0: of all). Raises NotFound."""
    if not log.head(conn, session):
        if scalar(conn, "SELECT 1 FROM sqlite_master WHERE name = 'tombstone'"):  # not in a log of an older version
            tombstones.refuse_deleted(conn, session)
        raise NotFound("no_session", f"There is no session {session}.", session=session)
    return fold(session, islice(log.read_all(conn, session), at or None))


def account_here(conn: Connection, home: Home) -> str:
    """What the server of this home calls who works here; "" before it made an account."""
    return accounts.principal(conn, home.admin_token.read_text().strip()).name if home.admin_token.is_file() else ""


def blind_reader(conn: Connection, home: Home, session: str, me: str | None = None) -> str:
    """The author's key of who works here where they have a session in a blind queue (`core.domain.blindness`), else "".
    Who administers the server and does not judge it sees everything. `me`: the account, where that is known."""
    me = account_here(conn, home) if me is None else me
    known = {one.queue: one for one in queues.queues(conn) if one.work.blind and not one.closed}
    held = ((queue, item) for name, queue in known.items() for item in queues.items(conn, name)
            if item.session == session)
    return Author(kind="person", name=me).key if is_asked_blindly(held, me, may_take=False) else ""


def seen_here(conn: Connection, home: Home, session: str, at: int = 0) -> Trajectory:
    """A session's trajectory (of its first `at` events, 0: of all) without the opinions that who works here may not see
    yet. Raises NotFound."""
    found = trajectory(conn, session, at)
    if reader := blind_reader(conn, home, session):
        hide_opinions(found, reader)
        note(f"You judge {session} blindly: what others say of a step is left out until you have judged it.")
    return found


def require_seeing(conn: Connection, home: Home, session: str) -> None:
    """Raises Conflict (judged_blindly) where what training does with a session would show who works here others'
    verdicts."""
    if blind_reader(conn, home, session):
        raise Conflict("judged_blindly", f"You judge session {session} blindly, and this would show you others' "
                       "verdicts.", session=session)


def writing(home: Home, work: Callable[[Authority], Awaitable[T]]) -> T:
    """The result of `work`, given the one authority that may write: the running server, or this process."""

    async def with_authority() -> T:
        from core.server.authority import Authority

        async with Authority(home) as authority:
            return await work(authority)

    return asyncio.run(with_authority())


def do(session: str, op: AnyOp, home: Home | None = None) -> dict[str, Any]:
    """What comes of an operation on a session, or queue. Raises what it is refused for."""
    return writing(home or Home.default(), lambda authority: authority.do(session, op))
