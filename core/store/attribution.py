"""Which account sent an event: kept beside the log, as an event's own bytes only say who its author claims to be.

Every function that writes expects to be inside the transaction that appends the events.
"""

from collections.abc import Iterator

import msgspec

from core.store.sqlite import Connection, scalar


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """The events first … last of a session came with the token of `account`."""

    session: str
    first: int
    last: int
    account: str


def attribute(conn: Connection, session: str, first: int, last: int, account: str) -> None:
    """The events first … last are this account's; nothing where there are none."""
    if last < first:
        return
    sql = "UPDATE attribution SET last = ?1 WHERE session = ?2 AND last = ?3 AND account = ?4"
    if not conn.execute(sql, (last, session, first - 1, account)).rowcount:
        conn.execute("INSERT INTO attribution VALUES (?, ?, ?, ?)", (session, first, last, account))


def sender(conn: Connection, session: str, seq: int) -> str:
    """The account that sent an event; "" for the server's own, and where an older program did not store it."""
    sql = "SELECT account FROM attribution WHERE session = ? AND first <= ? AND last >= ? ORDER BY first DESC LIMIT 1"
    return scalar(conn, sql, session, seq, seq) or ""


def sent(conn: Connection, account: str = "") -> Iterator[Sent]:
    """What an account sent, or all of them, by session."""
    sql = "SELECT session, first, last, account FROM attribution WHERE ?1 IN ('', account) ORDER BY session, first"
    for session, first, last, name in conn.execute(sql, (account,)):
        yield Sent(session=session, first=first, last=last, account=name)
