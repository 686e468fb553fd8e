"""SQLite files that somebody made for an importer (threats 3, 13): nothing of what they compute is run."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from core.domain.errors import InvalidInput
from core.formats.foreign_database import opened
from core.formats.readers import goose, opencode
from core.formats.source import Source

ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT x AS id"
MESSAGES = "CREATE TABLE messages (session_id, role, content_json)"
SCHEMAS = {
    "a view of goose": f"CREATE VIEW sessions AS {ENDLESS}, '' AS working_dir FROM c; {MESSAGES}",
    "computed columns": "CREATE TABLE sessions (id, working_dir, big AS (hex(zeroblob(30000000))));"
                        f"INSERT INTO sessions VALUES (1, '/'); {MESSAGES}",
    "a virtual table": f"CREATE VIRTUAL TABLE sessions USING fts5(id, working_dir); {MESSAGES}",
    "a view of opencode": f"CREATE VIEW session AS {ENDLESS}, '' AS parent_id, '' AS title FROM c;"
                          "CREATE TABLE message (id, session_id, data); "
                          "CREATE TABLE part (id, message_id, session_id, data)",
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_what_a_database_would_compute_is_no_table(tmp_path: Path, schema: str) -> None:
    path = tmp_path / "sessions.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.executescript(SCHEMAS[schema])
    source = Source(path)
    assert not goose.recognises(source) and not opencode.recognises(source)


def test_no_query_goes_through_a_view_or_into_another_file(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as conn:
        conn.executescript(SCHEMAS["a view of goose"])
    for sql in ("SELECT * FROM sessions ORDER BY id", f"ATTACH '{tmp_path / 'b.db'}' AS b"):
        with pytest.raises(InvalidInput, match="cannot be read as a database"), opened(tmp_path / "a.db") as base:
            next(base.rows(sql))
    assert not (tmp_path / "b.db").exists()
