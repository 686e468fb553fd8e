"""How commands reach the store: reading straight from the file, writing through the authority alone."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from core.domain.errors import Conflict, NotFound
from core.domain.trajectory import Trajectory, fold
from core.protocol.operations import AnyOp
from core.store import log, tombstones
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
    try:
        open_log(home.server_db).close()
    finally:
        lock.release()


def trajectory(conn: Connection, session: str) -> Trajectory:
    """A session's trajectory. Raises NotFound."""
    if not log.head(conn, session):
        if scalar(conn, "SELECT 1 FROM sqlite_master WHERE name = 'tombstone'"):  # not in a log of an older version
            tombstones.refuse_deleted(conn, session)
        raise NotFound("no_session", f"There is no session {session}.", session=session)
    return fold(session, log.read_all(conn, session))


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
