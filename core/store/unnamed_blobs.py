"""Payloads that came and that no event names: counted against a quota of who sent them, and removed after a while.

A sender stores payloads before the events that name them, so each is nobody's for a moment. One that stays so is
rubbish: its sender died, or fills the disk.
"""

import time
from collections.abc import Iterable

from core.domain.errors import LimitReached
from core.store import blobs
from core.store.sqlite import Connection, scalar

MOST_BYTES = 1024 * 1024 * 1024
"""Of one account, as they rest: sixteen of the largest payloads that cannot be compressed."""

MOST = 50_000
"""Of one account."""

WAIT_S = 86_400.0
"""How long a payload may wait for the event that names it; who comes later is asked for it again."""


def take_in(conn: Connection, account: str, hash: str, compressed: bytes) -> None:
    """Store a payload that came. Raises as `blobs.put_compressed` does, and LimitReached (payload_quota)."""
    if blobs.holds(conn, hash):
        return
    sql = "SELECT count(*), ifnull(sum(size), 0) FROM unnamed_blob WHERE account = ?"
    [(count, size)] = conn.execute(sql, (account,)).fetchall()
    if count >= MOST or size + len(compressed) > MOST_BYTES:
        raise LimitReached("payload_quota", f"{account} has {count} payloads of {size} bytes here that no event names; "
                           "they are removed after a day.", count=count, size=size)
    blobs.put_compressed(conn, hash, compressed)
    conn.execute("INSERT INTO unnamed_blob VALUES (?, ?, ?, ?)",
                 (bytes.fromhex(hash), account, len(compressed), int(time.time())))


def named(conn: Connection, hashes: Iterable[str]) -> None:
    """Events name these payloads now, in the transaction that this is called in."""
    if scalar(conn, "SELECT 1 FROM unnamed_blob LIMIT 1") is not None:
        conn.executemany("DELETE FROM unnamed_blob WHERE hash = ?", [(bytes.fromhex(name),) for name in set(hashes)])


def sweep(conn: Connection, now: float) -> int:
    """Remove what waited too long by `now` (seconds since 1970); gives how many."""
    before = (int(now - WAIT_S),)
    conn.execute("DELETE FROM blob WHERE hash IN (SELECT hash FROM unnamed_blob WHERE at < ?)", before)
    return conn.execute("DELETE FROM unnamed_blob WHERE at < ?", before).rowcount
