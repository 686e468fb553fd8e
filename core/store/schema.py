"""The one schema of the server's log and of a client's replica, and how an older file becomes a newer one.

Migrations are never edited after a release and never import domain types. All pending ones are applied in one
transaction, after a backup of a file that existed before; a file of a newer program is refused.
"""

from __future__ import annotations

import hashlib
import logging
import secrets
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from core.domain.errors import InvalidInput, ProtocolMismatch
from core.store.backup import back_up
from core.store.migrations import Migrations, run_script
from core.store.sqlite import (
    PAGE,
    Connection,
    check_version,
    connect,
    connect_in_memory,
    own_checkpoints,
    scalar,
    transaction,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

_log = logging.getLogger("store")

migrations = Migrations("log")

_M0001 = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE session (
  id TEXT PRIMARY KEY,
  head INTEGER NOT NULL DEFAULT 0,          -- seq of the newest event that is held here
  row TEXT NOT NULL,                        -- JSON of core.domain.session.SessionRow
  fence INTEGER NOT NULL DEFAULT 0,         -- grows with every runner that takes the session over
  journal TEXT NOT NULL DEFAULT '',         -- the runner's journal that events come from
  journal_next INTEGER NOT NULL DEFAULT 1   -- the first entry of it that is not held here
) STRICT, WITHOUT ROWID;
CREATE TABLE event (
  session TEXT NOT NULL REFERENCES session(id),
  seq INTEGER NOT NULL CHECK (seq > 0),
  kind TEXT NOT NULL,
  step INTEGER,
  body BLOB NOT NULL,                       -- the bytes as their author made them
  PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER event_is_never_changed BEFORE UPDATE ON event
  BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
  BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TABLE blob (
  id INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),   -- BLAKE2b-256 of the raw bytes
  codec TEXT NOT NULL,
  size INTEGER NOT NULL,                                 -- of the raw bytes
  data BLOB NOT NULL
) STRICT;
CREATE TABLE sender (client TEXT PRIMARY KEY, cseq INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE command (
  id TEXT PRIMARY KEY,
  client TEXT NOT NULL,
  cseq INTEGER NOT NULL,
  body_hash BLOB NOT NULL,
  reply BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE outbox (
  cseq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  session TEXT NOT NULL,
  op BLOB NOT NULL,                         -- JSON of core.protocol.messages.AnyOp
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'acked', 'refused')),
  reply BLOB,
  created_at TEXT NOT NULL
) STRICT;
CREATE INDEX outbox_queued ON outbox (cseq) WHERE state = 'queued';
CREATE TABLE draft (session TEXT PRIMARY KEY, text TEXT NOT NULL, changed_at TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE account (
  name TEXT PRIMARY KEY,
  token_sha256 BLOB NOT NULL UNIQUE,
  scopes TEXT NOT NULL,                     -- JSON list
  created_at TEXT NOT NULL,
  revoked_at TEXT
) STRICT;
CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
"""


@migrations
def m0001_log(db: Database) -> None:
    """Everything of the first version."""
    run_script(db, _M0001)
    db.execute("INSERT INTO meta VALUES ('epoch', ?), ('client', ?)", [secrets.token_hex(16), secrets.token_hex(16)])


# What the log says about one guidance, and a session's last state, without reading the whole log. The first
# index begins with the guidance's id and the quotation mark after it. (json_extract would say it better,
# but SQLite before 3.41 takes it for unsafe where the schema is not trusted.)
migrations.script("m0002_guidance_index", """
CREATE INDEX event_of_guidance ON event (session, substr(body, instr(body, CAST('"guidance":"' AS BLOB)) + 12, 120))
  WHERE kind IN ('guidance_queued', 'guidance_change_asked', 'guidance_edited', 'guidance_withdrawn',
                 'guidance_change_refused', 'guidance_delivered', 'guidance_answered');
CREATE INDEX event_of_state ON event (session, seq) WHERE kind = 'session_state';
""")

# Which sessions people said something of, and what, without reading the whole log.
migrations.script("m0003_opinions_index", """
CREATE INDEX event_of_person ON event (session, seq)
  WHERE kind IN ('verdict_given', 'note_added', 'tag_set')
    AND instr(body, CAST('"kind":"person"' AS BLOB));
""")

# The rows of live sessions say when these end by themselves, as those of newer sessions do.
migrations.script("m0004_limits", """
UPDATE session SET row = json_set(row, '$.limits', json(coalesce(
  (SELECT json_extract(CAST(body AS TEXT), '$.fact.task.limits') FROM event
   WHERE event.session = session.id AND seq <= 100 AND kind = 'session_created'), '{}')))
  WHERE coalesce(json_extract(row, '$.origin'), 'live') = 'live'
    AND EXISTS (SELECT 1 FROM event WHERE event.session = session.id AND seq <= 100 AND kind = 'session_created');
""")

# Which account sent what: events, opinions that wait for their session, payloads that no event names yet.
migrations.script("m0005_attribution", """
CREATE TABLE attribution (                  -- whose token the events first … last of a session came with
  session TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  account TEXT NOT NULL,
  PRIMARY KEY (session, first)
) STRICT, WITHOUT ROWID;
CREATE TABLE early_opinion (                -- of people who may not make the session that it is about
  n INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  account TEXT NOT NULL,
  at INTEGER NOT NULL,                      -- seconds since 1970
  body BLOB NOT NULL
) STRICT;
CREATE INDEX early_opinion_of_session ON early_opinion (session, n);
CREATE INDEX early_opinion_of_account ON early_opinion (account);
CREATE TABLE unnamed_blob (                 -- payloads that came and that no event has named yet
  hash BLOB PRIMARY KEY,
  account TEXT NOT NULL,
  size INTEGER NOT NULL,                    -- as it rests
  at INTEGER NOT NULL                       -- seconds since 1970
) STRICT, WITHOUT ROWID;
CREATE INDEX unnamed_blob_of_account ON unnamed_blob (account, size);
""")

# Accounts that end by themselves and say when they were used; invitations, which open an account once.
migrations.script("m0006_invitations", """
ALTER TABLE account ADD COLUMN expires_at TEXT;
ALTER TABLE account ADD COLUMN last_login TEXT;
ALTER TABLE account ADD COLUMN last_address TEXT;
CREATE TABLE invitation (
  token_sha256 BLOB PRIMARY KEY,            -- of the token that opens it, once
  account TEXT NOT NULL,
  scopes TEXT NOT NULL,                     -- JSON list
  created_at TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  account_expires_at TEXT,                  -- when the account that it makes ends
  renews INTEGER NOT NULL,                  -- 1: the account is there, and gets another token
  used_at TEXT,
  given_sha256 BLOB                         -- of the token that it was exchanged for
) STRICT, WITHOUT ROWID;
CREATE INDEX invitation_of_account ON invitation (account);
""")

# How a step was told, without reading the labels of a whole session: every opinion asks.
migrations.script("m0007_step_index", """
CREATE INDEX event_of_step ON event (session, step, seq) WHERE kind = 'step_added';
""")

# Sessions can be deleted, and stay so; the log says since when it has each.
migrations.script("m0008_tombstones", """
CREATE TABLE tombstone (                    -- sessions that a person, or the settings, had deleted
  session TEXT PRIMARY KEY,
  mark TEXT NOT NULL,                       -- names the deletion: a copy of the session goes once for each
  account TEXT NOT NULL,                    -- who asked for it
  at TEXT NOT NULL,
  events INTEGER NOT NULL,                  -- how many were deleted under this id, ever
  was_live INTEGER NOT NULL,                -- whether there may be sandboxes
  is_back INTEGER NOT NULL DEFAULT 0,       -- it was imported again
  is_done INTEGER NOT NULL DEFAULT 0        -- what lay outside this file is gone too
) STRICT, WITHOUT ROWID;
CREATE TABLE loose_blob (hash BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;  -- of deleted sessions, perhaps others' too
ALTER TABLE session ADD COLUMN came_at INTEGER NOT NULL DEFAULT 0;      -- seconds since 1970
UPDATE session SET came_at = CAST(strftime('%s', 'now') AS INTEGER);
DROP TRIGGER event_is_never_deleted;
CREATE TRIGGER event_is_never_deleted BEFORE DELETE ON event
  WHEN NOT EXISTS (SELECT 1 FROM tombstone WHERE session = OLD.session AND is_back = 0)
  BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER deleted_session_stays_away BEFORE INSERT ON session
  WHEN EXISTS (SELECT 1 FROM tombstone WHERE session = NEW.id AND is_back = 0)
  BEGIN SELECT RAISE(ABORT, 'the session was deleted'); END;
""")

# The rows say when the agent's first step began and its last one ended, as those of newer sessions do.
migrations.script("m0009_agents_time", """
UPDATE session SET row = json_set(row,
  '$.began_at', (SELECT t FROM (SELECT coalesce(json_extract(CAST(body AS TEXT), '$.fact.head.started_at'),
                                                json_extract(CAST(body AS TEXT), '$.fact.head.ended_at')) AS t
                                FROM event WHERE event.session = session.id AND kind = 'step_added')
                 WHERE t IS NOT NULL ORDER BY julianday(t) LIMIT 1),
  '$.ended_at', (SELECT t FROM (SELECT coalesce(json_extract(CAST(body AS TEXT), '$.fact.head.ended_at'),
                                                json_extract(CAST(body AS TEXT), '$.fact.head.started_at')) AS t
                                FROM event WHERE event.session = session.id AND kind = 'step_added')
                 WHERE t IS NOT NULL ORDER BY julianday(t) DESC LIMIT 1))
  WHERE json_valid(row);
""")

# Review queues; what people say of each step, so that a session's progress is known without reading its log.
migrations.script("m0010_queues", """
CREATE INDEX event_of_verdict ON event (session, step, seq) WHERE kind = 'verdict_given';
CREATE TABLE judged_step (                  -- what each person, and all together (''), say of a step: the log's sum
  session TEXT NOT NULL,
  step INTEGER NOT NULL,
  person TEXT NOT NULL,                     -- an author's key
  judgement TEXT NOT NULL,
  is_error INTEGER NOT NULL,
  PRIMARY KEY (session, step, person)
) STRICT, WITHOUT ROWID;
CREATE TABLE uncounted (session TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;  -- judged before there was a sum
INSERT INTO uncounted SELECT DISTINCT session FROM event WHERE kind = 'verdict_given';
CREATE TABLE queue (
  id TEXT PRIMARY KEY,
  row TEXT NOT NULL,                        -- JSON of core.domain.queue.ReviewQueue
  revision INTEGER NOT NULL UNIQUE          -- grows with every change of any queue
) STRICT, WITHOUT ROWID;
CREATE TABLE queue_item (
  queue TEXT NOT NULL,
  session TEXT NOT NULL,
  row TEXT NOT NULL,                        -- JSON of core.domain.queue.QueueItem
  revision INTEGER NOT NULL UNIQUE,
  PRIMARY KEY (queue, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX queue_item_of_session ON queue_item (session);
""")

# Accounts of people whom the lab's own log-in knows; they may be logged in from several computers.
migrations.script("m0011_logins", """
ALTER TABLE account ADD COLUMN subject TEXT;  -- whose it is at the lab's log-in: the issuer, a space, its subject
CREATE UNIQUE INDEX account_of_subject ON account (subject) WHERE subject IS NOT NULL;
CREATE TABLE login (                        -- further tokens of an account, one for each log-in
  token_sha256 BLOB PRIMARY KEY,
  account TEXT NOT NULL,
  id_token_sha256 BLOB NOT NULL UNIQUE,     -- what it was exchanged for, once
  expires_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX login_of_account ON login (account);
""")

# The rows say how many steps answer or report, and the sums of what people judged are made anew with them.
migrations.script("m0012_reports", """
ALTER TABLE judged_step ADD COLUMN is_report INTEGER NOT NULL DEFAULT 0;
INSERT OR IGNORE INTO uncounted SELECT DISTINCT session FROM event WHERE kind = 'verdict_given';
UPDATE session SET row = json_set(row, '$.reports', (SELECT count(*) FROM event
    WHERE event.session = session.id AND kind = 'step_added'
      AND NOT coalesce(json_extract(CAST(body AS TEXT), '$.fact.head.is_error'), 0)
      AND (coalesce(json_array_length(CAST(body AS TEXT), '$.fact.head.tools'), 0) = 0
           OR json_extract(CAST(body AS TEXT), '$.fact.head.kind') IN ('message', 'submit'))))
  WHERE json_valid(row);
""")


@migrations
def m0013_digests(db: Database) -> None:
    """Each session has a digest of its events, one after another: text that was changed on the disk is found."""
    db.execute("ALTER TABLE session ADD COLUMN digest BLOB NOT NULL DEFAULT x''")
    for session, head in db.execute("SELECT id, head FROM session").fetchall():
        digest = b""
        for (body,) in db.execute("SELECT body FROM event WHERE session = ? AND seq <= ? ORDER BY seq",
                                  [session, head]):
            digest = hashlib.blake2b(digest + body, digest_size=16).digest()
        db.execute("UPDATE session SET digest = ? WHERE id = ?", [digest, session])


# Which sessions begin with a step, by the id that its file gives it and by its body, without reading all of them. An
# id is known by what stands before its first quotation mark.
migrations.script("m0014_beginnings", """
CREATE INDEX event_of_first_item ON event (substr(body, instr(body, CAST('"item":"' AS BLOB)) + 8,
    instr(substr(body, instr(body, CAST('"item":"' AS BLOB)) + 8), CAST('"' AS BLOB)) - 1), session)
  WHERE kind = 'step_added' AND step = 1;
CREATE INDEX event_of_first_body ON event (substr(body, instr(body, CAST('"body":"' AS BLOB)) + 8, 64), session)
  WHERE kind = 'step_added' AND step = 1;
""")


def open_log(path: Path | str) -> Connection:
    """A writing connection to a log, created or brought up to this program's schema.

    Raises ProtocolMismatch (store_too_new) for a file of a newer program, InvalidInput (not_a_log) for a file of
    another kind, Unavailable where it cannot be opened.
    """
    return open_migrated(path, migrations)


def open_migrated(path: Path | str, wanted: Migrations, *, durable: bool = True, keep_former: bool = True,
                  page: int = PAGE) -> Connection:
    """The same for any file of ours: `wanted` is its set of migrations. `keep_former`: a file that is brought up to
    date is copied before. `page`: bytes of a page of a new file."""
    path = Path(path)
    check_version()
    existed = path.is_file() and path.stat().st_size > 0
    conn = connect(path, durable=durable, page=page)
    try:
        own_checkpoints(conn)
        _migrate(conn, path, wanted, existed, keep_former)
    except BaseException:
        conn.close()
        raise
    return conn


@lru_cache(maxsize=4)
def _made_in_memory(wanted: Migrations) -> Connection:
    conn = connect_in_memory()
    _migrate(conn, Path(), wanted, existed=False, keep_former=False)
    return conn


def open_in_memory(wanted: Migrations) -> Connection:
    """A new database of a set of migrations that lies in no file; made once, then copied."""
    conn = connect_in_memory()
    _made_in_memory(wanted).backup(conn)
    return conn


def check_known(conn: Connection, path: Path, wanted: Migrations) -> list[str]:
    """The migrations that a file still lacks. Raises as `open_log` does; writes nothing."""
    known = wanted.names
    applied = _applied(conn, wanted.name)
    newer = [name for name in applied if name not in known]
    if newer:
        raise ProtocolMismatch("store_too_new", f"{path} was written by a newer version of this program "
                               f"(it has {', '.join(newer)}); update this one.", path=str(path), newer=newer)
    foreign = scalar(conn, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'")
    if not applied and foreign is not None:
        raise InvalidInput("not_a_log", f"{path} is a database of another program.", path=str(path))
    return [name for name in known if name not in applied]


def _applied(conn: Connection, name: str) -> list[str]:
    if scalar(conn, "SELECT 1 FROM sqlite_schema WHERE name = '_sqlite_migrations'") is None:
        return []
    rows = conn.execute("SELECT name FROM _sqlite_migrations WHERE migration_set = ? ORDER BY id", (name,))
    return [row[0] for row in rows]


def _migrate(conn: Connection, path: Path, wanted: Migrations, existed: bool, keep_former: bool) -> None:
    pending = check_known(conn, path, wanted)
    if not pending:
        return
    if existed and keep_former:
        copy = back_up(conn, path.with_name(f"{path.name}.before-{pending[0]}"))
        _log.info("Bringing %s up to %s; the file as it was is kept as %s.", path, pending[-1], copy.name)
    with transaction(conn):
        wanted.apply(conn)
