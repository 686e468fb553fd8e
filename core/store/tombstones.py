"""Sessions that were deleted: what is remembered of each, so that nothing that comes late brings one back; and what a
deletion would lose.

A deletion is one transaction: the session's events, its row, and what the log knows beside it go, and a tombstone
stays. Everything else (folders, sandboxes, the search index, payloads) is removed afterwards, however often that is
broken off: `unfinished` names the sessions where it is still to do. Only an import that somebody asks for brings a
session back, as a new one of the same id.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from core.domain.errors import NotFound
from core.domain.events import SessionCreated, decode_stored
from core.domain.ids import new_id
from core.domain.losses import Losses
from core.store import judged, log, loose_blobs, queues
from core.store.sqlite import Connection, scalar


class Tombstone(msgspec.Struct, frozen=True, kw_only=True):
    """A deletion. `mark` names it; `account` asked for it; `is_back`: the session was imported again since."""

    session: str
    mark: str
    account: str
    at: datetime
    was_live: bool
    is_back: bool


_COLUMNS = "SELECT session, mark, account, at, was_live, is_back FROM tombstone"


def of(conn: Connection, session: str) -> Tombstone | None:
    """The last deletion of a session; None for one that never was deleted."""
    return next(iter(_found(conn, f"{_COLUMNS} WHERE session = ?", session)), None)


def all_of(conn: Connection) -> list[Tombstone]:
    """Every deletion, by session."""
    return _found(conn, f"{_COLUMNS} ORDER BY session")


def unfinished(conn: Connection) -> list[Tombstone]:
    """The deletions of which something beside the log is still to be removed."""
    return _found(conn, f"{_COLUMNS} WHERE NOT is_done ORDER BY session")


def is_deleted(conn: Connection, session: str) -> bool:
    """Whether a session was deleted and did not come back."""
    return scalar(conn, "SELECT 1 FROM tombstone WHERE session = ? AND NOT is_back", session) is not None


def refuse_deleted(conn: Connection, session: str) -> None:
    """Raises NotFound (session_deleted)."""
    stone = of(conn, session)
    if stone is not None and not stone.is_back:
        raise refusal(stone)


def refusal(stone: Tombstone) -> NotFound:
    """What is said to who still speaks of a deleted session."""
    by = f" by {stone.account}" if stone.account else ""
    return NotFound("session_deleted", f"Session {stone.session} was deleted on {stone.at:%Y-%m-%d %H:%M} UTC{by}.",
                    session=stone.session, at=stone.at.isoformat(), account=stone.account)


def bury(conn: Connection, session: str, account: str) -> int:
    """Delete a session, in the transaction that this is called in; gives how many events. Raises NotFound.

    Who asks whether it may be deleted has done so. What is deleted is written over with zeros.
    """
    row = log.row(conn, session)
    loose_blobs.overwrite(conn)
    held = log.head(conn, session)
    names = loose_blobs.names_in(bytes(b) for (b,) in conn.execute("SELECT body FROM event WHERE session = ?",
                                                                   (session,)))
    conn.execute("""INSERT INTO tombstone (session, mark, account, at, events, was_live) VALUES (?, ?, ?, ?, ?, ?)
                    ON CONFLICT (session) DO UPDATE SET mark = excluded.mark, account = excluded.account,
                    at = excluded.at, events = events + excluded.events, was_live = excluded.was_live, is_back = 0,
                    is_done = 0""",
                 (session, new_id(), account, datetime.now(UTC).isoformat(), held, row.origin == "live"))
    loose_blobs.loosen(conn, names)
    conn.execute("DELETE FROM event WHERE session = ?", (session,))
    conn.execute("DELETE FROM session WHERE id = ?", (session,))
    conn.execute("DELETE FROM attribution WHERE session = ?", (session,))
    conn.execute("DELETE FROM early_opinion WHERE session = ?", (session,))
    judged.forget(conn, session)
    queues.drop_session(conn, session)
    conn.execute("DELETE FROM account WHERE name = ?", (f"agent:{session}",))
    return held


def come_back(conn: Connection, session: str) -> None:
    """Somebody imports a deleted session again: from now on there may be one of that id."""
    conn.execute("UPDATE tombstone SET is_back = 1 WHERE session = ?", (session,))


def finish(conn: Connection, marks: Iterable[str]) -> None:
    """Nothing of these deletions is left to do."""
    conn.executemany("UPDATE tombstone SET is_done = 1 WHERE mark = ?", [(mark,) for mark in marks])


def _found(conn: Connection, sql: str, *values: object) -> list[Tombstone]:
    return [Tombstone(session=session, mark=mark, account=account, at=datetime.fromisoformat(at),
                      was_live=bool(was_live), is_back=bool(is_back))
            for session, mark, account, at, was_live, is_back in conn.execute(sql, values)]


def losses_of(conn: Connection, session: str) -> Losses:
    """What would be lost with a session. Raises NotFound."""
    row = log.row(conn, session)
    size, names = 0, set[bytes]()
    for (body,) in conn.execute("SELECT body FROM event WHERE session = ?", (session,)):
        size += len(body)
        names |= loose_blobs.names_in((body,))
    size += sum(scalar(conn, "SELECT length(data) FROM blob WHERE hash = ?", name) or 0 for name in names)
    people = [decode_stored(body).author.name for body in log.opinions(conn, session)]
    sql = "SELECT count(*) FROM event WHERE session = ? AND kind = 'guidance_queued'"
    return Losses(session=session, title=row.title, head=log.head(conn, session), steps=row.steps,
                  opinions=len(people), people=tuple(sorted(set(people))), guidance=scalar(conn, sql, session),
                  bytes=size, hosts=_hosts(conn, session) if row.origin == "live" else 0)


def _hosts(conn: Connection, session: str) -> int:
    """How many sandboxes the session's task asked for."""
    sql = "SELECT body FROM event WHERE session = ? AND kind = 'session_created' ORDER BY seq LIMIT 1"
    body = scalar(conn, sql, session)
    fact = decode_stored(bytes(body)).fact if body is not None else None
    return len(fact.task.hosts) if isinstance(fact, SessionCreated) else 0
