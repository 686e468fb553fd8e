"""What the log does not know and the runners' journals here do: the log was replaced by a backup."""

from __future__ import annotations

import logging
from contextlib import closing
from functools import partial
from pathlib import Path

import msgspec

from core.domain.errors import ReportableError
from core.domain.events import Branched, Fact, SessionCreated, blobs_of, decode_event
from core.protocol.messages import Append
from core.server.append import MissingPayloads, append_entries
from core.server.high_water import find_out, was_replaced, write_mark
from core.server.lifecycle import take_early
from core.server.record import SERVER, write
from core.store import blobs, log, tombstones
from core.store.home import Home
from core.store.sqlite import Connection, connect, driver, scalar
from core.store.writer import Writer

_log = logging.getLogger("session")

ENTRIES_AT_ONCE = 200
"""Journal entries that one transaction takes in."""


async def mend_log(writer: Writer, home: Home) -> None:
    """Before anybody connects: a log that was replaced gets an epoch of its own and what the journals here hold."""
    replaced = await writer.do(lambda conn: was_replaced(conn, home))
    await writer.do(lambda conn: recall_sessions(conn, home))
    await writer.do(lambda conn: find_out(conn, home))
    if replaced:
        await recall_entries(writer, home)
    await writer.do(lambda conn: write_mark(conn, home))


def recall_sessions(conn: Connection, home: Home) -> list[str]:
    """Make those sessions again as their journals tell; their runners then send all that the log lacks.

    Without this, guidance that a client sends again would be refused where another client made the session.
    """
    recalled = []
    deleted = {stone.session for stone in tombstones.unfinished(conn)}  # what is left of these goes soon
    for folder in sorted(home.sessions.iterdir()):
        if folder.name in deleted:
            continue
        if log.head(conn, folder.name) or (created := _created(folder / "journal.db")) is None:
            continue
        log.create(conn, folder.name)
        for fact in created:
            write(conn, folder.name, fact, SERVER)
        take_early(conn, folder.name)
        recalled.append(folder.name)
    if recalled:
        _log.warning("the log did not know %s; the journals did", ", ".join(recalled))
    return recalled


def _created(journal: Path) -> tuple[Fact, ...] | None:
    """The session's first events as its runner saw them: what it is, and what it branched from."""
    if not journal.is_file():
        return None
    try:
        with closing(connect(journal, readonly=True)) as conn:
            created = scalar(conn, "SELECT value FROM slot WHERE key = 'created'")
            branched = scalar(conn, "SELECT value FROM slot WHERE key = 'branched'")
        if created is None:
            return None
        facts: tuple[Fact, ...] = (msgspec.json.decode(created, type=SessionCreated),)
        return facts if branched is None else (*facts, msgspec.json.decode(branched, type=Branched))
    except (ReportableError, driver.Error, msgspec.DecodeError) as error:
        _log.warning("%s cannot be read: %s", journal, error)
        return None


async def recall_entries(writer: Writer, home: Home) -> int:
    """Take in what the journals hold beyond a log that was replaced, before anybody connects; gives how many entries.

    Without this, a verdict that a client sends again would be refused (`no_step`) until the runner sent the step
    again, and where the session is over there is no runner.
    """
    recalled = 0
    for folder in sorted(home.sessions.iterdir()):
        while more := await writer.do(partial(_recall_some, folder=folder)):
            recalled += more
    if recalled:
        _log.warning("the log lacked %d entries of the journals here; it has them again", recalled)
    return recalled


def _recall_some(conn: Connection, folder: Path) -> int:
    """The next entries of one journal; 0 when there are none, or the journal is not the session's."""
    path, session = folder / "journal.db", folder.name
    position = conn.execute("SELECT journal, journal_next FROM session WHERE id = ?", (session,)).fetchone()
    if position is None or not path.is_file():
        return 0
    held = _read(path, *position)
    if not held.bodies:
        return 0
    conn.execute("SAVEPOINT recall")
    try:
        for name in blobs.missing(conn, held.payloads):
            blobs.put_compressed(conn, name, held.payloads[name])
        fence, first = log.lease(conn, session, held.journal)
        raw = tuple(msgspec.Raw(body) for body in held.bodies)
        append_entries(conn, Append(session=session, fence=fence, first=first, bodies=raw), by_agent=True)
    except (ReportableError, MissingPayloads) as error:
        conn.execute("ROLLBACK TO recall")
        _log.warning("entries of %s cannot be taken in: %s", path, error)
        return 0
    finally:
        conn.execute("RELEASE recall")
    return len(held.bodies)


class _Held(msgspec.Struct, frozen=True):
    """What a journal holds beyond the log: its identity, entries, and the payloads that they name."""

    journal: str = ""
    bodies: tuple[bytes, ...] = ()
    payloads: dict[str, bytes] = {}


def _read(path: Path, journal: str, first: int) -> _Held:
    """The next entries, if the log's come from this journal or from none."""
    try:
        with closing(connect(path, readonly=True)) as conn:
            stored = scalar(conn, "SELECT value FROM slot WHERE key = 'journal'")
            identity = msgspec.json.decode(stored, type=str) if stored else ""
            if not identity or journal not in ("", identity):
                return _Held()
            sql = "SELECT body FROM entry WHERE n >= ? ORDER BY n LIMIT ?"
            bodies = tuple(bytes(body) for (body,) in conn.execute(sql, (first, ENTRIES_AT_ONCE)))
            named = {name for body in bodies for name in blobs_of(decode_event(body).fact)}
            data = {name: scalar(conn, "SELECT data FROM blob WHERE hash = ?", name) for name in named}
            return _Held(identity, bodies, {name: bytes(d) for name, d in data.items() if d is not None})
    except (ReportableError, driver.Error, msgspec.DecodeError) as error:
        _log.warning("%s cannot be read: %s", path, error)
        return _Held()
