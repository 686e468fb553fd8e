"""How far the log had come, in a small file beside it: so an older copy of the log that was put in its place by hand
is found out, and gets an epoch of its own, as `tiphys restore` gives it (else clients would mix two logs)."""

import asyncio
import logging
import secrets
from pathlib import Path

import msgspec

from core.store import log
from core.store.home import Home, read_small, write_private
from core.store.sqlite import Connection as Database
from core.store.sqlite import scalar

_log = logging.getLogger("store")

WRITE_EVERY_S = 5.0


class HighWaterMark(msgspec.Struct, frozen=True):
    """A log's identity and how much it holds: a number that only grows."""

    epoch: str
    held: int


def mark_of(conn: Database) -> HighWaterMark:
    """Events and commands that a log holds, or held until they were deleted, counted."""
    sql = ("SELECT (SELECT ifnull(sum(head), 0) FROM session) + (SELECT ifnull(sum(events), 0) FROM tombstone) "
           "+ (SELECT ifnull(sum(cseq), 0) FROM sender)")
    return HighWaterMark(log.epoch(conn), scalar(conn, sql))


def was_replaced(conn: Database, home: Home) -> bool:
    """Whether the log is another one than when a server last wrote the mark, or holds less."""
    now, before = mark_of(conn), read_small(_path(home), HighWaterMark, None)
    return before is not None and (before.epoch != now.epoch or before.held > now.held)


def find_out(conn: Database, home: Home) -> bool:
    """Give the log another epoch where it holds less than it did; whether that was so. Inside a transaction."""
    now, before = mark_of(conn), read_small(_path(home), HighWaterMark, None)
    if before is None or before.epoch != now.epoch or before.held <= now.held:
        return False
    conn.execute("UPDATE meta SET value = ? WHERE key = 'epoch'", (secrets.token_hex(16),))
    _log.warning("An older copy of the log was put back: everybody reads it anew and tells it again what it lacks.")
    return True


def write_mark(reader: Database, home: Home) -> None:
    """Write down how far the log has come; a full disk leaves the mark as it was, which does no harm."""
    now = mark_of(reader)
    try:
        if now != read_small(_path(home), HighWaterMark, None):
            write_private(_path(home), msgspec.json.encode(now))
    except OSError as error:
        _log.info("the mark beside the log was not written: %s", error)


async def write_marks(reader: Database, home: Home) -> None:
    """Write it down every few seconds."""
    while True:
        await asyncio.sleep(WRITE_EVERY_S)
        write_mark(reader, home)


def _path(home: Home) -> Path:
    return home.path / "server.mark"
