"""The schema of a runner's journal. Migrations are never edited after a release."""

from core.store.migrations import Migrations

migrations = Migrations("journal")

migrations.script("m0001_journal", """
CREATE TABLE slot (key TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entry (n INTEGER PRIMARY KEY, body BLOB NOT NULL) STRICT;
CREATE TABLE blob (
  hash TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  data BLOB NOT NULL,                       -- one zstd frame
  sent INTEGER NOT NULL DEFAULT 0           -- the server is known to hold it
) STRICT;
CREATE TABLE guidance (
  id TEXT PRIMARY KEY,
  seq INTEGER NOT NULL,                     -- its place in the log: the order of delivery
  text TEXT NOT NULL,
  mode TEXT NOT NULL,
  state TEXT NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'delivered', 'answered', 'withdrawn')),
  step INTEGER                              -- the first step whose context holds it
) STRICT;
CREATE TABLE change (request TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
CREATE TABLE control (id TEXT PRIMARY KEY, seq INTEGER NOT NULL, control TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE call (
  step INTEGER NOT NULL,
  place INTEGER NOT NULL,                   -- 0, 1, … within the step
  action BLOB NOT NULL,                     -- written before it is carried out
  observation BLOB,                         -- written after
  PRIMARY KEY (step, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE terminal (key TEXT PRIMARY KEY, length INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TRIGGER entry_is_never_changed BEFORE UPDATE ON entry
  BEGIN SELECT RAISE(ABORT, 'entries never change'); END;
CREATE TRIGGER entry_is_never_deleted BEFORE DELETE ON entry
  BEGIN SELECT RAISE(ABORT, 'entries never go'); END;
""")

# What a gateway remembers of an external agent's requests.
migrations.script("m0040_gateway", """
CREATE TABLE gateway_line (                 -- conversations of an external agent
  name TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  identity BLOB NOT NULL,                   -- what its requests say of themselves
  tools TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE gateway_item (                 -- the items of each line's last request
  line TEXT NOT NULL,
  place INTEGER NOT NULL,
  link BLOB NOT NULL,
  refs BLOB NOT NULL,                       -- the messages that it is in our vocabulary
  PRIMARY KEY (line, place)
) STRICT, WITHOUT ROWID;
CREATE TABLE gateway_place (                -- where guidance stands, oldest first
  id INTEGER PRIMARY KEY,
  place BLOB NOT NULL
) STRICT;
CREATE TABLE gateway_call (call TEXT PRIMARY KEY, step INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE gateway_sent (                 -- exchanges whose end is not journalled yet
  number INTEGER PRIMARY KEY,
  fact BLOB NOT NULL
) STRICT;
""")
