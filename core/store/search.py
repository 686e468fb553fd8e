"""The search index: full text of thoughts, actions, outputs, guidance, summaries and notes, in its own file.

Derived from logs and replicas, so it may be deleted at any time. It follows each session by a cursor that moves
in the transaction that indexes; a step whose body is not held yet is indexed by its title, and again on arrival.
"""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic

import msgspec

from core.domain.bounds import NAME
from core.domain.errors import LimitReached, NotFound, ProtocolMismatch, ReportableError, Unavailable
from core.domain.events import GuidanceEdited, GuidanceQueued, NoteAdded, Placed, StepAdded, SummaryAdded, decode_stored
from core.domain.hit import Hit, Where
from core.domain.step import StepBody, decode_body
from core.store import blobs, log
from core.store.migrations import Migrations
from core.store.schema import open_migrated
from core.store.search_text import MAX_QUERY, head_and_tail, match_query, pieces, snippet, spaced
from core.store.sqlite import INTERRUPTED, Connection, connect, driver, scalar, transaction

MAX_TEXT = 64 * 1024
"""Characters of one text that are indexed: its head and its tail."""
_CHUNK = 500
_LOOK_EVERY = 10_000
"""Instructions of SQLite's machine between two looks at the clock."""

migrations = Migrations("search")

migrations.script("m0001_search", """
CREATE TABLE cursor (session TEXT PRIMARY KEY, seq INTEGER NOT NULL, body BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entry (
  id INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  seq INTEGER NOT NULL,
  step INTEGER,
  place TEXT NOT NULL,
  ref TEXT NOT NULL,
  text BLOB NOT NULL
) STRICT;
CREATE INDEX entry_session ON entry (session, seq);
CREATE TABLE waiting (session TEXT, seq INTEGER, hash TEXT NOT NULL, PRIMARY KEY (session, seq)) STRICT, WITHOUT ROWID;
CREATE VIRTUAL TABLE word USING fts5(text, content='', tokenize='unicode61 remove_diacritics 2');
""")


class HitPlaces(msgspec.Struct, frozen=True, kw_only=True):
    """Steps by number, and what is no step by kind and id."""

    steps: set[int]
    others: set[tuple[str, str]]


class _Entry(msgspec.Struct, frozen=True):
    step: int | None
    where: Where
    ref: str
    text: str


class SearchIndex:
    """One index file. `update` and `search` may run in different threads at the same time."""

    def __init__(self, path: Path | str) -> None:
        """Open the index; a damaged one, or one of a newer program, is begun anew."""
        self.path = Path(path)
        try:
            self._conn = self._open()
        except (Unavailable, ProtocolMismatch):
            for suffix in ("", "-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._conn = self._open()
        self._reader = connect(self.path, readonly=True)
        self._updating, self._reading = threading.Lock(), threading.Lock()

    def close(self) -> None:
        """Close the file."""
        with self._updating, self._reading:
            self._reader.close()
            self._conn.close()

    def update(self, log_path: Path | str) -> int:
        """Index what is new in a log or replica; returns how many events were looked at."""
        with closing(connect(log_path, readonly=True)) as source, self._updating:
            followed = dict(self._conn.execute("SELECT session, seq FROM cursor").fetchall())
            heads = _heads(source)
            self._forget_gone(source, followed)
            new = sum(self._follow(source, session) for session, head in heads if head != followed.get(session, 0))
            self._revisit(source)
            return new

    def prune(self, log_path: Path | str) -> None:
        """Forget the sessions that a log or replica does not have any more."""
        with closing(connect(log_path, readonly=True)) as source, self._updating:
            self._forget_gone(source, dict(self._conn.execute("SELECT session, seq FROM cursor").fetchall()))

    def behind(self, log_path: Path | str) -> int:
        """How many events of a log or replica are not in the index yet."""
        with closing(connect(log_path, readonly=True)) as source:
            with self._reading:
                followed = dict(self._reader.execute("SELECT session, seq FROM cursor").fetchall())
            return sum(max(0, head - followed.get(session, 0)) for session, head in _heads(source))

    def search(self, words: str, session: str | None = None, limit: int = 50, seconds: float | None = None
               ) -> list[Hit]:
        """Where all the words are found, newest first; any text is taken for words, never for syntax.

        Raises LimitReached (search_too_long) where it takes more than `seconds`.
        """
        phrases = pieces(words)
        if not phrases:
            return []
        sql = """SELECT session, seq, step, place, ref, entry.text FROM word JOIN entry ON entry.id = word.rowid
                 WHERE word MATCH ?1 AND (?2 IS NULL OR session = ?2) ORDER BY word.rowid DESC LIMIT ?3"""
        with self._reading, self._within(seconds):
            found = self._reader.execute(sql, (match_query(phrases), session, limit)).fetchall()
        return [_hit(row, phrases) for row in found]

    def places(self, words: str, session: str) -> HitPlaces:
        """Where in one session all the words are found, without the texts; empty for a session not indexed yet."""
        phrases = pieces(words)
        if not phrases:
            return HitPlaces(steps=set(), others=set())
        sql = """SELECT json_group_array(step) FILTER (WHERE step NOTNULL AND place NOT IN ('summary', 'guidance')),
                        json_group_array(json_array(place, ref)) FILTER (WHERE place IN ('summary', 'guidance'))
                 FROM word JOIN entry ON entry.id = word.rowid WHERE word MATCH ?1 AND session = ?2"""
        with self._reading:  # one row: Python takes longer for 40,000 rows than SQLite for finding them
            steps, others = self._reader.execute(sql, (match_query(phrases), session)).fetchone()
        return HitPlaces(steps=set(msgspec.json.decode(steps)),
                      others={(place, ref) for place, ref in msgspec.json.decode(others)})

    def scan(self, text: str, session: str | None = None, limit: int = 50, seconds: float | None = None) -> list[Hit]:
        """Where this very text stands, in either case, also inside words; newest first. Reads everything: 0.5 s per
        100,000 steps, so it is for a worker. After `seconds` it ends with what it has found."""
        wanted = text[:MAX_QUERY].casefold()
        found: list[Hit] = []
        if not wanted:
            return found
        end = monotonic() + seconds if seconds is not None else None
        sql = """SELECT session, seq, step, place, ref, text FROM entry WHERE ?1 IS NULL OR session = ?1
                 ORDER BY id DESC"""
        with self._reading:
            for row in self._reader.execute(sql, (session,)):
                if wanted in blobs.decompress(row[5]).decode().casefold():
                    found.append(_hit(row, [], text[:MAX_QUERY]))
                if len(found) == limit or (end is not None and monotonic() > end):
                    break
        return found

    @contextmanager
    def _within(self, seconds: float | None) -> Iterator[None]:
        """Reading that ends when its time is over."""
        if seconds is None:
            yield
            return
        end = monotonic() + seconds
        self._reader.set_progress_handler(lambda: monotonic() > end, _LOOK_EVERY)
        try:
            yield
        except driver.OperationalError as error:
            if getattr(error, "sqlite_errorcode", 0) != INTERRUPTED:
                raise
            raise LimitReached("search_too_long", f"The search took longer than {seconds:g} s.") from None
        finally:
            self._reader.set_progress_handler(None, 0)

    def _open(self) -> Connection:
        try:
            return open_migrated(self.path, migrations, durable=False)
        except driver.DatabaseError as error:
            raise Unavailable("store_unavailable", f"{self.path} is damaged: {error}", path=str(self.path)) from error

    def _follow(self, source: Connection, session: str) -> int:
        cursor = self._conn.execute("SELECT seq, body FROM cursor WHERE session = ?", (session,)).fetchone()
        after, body = cursor or (0, b"")
        if after and ([one.body for one in log.read(source, session, after - 1, 1)] != [body]):
            self._forget(session)  # restored from a backup and gone another way, or deleted and imported anew
            after = 0
        begun = after
        while chunk := log.read(source, session, after, _CHUNK, max_bytes=1 << 24):
            after = self._index_chunk(source, session, after, chunk)
        return after - begun

    def _index_chunk(self, source: Connection, session: str, after: int, chunk: list[Placed]) -> int:
        with transaction(self._conn):
            cursor = scalar(self._conn, "SELECT seq FROM cursor WHERE session = ?", session) or 0
            if cursor != after:  # another process indexed it meanwhile
                return int(cursor)
            for placed in chunk:
                self._index(source, placed)
            last = chunk[-1]
            self._conn.execute("INSERT OR REPLACE INTO cursor VALUES (?, ?, ?)", (session, last.seq, last.body))
        return last.seq

    def _index(self, source: Connection, placed: Placed) -> None:
        event = decode_stored(placed.body)
        fact = event.fact
        if isinstance(fact, StepAdded):
            body = _held_body(source, fact.body)
            if body is None:
                self._conn.execute("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?)",
                                   (placed.session, placed.seq, fact.body))
                self._add(placed.session, placed.seq, _Entry(fact.head.number, "title", "", fact.head.title))
            for entry in _body_entries(body) if body else ():
                self._add(placed.session, placed.seq, entry)
        elif other := _entry(fact, event.author.key[:NAME]):
            self._add(placed.session, placed.seq, other)

    def _revisit(self, source: Connection) -> None:
        """Index the bodies that were waited for and have arrived."""
        waiting = self._conn.execute("SELECT session, seq, hash FROM waiting").fetchall()
        arrived = [one for one in waiting if blobs.holds(source, one[2])]
        if not arrived:
            return
        with transaction(self._conn):
            for session, seq, name in arrived:
                if (body := _held_body(source, name)) is not None:
                    self._drop(session, seq)
                    for entry in _body_entries(body):
                        self._add(session, seq, entry)
                    self._conn.execute("DELETE FROM waiting WHERE session = ? AND seq = ?", (session, seq))

    def _add(self, session: str, seq: int, entry: _Entry) -> None:
        text = head_and_tail(entry.text, MAX_TEXT).encode("utf-8", "replace")
        if not text.strip():
            return
        sql = "INSERT INTO entry (session, seq, step, place, ref, text) VALUES (?, ?, ?, ?, ?, ?)"
        made = self._conn.execute(sql, (session, seq, entry.step, entry.where, entry.ref, blobs.compress(text)))
        self._conn.execute("INSERT INTO word (rowid, text) VALUES (?, ?)", (made.lastrowid, spaced(text.decode())))

    def _forget_gone(self, source: Connection, followed: dict[str, int]) -> None:
        for session in followed:
            if not log.knows(source, session):
                self._forget(session)

    def _forget(self, session: str) -> None:
        self._conn.execute("PRAGMA secure_delete=ON").fetchall()
        with transaction(self._conn):
            self._drop(session, None)
            self._conn.execute("DELETE FROM waiting WHERE session = ?", (session,))
            self._conn.execute("DELETE FROM cursor WHERE session = ?", (session,))

    def _drop(self, session: str, seq: int | None) -> None:
        """Take entries out; a contentless index must be told the text that it held."""
        sql = "SELECT id, text FROM entry WHERE session = ?1 AND (?2 IS NULL OR seq = ?2)"
        for id_, text in self._conn.execute(sql, (session, seq)).fetchall():
            held = spaced(blobs.decompress(text).decode())
            self._conn.execute("INSERT INTO word (word, rowid, text) VALUES ('delete', ?, ?)", (id_, held))
            self._conn.execute("DELETE FROM entry WHERE id = ?", (id_,))


def _heads(source: Connection) -> list[tuple[str, int]]:
    return [(row.session, log.head(source, row.session)) for row in log.rows(source)]


def _hit(row: tuple[str, int, int | None, Where, str, bytes], phrases: list[list[str]], exact: str = "") -> Hit:
    session, seq, step, where, ref, text = row
    part, matches = snippet(blobs.decompress(text).decode(), phrases, exact)
    return Hit(session=session, seq=seq, step=step, where=where, ref=ref, snippet=part, matches=matches)


def _held_body(source: Connection, name: str) -> StepBody | None:
    try:
        return decode_body(blobs.get(source, name))
    except NotFound:
        return None
    except (ReportableError, msgspec.MsgspecError, RecursionError):
        return StepBody(number=0)  # damaged: nothing to find in it, and nothing to wait for


def _entry(fact: object, author: str) -> _Entry | None:
    match fact:
        case SummaryAdded() as f:
            return _Entry(f.last, "summary", f.id, f.text)
        case GuidanceQueued() | GuidanceEdited() as f:
            return _Entry(None, "guidance", f.guidance, f.text)
        case NoteAdded() as f:
            return _Entry(f.step or None, "note", author, f.text)
    return None


def _body_entries(body: StepBody) -> Iterator[_Entry]:
    yield _Entry(body.number, "thought", "", body.thought)
    for action in body.actions:
        arguments = (str(value) for value in action.arguments.values())
        yield _Entry(body.number, "action", action.call_id, "\n".join([action.tool, *arguments]))
    for seen in body.observations:
        message = f"\n{seen.error.message}" if seen.error else ""
        yield _Entry(body.number, "output", seen.call_id, seen.output.text + message)
