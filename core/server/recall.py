"""What the log does not know and the runners' journals here do: the log was replaced by a backup."""

import logging
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from core.agents.subagent import SUBAGENTS, SubagentCall
from core.domain.errors import ReportableError
from core.domain.events import Branched, Fact, SessionCreated, blobs_of, decode_event
from core.protocol.messages import Append
from core.server.append import MissingPayloads, append_entries
from core.server.called import call_subagent
from core.server.high_water import find_out, was_replaced, write_mark
from core.server.lifecycle import take_early
from core.server.record import SERVER, write
from core.store import blobs, log, tombstones
from core.store.home import Home
from core.store.sqlite import Connection, connect, driver, scalar
from core.store.writer import Writer

T = TypeVar("T")
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
        if not log.head(conn, folder.name) and (created := _created(folder / "journal.db")) is not None:
            log.create(conn, folder.name)
            for fact in created:
                write(conn, folder.name, fact, SERVER)
            take_early(conn, folder.name)
            recalled.append(folder.name)
        if log.head(conn, folder.name):
            recalled += _recall_subagents(conn, folder)
    if recalled:
        _log.warning("the log did not know %s; the journals did", ", ".join(recalled))
    return recalled


def _recall_subagents(conn: Connection, folder: Path) -> list[str]:
    """Make the sessions of a session's subagents again; of those that are over no runner would tell any more."""
    recalled = []
    for call, path in _calls(folder):
        if path.is_file() and not log.head(conn, call.session) and not tombstones.is_deleted(conn, call.session):
            try:
                call_subagent(conn, call.session, call.op)
            except ReportableError as error:
                _log.warning("%s cannot be made again: %s", call.session, error)
                continue
            take_early(conn, call.session)
            recalled.append(call.session)
    return recalled


def _calls(folder: Path) -> list[tuple[SubagentCall, Path]]:
    """The subagents that a session's journal tells of, and where their journals are."""
    calls = _slot(folder / "journal.db", "subagents", tuple[SubagentCall, ...]) or ()
    return [(call, folder / SUBAGENTS / f"{call.line}.db") for call in calls]


def _slot(journal: Path, name: str, kind: type[T]) -> T | None:
    if not journal.is_file():
        return None
    try:
        with closing(connect(journal, readonly=True)) as conn:
            value = scalar(conn, "SELECT value FROM slot WHERE key = ?", name)
        return None if value is None else msgspec.json.decode(value, type=kind)
    except (ReportableError, driver.Error, msgspec.DecodeError) as error:
        _log.warning("%s cannot be read: %s", journal, error)
        return None


def _created(journal: Path) -> tuple[Fact, ...] | None:
    """The session's first events as its runner saw them: what it is, and what it branched from."""
    created, branched = _slot(journal, "created", SessionCreated), _slot(journal, "branched", Branched)
    return None if created is None else (created,) if branched is None else (created, branched)


async def recall_entries(writer: Writer, home: Home) -> int:
    """Take in what the journals hold beyond a log that was replaced, before anybody connects; gives how many entries.

    Without this, a verdict that a client sends again would be refused (`no_step`) until the runner sent the step
    again, and where the session is over there is no runner.
    """
    recalled = 0
    for folder in sorted(home.sessions.iterdir()):
        own = [(folder.name, folder / "journal.db"), *((call.session, path) for call, path in _calls(folder))]
        for session, path in own:
            while more := await writer.do(partial(_recall_some, session=session, path=path)):
                recalled += more
    if recalled:
        _log.warning("the log lacked %d entries of the journals here; it has them again", recalled)
    return recalled


def _recall_some(conn: Connection, session: str, path: Path) -> int:
    """The next entries of one journal; 0 when there are none, or the journal is not the session's."""
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
