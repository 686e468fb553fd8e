"""Payloads that deleted sessions named. Those that no other session names are removed, after a look through the log.

The look takes seconds in a large log, so it is not part of the deletion; it may be broken off and begun again. Who
appends an event that names one of them meanwhile takes it back (`named`).
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from core.store.sqlite import Connection, scalar

_NAME = re.compile(rb'(?<=")[0-9a-f]{64}(?=")')
"""Where a payload's name may stand in an event; what only looks like one costs nothing."""

_AT_ONCE = 500


def names_in(bodies: Iterable[bytes]) -> set[bytes]:
    """The hashes that events may name."""
    return {bytes.fromhex(name.decode()) for body in bodies for name in _NAME.findall(body)}


def loosen(conn: Connection, hashes: Iterable[bytes]) -> None:
    """A session that named these is deleted. What waits for an event that names it is left to `unnamed_blobs`."""
    sql = """INSERT OR IGNORE INTO loose_blob SELECT hash FROM blob WHERE hash = ?1
             AND NOT EXISTS (SELECT 1 FROM unnamed_blob WHERE hash = ?1)"""
    conn.executemany(sql, [(one,) for one in hashes])


def named(conn: Connection, bodies: Sequence[bytes]) -> None:
    """These events are appended now: what they name stays."""
    if scalar(conn, "SELECT 1 FROM loose_blob LIMIT 1") is not None:
        conn.executemany("DELETE FROM loose_blob WHERE hash = ?", [(one,) for one in names_in(bodies)])


def unnamed(reader: Connection) -> list[bytes]:
    """Those of the loose payloads that no event names, by a look through the whole log."""
    loose = {bytes(one) for (one,) in reader.execute("SELECT hash FROM loose_blob")}
    for (body,) in reader.execute("SELECT body FROM event") if loose else ():
        if not loose:
            break
        if found := _NAME.findall(body):
            loose.difference_update(bytes.fromhex(name.decode()) for name in found)
    return sorted(loose)


def sweep(reader: Connection, write: Callable[[Callable[[Connection], int]], int]) -> int:
    """Remove what no session names any more; gives how many payloads. `write` runs work in a transaction of its own."""
    before = _deletions(reader)
    loose = {bytes(one) for (one,) in reader.execute("SELECT hash FROM loose_blob")}
    gone = unnamed(reader)
    removed = 0
    for first in range(0, len(gone), _AT_ONCE):
        removed += write(partial(_remove, hashes=gone[first : first + _AT_ONCE]))
    if others := sorted(loose.difference(gone)):
        write(partial(_settle, hashes=others, before=before))
    return removed


def remove(conn: Connection) -> int:
    """The same at once, inside a transaction: for a file that nobody waits for."""
    return sweep(conn, lambda work: work(conn))


def _remove(conn: Connection, hashes: Sequence[bytes]) -> int:
    overwrite(conn)
    removed = 0
    for one in hashes:
        if conn.execute("DELETE FROM loose_blob WHERE hash = ?", (one,)).rowcount:  # nobody named it since
            removed += conn.execute("DELETE FROM blob WHERE hash = ?", (one,)).rowcount
    return removed


def _settle(conn: Connection, hashes: Sequence[bytes], before: str) -> int:
    """These belong to other sessions too: they stay, unless one of those was deleted while the log was looked through.
    """
    if _deletions(conn) == before:
        conn.executemany("DELETE FROM loose_blob WHERE hash = ?", [(one,) for one in hashes])
    return 0


def _deletions(conn: Connection) -> str:
    return str(scalar(conn, "SELECT json_group_array(mark) FROM tombstone"))


def overwrite(conn: Connection) -> None:
    """From now on this connection writes zeros over what it deletes."""
    conn.execute("PRAGMA secure_delete=ON").fetchall()
