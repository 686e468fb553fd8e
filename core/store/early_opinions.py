"""Opinions on sessions that the log does not know yet, of people who may not make sessions.

After a restore an account tells its opinions again, perhaps before whoever made the session is back. They wait here,
make nothing that anybody sees, and are appended as soon as the session is there.
"""

import time

from core.domain.errors import LimitReached
from core.store.sqlite import Connection, scalar

MOST = 5_000
"""Of one account."""

WAIT_S = 30 * 86_400.0
"""What waits longer is forgotten: an outbox tells again what is a week old at most."""


def hold(conn: Connection, session: str, account: str, body: bytes) -> None:
    """Let an event wait. Raises LimitReached (too_many_early)."""
    if scalar(conn, "SELECT count(*) FROM early_opinion WHERE account = ?", account) >= MOST:
        raise LimitReached("too_many_early", f"{account} has {MOST} opinions on sessions that are not here.", most=MOST)
    conn.execute("INSERT INTO early_opinion (session, account, at, body) VALUES (?, ?, ?, ?)",
                 (session, account, int(time.time()), body))


def take(conn: Connection, session: str) -> list[tuple[str, bytes]]:
    """What waits for a session, in order, as (account, body); it waits no more."""
    sql = "SELECT account, body FROM early_opinion WHERE session = ? ORDER BY n"
    waiting = [(str(account), bytes(body)) for account, body in conn.execute(sql, (session,))]
    if waiting:
        conn.execute("DELETE FROM early_opinion WHERE session = ?", (session,))
    return waiting


def sweep(conn: Connection, now: float) -> int:
    """Forget what waited too long by `now` (seconds since 1970); gives how many."""
    return conn.execute("DELETE FROM early_opinion WHERE at < ?", (int(now - WAIT_S),)).rowcount
