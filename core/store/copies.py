"""A replica's copies of another log: the only events that may be dropped, as they can be had again."""

from collections.abc import Sequence
from datetime import UTC, datetime

from core.store import loose_blobs, queues
from core.store.sqlite import Connection, scalar

EPOCH = "server_epoch"
"""The setting that names the log that the copies come from; "" in a fresh replica."""

READER = "reader_name"
"""What the server called the person here when it was reached last; "" before that."""


def setting(conn: Connection, key: str) -> str:
    """What a replica remembers under a key; "" where it does not."""
    return scalar(conn, "SELECT value FROM setting WHERE key = ?", key) or ""


def put_setting(conn: Connection, key: str, value: str) -> None:
    """Remember a value."""
    conn.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (key, value))


def forget(conn: Connection, session: str | None = None) -> None:
    """Drop the copy of one session, or of all with the queues; the outbox, drafts, settings and payloads stay."""
    if session is None:
        queues.forget(conn)
    name, sql = conn.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name = 'event_is_never_deleted'").fetchone()
    conn.execute(f"DROP TRIGGER {name}")
    conn.execute("DELETE FROM event WHERE ?1 IS NULL OR session = ?1", (session,))
    conn.execute("DELETE FROM session WHERE ?1 IS NULL OR id = ?1", (session,))
    conn.execute(sql)


def remove(conn: Connection, session: str) -> None:
    """Drop the copy of a session with its payloads, as far as no other copy names them, and write over them."""
    _loosen(conn, session)
    loose_blobs.remove(conn)


def purge(conn: Connection, deletions: Sequence[tuple[str, str]]) -> list[str]:
    """Remove what is held of sessions that the server deleted, (session, mark); gives those that were news here.

    What was said of them and answered goes too; what waits for an answer gets one. Of the newest command the number
    is still needed.
    """
    news = [(session, mark) for session, mark in deletions
            if scalar(conn, "SELECT mark FROM tombstone WHERE session = ?", session) != mark]
    for session, mark in news:
        _loosen(conn, session)
        conn.execute("DELETE FROM draft WHERE session = ?", (session,))
        conn.execute("DELETE FROM outbox WHERE session = ? AND state != 'queued' "
                     "AND cseq < (SELECT max(cseq) FROM outbox)", (session,))
        conn.execute("INSERT OR REPLACE INTO tombstone (session, mark, account, at, events, was_live, is_back, is_done)"
                     " VALUES (?, ?, '', ?, 0, 0, 1, 1)", (session, mark, datetime.now(UTC).isoformat()))
    loose_blobs.remove(conn)
    return [session for session, _ in news]


def _loosen(conn: Connection, session: str) -> None:
    loose_blobs.overwrite(conn)
    held = conn.execute("SELECT body FROM event WHERE session = ?", (session,))
    loose_blobs.loosen(conn, loose_blobs.names_in(bytes(body) for (body,) in held))
    forget(conn, session)
