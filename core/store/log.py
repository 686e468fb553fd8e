"""The log: events of sessions in their order, and the row that sums each session up.

Every function takes a connection; those that write expect to be inside a transaction (`Writer.do`).
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

import msgspec

from core.domain import events as e
from core.domain.errors import Conflict, NotFound
from core.domain.session import SessionRow, advance, decode_row
from core.store import judged, loose_blobs, queues
from core.store.sqlite import Connection, scalar

_CHUNK = 2048
_GUIDANCE_OF = "substr(body, instr(body, CAST('\"guidance\":\"' AS BLOB)) + 12, 120)"


def _tags_below(general: type[e.Fact]) -> str:
    """The kinds of fact below a class, as SQL's list."""
    return f"({', '.join(repr(kind.__struct_config__.tag) for kind in e.kinds_of(general))})"


_GUIDANCE_KINDS = _tags_below(e.GuidanceFact)
_OF_PERSON = f"kind IN {_tags_below(e.OpinionFact)} AND instr(body, CAST('\"kind\":\"person\"' AS BLOB))"
"""As the indexes `event_of_guidance` and `event_of_person` have them (`core.store.schema`): with other words or in
another order they would not be used, so a new kind needs a migration that makes the index anew."""


def epoch(conn: Connection) -> str:
    """The identity of this file: another one after it was replaced or restored."""
    return str(scalar(conn, "SELECT value FROM meta WHERE key = 'epoch'"))


def create(conn: Connection, session: str) -> bool:
    """Make an empty session; False when it exists already."""
    row = msgspec.json.encode(SessionRow(session=session)).decode()
    sql = "INSERT OR IGNORE INTO session (id, row, came_at) VALUES (?, ?, ?)"
    return conn.execute(sql, (session, row, int(time.time()))).rowcount > 0


def came_at(conn: Connection, session: str) -> float:
    """Since when this file has the session, in seconds since 1970; 0 for one that it has not."""
    return float(scalar(conn, "SELECT came_at FROM session WHERE id = ?", session) or 0)


def knows(conn: Connection, session: str) -> bool:
    """Whether there is a session of that id, be it empty."""
    return scalar(conn, "SELECT 1 FROM session WHERE id = ?", session) is not None


def count_below(conn: Connection, beginning: str) -> int:
    """How many sessions have ids of this beginning and a dot."""
    sql = "SELECT count(*) FROM session WHERE id >= ? AND id < ?"
    return int(scalar(conn, sql, f"{beginning}.", f"{beginning}/") or 0)


def head(conn: Connection, session: str) -> int:
    """The seq of the newest event that is held; 0 for an empty or unknown session."""
    return scalar(conn, "SELECT head FROM session WHERE id = ?", session) or 0


def row(conn: Connection, session: str) -> SessionRow:
    """The session's row. Raises NotFound."""
    found = scalar(conn, "SELECT row FROM session WHERE id = ?", session)
    if found is None:
        raise _unknown(session)
    return decode_row(found, session)


def rows(conn: Connection, *, awaited: bool = False) -> list[SessionRow]:
    """The rows of all sessions, oldest first; an import that is not whole yet has none. `awaited`: instead of those
    that people spoke of and that nobody has made.

    A row that cannot be read says so (`SessionRow.unreadable`), so that the others are seen.
    """
    found = (decode_row(text, name) for name, text in conn.execute("SELECT id, row FROM session ORDER BY id"))
    return [row for row in found if (row.is_awaited if awaited else not row.is_hidden)]


def put_row(conn: Connection, fresh: SessionRow) -> bool:
    """Take a row that the server sent; False when what is held is as new. Creates the session."""
    create(conn, fresh.session)
    held = row(conn, fresh.session)
    if held.seq > fresh.seq or held == fresh:
        return False
    _save_row(conn, fresh)
    return True


def append(conn: Connection, session: str, bodies: Sequence[bytes], events: Sequence[e.Event] = ()) -> int:
    """Give events their places at the end of a session; returns the new head. `events` are the bodies decoded, where
    the caller has them.

    Raises NotFound for an unknown session, InvalidInput where a body is no event (then nothing may be kept).
    """
    held, row, digest = _state(conn, session)
    return _insert(conn, row, held, digest, bodies, events or map(e.decode_event, bodies), _summed)


def place(conn: Connection, session: str, first: int, bodies: Sequence[bytes]) -> int:
    """Take events first, first+1, … of the server's log into a copy; returns the new head.

    Those already held are skipped; one that cannot be read here is held all the same. Raises Conflict (seq_gap, with
    `expect`) when some before `first` are missing.
    """
    create(conn, session)
    held, row, digest = _state(conn, session)
    if first > held + 1:
        raise Conflict("seq_gap", f"Event {first} of session {session} follows {held}.", expect=held + 1)
    fresh = bodies[held + 1 - first :]
    return _insert(conn, row, held, digest, fresh, map(e.decode_stored, fresh), lambda _, row, __: row)


def read(conn: Connection, session: str, after: int = 0, limit: int = 256, max_bytes: int = 512 * 1024
         ) -> list[e.Placed]:
    """The events after `after`, in order: at most `limit`, and as many as fit `max_bytes` (at least one)."""
    found: list[e.Placed] = []
    size = 0
    sql = "SELECT seq, body FROM event WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?"
    for seq, body in conn.execute(sql, (session, after, limit)):
        size += len(body)
        if found and size > max_bytes:
            break
        found.append(e.Placed(session=session, seq=seq, body=body))
    return found


def bodies(conn: Connection, session: str, seqs: Sequence[int]) -> dict[int, bytes]:
    """The bodies of these events, by seq; those that are not held are missing."""
    marks = ",".join("?" * len(seqs))
    sql = f"SELECT seq, body FROM event WHERE session = ? AND seq IN ({marks})"
    return dict(conn.execute(sql, (session, *seqs)).fetchall())


def read_all(conn: Connection, session: str, upto: int | None = None, after: int = 0) -> Iterator[e.Placed]:
    """All events beyond `after` up to a seq (the head at the time of the call). Keeps no read transaction open in
    between."""
    last = head(conn, session) if upto is None else upto
    while after < last:
        sql = "SELECT seq, body FROM event WHERE session = ? AND seq > ? AND seq <= ? ORDER BY seq LIMIT ?"
        chunk = conn.execute(sql, (session, after, last, _CHUNK)).fetchall()
        for seq, body in chunk:
            yield e.Placed(session=session, seq=seq, body=body)
        after = chunk[-1][0] if chunk else last


def about_guidance(conn: Connection, session: str, guidance: str | None = None) -> list[bytes]:
    """The bodies of all events about one guidance, or any, in order; found by an index, however long the log is."""
    held = "" if guidance is None else f"AND {_GUIDANCE_OF} >= ?2 AND {_GUIDANCE_OF} < ?3"
    sql = ("SELECT body FROM event INDEXED BY event_of_guidance "
           f"WHERE session = ?1 AND kind IN {_GUIDANCE_KINDS} {held} ORDER BY seq")
    values = (session,) if guidance is None else (session, f'{guidance}"'.encode(), f"{guidance}#".encode())
    return [bytes(body) for (body,) in conn.execute(sql, values)]


def guidance_changes(conn: Connection, session: str) -> list[bytes]:
    """The bodies of all events that ask to change a guidance, in order: few, however much guidance there is."""
    sql = ("SELECT body FROM event INDEXED BY event_of_guidance "
           f"WHERE session = ?1 AND kind IN {_GUIDANCE_KINDS} AND kind = ?2 ORDER BY seq")
    tag = e.GuidanceChangeAsked.__struct_config__.tag
    return [bytes(body) for (body,) in conn.execute(sql, (session, tag))]


def with_guidance(conn: Connection) -> list[str]:
    """The sessions of which the log says something about guidance."""
    sql = f"SELECT DISTINCT session FROM event INDEXED BY event_of_guidance WHERE kind IN {_GUIDANCE_KINDS}"
    return [name for (name,) in conn.execute(sql)]


def last_state(conn: Connection, session: str) -> e.Event:
    """The newest event that told the session's state; there is one."""
    sql = ("SELECT body FROM event INDEXED BY event_of_state WHERE session = ? AND kind = 'session_state' "
           "ORDER BY seq DESC LIMIT 1")
    return e.decode_event(scalar(conn, sql, session))


def with_opinions(conn: Connection) -> list[str]:
    """The sessions of which people said something (verdicts, notes, tags), the newest first."""
    sql = f"SELECT DISTINCT session FROM event WHERE {_OF_PERSON} ORDER BY session DESC"
    return [name for (name,) in conn.execute(sql)]


def opinions(conn: Connection, session: str) -> list[bytes]:
    """The bodies of the events in which people said something of a session's steps, in order."""
    sql = f"SELECT body FROM event WHERE session = ? AND {_OF_PERSON} ORDER BY seq"
    return [bytes(b) for (b,) in conn.execute(sql, (session,)) if e.decode_stored(bytes(b)).author.kind == "person"]


def tellings(conn: Connection, session: str, number: int) -> list[e.StepAdded]:
    """A step as it was told, and told again, the newest last; [] where it is not here."""
    sql = ("SELECT body FROM event INDEXED BY event_of_step WHERE session = ? AND kind = 'step_added' AND step = ? "
           "ORDER BY seq")
    facts = [e.decode_stored(bytes(body)).fact for (body,) in conn.execute(sql, (session, number))]
    return [fact for fact in facts if isinstance(fact, e.StepAdded)]


def submissions(conn: Connection, session: str) -> list[int]:
    """The numbers of what a session handed in."""
    sql = "SELECT body FROM event WHERE session = ? AND kind = 'submission_made' ORDER BY seq"
    facts = [e.decode_stored(bytes(body)).fact for (body,) in conn.execute(sql, (session,))]
    return [fact.ordinal for fact in facts if isinstance(fact, e.SubmissionMade)]


def snapshots(conn: Connection, session: str) -> list[e.SnapshotTaken]:
    """The snapshots that a session's log tells of, in order."""
    facts = [e.decode_stored(one.body).fact for one in about_snapshots(conn, session)]
    return [fact for fact in facts if isinstance(fact, e.SnapshotTaken)]


def about_snapshots(conn: Connection, session: str, after: int = 0) -> list[e.Placed]:
    """The events after `after` that tell of a snapshot, or of one that could not be taken, in order."""
    sql = ("SELECT seq, body FROM event WHERE session = ? AND seq > ? "
           "AND kind IN ('snapshot_taken', 'snapshot_failed') ORDER BY seq")
    return [e.Placed(session=session, seq=seq, body=bytes(body)) for seq, body in conn.execute(sql, (session, after))]


def from_runner(conn: Connection, session: str) -> list[bytes]:
    """The bodies of the events that a session's runner wrote, in order: the entries of its journal."""
    found = ((one.body, e.decode_stored(one.body).author) for one in read_all(conn, session))
    return [body for body, author in found if (author.kind, author.name) == ("agent", session)]


def lease(conn: Connection, session: str, journal: str) -> tuple[int, int]:
    """Hand the session to a new runner: (fence, the first journal entry that is not held here).

    Raises NotFound. An earlier runner's fence is void from now on.
    """
    sql = """UPDATE session SET fence = fence + 1, journal = ?1,
             journal_next = CASE WHEN journal = ?1 THEN journal_next ELSE 1 END
             WHERE id = ?2 RETURNING fence, journal_next"""
    rows = conn.execute(sql, (journal, session)).fetchall()
    if not rows:
        raise _unknown(session)
    return rows[0][0], rows[0][1]


def journal(conn: Connection, session: str) -> str:
    """The journal of the runner that holds the session; "" while none came."""
    return str(scalar(conn, "SELECT journal FROM session WHERE id = ?", session) or "")


def append_journal(conn: Connection, session: str, fence: int, first: int, bodies: Sequence[bytes],
                   events: Sequence[e.Event] = ()) -> int:
    """Append entries first, first+1, … of the runner's journal; returns the last entry that is held. `events` are the
    bodies decoded, where the caller has them.

    Repeats are skipped. Raises Conflict: `fenced` when a newer runner holds the session, `journal_gap` (with
    `expect`) when entries before `first` are missing.
    """
    sql = "SELECT fence, journal_next FROM session WHERE id = ?"
    row = conn.execute(sql, (session,)).fetchone()
    if row is None:
        raise _unknown(session)
    if row[0] != fence:
        raise Conflict("fenced", f"Another runner holds session {session}.", fence=row[0])
    if first > row[1]:
        raise Conflict("journal_gap", f"Journal entry {first} of session {session} follows {row[1] - 1}.",
                       expect=row[1])
    fresh = bodies[row[1] - first :]
    if fresh:
        append(conn, session, fresh, events[row[1] - first :])
        conn.execute("UPDATE session SET journal_next = ? WHERE id = ?", (row[1] + len(fresh), session))
    return int(row[1]) + len(fresh) - 1


def _insert(conn: Connection, row: SessionRow, held: int, digest: bytes, bodies: Sequence[bytes],
            decoded: Iterable[e.Event], summed: Callable[[Connection, SessionRow, list[e.Event]], SessionRow]
            ) -> int:
    if not bodies:
        return held
    values = []
    events = []
    for seq, (body, event) in enumerate(zip(bodies, decoded, strict=True), held + 1):
        events.append(event)
        values.append((row.session, seq, *_labels(event), body))
        if seq == row.seq + 1:  # a copy's row may be ahead of the events that it holds
            row = advance(row, seq, event)
    conn.executemany("INSERT INTO event (session, seq, kind, step, body) VALUES (?, ?, ?, ?, ?)", values)
    loose_blobs.named(conn, bodies)
    text = msgspec.json.encode(summed(conn, row, events)).decode()
    sql = "UPDATE session SET row = ?, head = ?, digest = ? WHERE id = ?"
    conn.execute(sql, (text, held + len(bodies), chained(digest, bodies), row.session))
    return held + len(bodies)


def chained(digest: bytes, bodies: Iterable[bytes]) -> bytes:
    """The digest of a session's events (b"" for none) with these after them: BLAKE2b-128 of the digest before and the
    next body, one after another, so that no event can be changed, dropped or moved without it."""
    for body in bodies:
        made = hashlib.blake2b(digest, digest_size=16)
        made.update(body)
        digest = made.digest()
    return digest


def _summed(conn: Connection, row: SessionRow, events: list[e.Event]) -> SessionRow:
    """The row with what people judged by now, of which their queues are told. A copy gets both from its server."""
    now = judged.follow(conn, row, events)
    if now.judged != row.judged:
        queues.follow(conn, now)
    return now


def count_judged(conn: Connection, session: str) -> None:
    """Make the sum of what people said of a session, of which an older program kept none."""
    counted = judged.count(conn, row(conn, session))
    _save_row(conn, counted)
    queues.follow(conn, counted)


def _labels(event: e.Event) -> tuple[str, int | None]:
    """An event's kind and the step that it is about."""
    match event.fact:
        case e.UnknownFact() as f:
            return f.kind, None
        case e.StepAdded() as f:
            return "step_added", f.head.number
        case e.StepStarted() as f:
            return "step_started", f.number
        case f:
            return str(f.__struct_config__.tag), getattr(f, "step", None)


def _state(conn: Connection, session: str) -> tuple[int, SessionRow, bytes]:
    """The head, the row and the digest of the events."""
    row = conn.execute("SELECT head, row, digest FROM session WHERE id = ?", (session,)).fetchone()
    if row is None:
        raise _unknown(session)
    return row[0], decode_row(row[1], session), row[2]


def _save_row(conn: Connection, row: SessionRow) -> None:
    conn.execute("UPDATE session SET row = ? WHERE id = ?", (msgspec.json.encode(row).decode(), row.session))


def _unknown(session: str) -> NotFound:
    return NotFound("no_session", f"There is no session {session}.", session=session)
