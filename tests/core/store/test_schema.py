"""Files of every released version open; newer ones are refused; a migration that fails leaves no trace."""

import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from support.logs import make_session

from core.domain.errors import InvalidInput, ProtocolMismatch
from core.domain.trajectory import fold
from core.store import log, outbox
from core.store.backup import back_up, damage
from core.store.migrations import Migrations
from core.store.restore import check_content
from core.store.schema import migrations, open_log, open_migrated
from core.store.sqlite import connect, driver, scalar, transaction

FILES = Path(__file__).parent / "files"
OLD = sorted(FILES.glob("log-*.db"))


def shape(conn):
    """What a schema is: every object with its SQL, but for spaces."""
    return {(row[0], " ".join(row[1].split())) for row in conn.execute(
        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE '%sqlite_migrations%'")}


def content(path):
    with closing(sqlite3.connect(path)) as conn:
        return list(conn.iterdump())


def test_every_migration_has_a_file_of_its_time():
    assert [f.stem for f in OLD] == [f"log-{name}" for name in migrations.names]


@pytest.mark.parametrize("old", OLD, ids=lambda f: f.stem)
def test_an_old_file_opens_and_says_what_it_said(old, tmp_path):
    path = tmp_path / "server.db"
    shutil.copy(old, path)
    conn = open_log(path)
    assert shape(conn) == shape(open_log(tmp_path / "fresh.db"))
    assert damage(conn) == "" and log.epoch(conn) == "0123456789abcdef"
    bodies, _ = make_session(steps=3, guidance=1, seed=1)
    held = list(log.read_all(conn, "old"))
    assert len(held) == 11 and held[0].event.fact.task.id == "task_1"
    assert fold("old", held).row == log.row(conn, "old")
    check_content(path)
    assert [q.op.text for q in outbox.pending(conn)] == ["keep the seed"] and outbox.draft(conn, "old") == "half a"
    with transaction(conn):
        log.append(conn, "old", bodies[2:4])


def test_tables_are_strict_and_the_log_is_append_only(tmp_path):
    open_log(tmp_path / "a.db").close()  # sqlite-utils changes settings of the connection that migrates
    conn = open_log(tmp_path / "a.db")
    with transaction(conn):
        log.create(conn, "s")
        log.append(conn, "s", make_session(1)[0])
    for sql in ("UPDATE event SET body = x'00'", "DELETE FROM event", "UPDATE event SET seq = seq + 1",
                "INSERT OR REPLACE INTO event SELECT session, seq, kind, step, x'00' FROM event"):
        with pytest.raises(driver.IntegrityError), transaction(conn):
            conn.execute(sql)
    with pytest.raises(driver.IntegrityError), transaction(conn):
        conn.execute("INSERT INTO event VALUES ('none', 1, 'x', NULL, x'00')")
    with pytest.raises(driver.IntegrityError), transaction(conn):
        conn.execute("INSERT INTO event VALUES ('s', 99, 'x', 'not a number', x'00')")
    loose = conn.execute("SELECT name FROM pragma_table_list WHERE schema = 'main' AND NOT strict "
                         "AND name NOT LIKE '%sqlite%'").fetchall()
    assert loose == []


def test_a_newer_file_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "a.db"
    conn = open_log(path)
    with transaction(conn):
        conn.execute("INSERT INTO _sqlite_migrations VALUES (99, 'log', 'm0099_future', '')")
    conn.close()
    before = content(path)
    with pytest.raises(ProtocolMismatch) as caught:
        open_log(path)
    assert caught.value.code == "store_too_new" and caught.value.params["newer"] == ["m0099_future"]
    assert "m0099_future" in str(caught.value)
    assert content(path) == before and [p.name for p in tmp_path.iterdir()] == ["a.db"]


def test_another_programs_file_is_refused_and_not_touched(tmp_path):
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE TABLE bookmarks (url)")
    with pytest.raises(InvalidInput) as caught:
        open_log(path)
    assert caught.value.code == "not_a_log"
    assert content(path) == ["BEGIN TRANSACTION;", "CREATE TABLE bookmarks (url);", "COMMIT;"]


def versions(*functions):
    made = Migrations("log")
    for function in functions:
        made(function)
    return made


def m0001(db):
    db.execute("CREATE TABLE a (x TEXT) STRICT")
    db.execute("INSERT INTO a VALUES ('kept')")


def m0002(db):
    db.execute("ALTER TABLE a ADD COLUMN y TEXT")


def m0003(db):
    db.execute("UPDATE a SET x = 'changed'")
    raise ValueError("this migration is broken")


def test_a_failing_migration_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "a.db"
    open_migrated(path, versions(m0001)).close()
    before = content(path)
    with pytest.raises(ValueError, match="broken"):
        open_migrated(path, versions(m0001, m0002, m0003))
    assert content(path) == before, "the second, which succeeded, is undone with the third"
    assert scalar(open_migrated(path, versions(m0001, m0002)), "SELECT x FROM a WHERE y IS NULL") == "kept"


def test_a_backup_is_made_before_a_file_that_existed_is_changed(tmp_path):
    path = tmp_path / "a.db"
    open_migrated(path, versions(m0001)).close()
    assert [p.name for p in tmp_path.iterdir()] == ["a.db"], "a new file needs none"
    open_migrated(path, versions(m0001)).close()
    assert [p.name for p in tmp_path.iterdir()] == ["a.db"], "nothing to do needs none"
    open_migrated(path, versions(m0001, m0002)).close()
    copy = tmp_path / "a.db.before-m0002"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert scalar(open_migrated(copy, versions(m0001)), "SELECT x FROM a") == "kept"


def test_a_backup_under_way_writes_is_whole_and_private(tmp_path):
    conn = open_log(tmp_path / "a.db")
    with transaction(conn):
        log.create(conn, "s")
        log.append(conn, "s", make_session(5)[0])
    target = tmp_path / "backup.db"
    target.write_bytes(b"SQLite format 3\0 an older backup")
    reader = connect(tmp_path / "a.db", readonly=True)
    assert back_up(reader, target) == target and scalar(reader, "PRAGMA query_only") == 1
    copy = connect(target, readonly=True)
    assert damage(copy) == "" and list(log.read_all(copy, "s")) == list(log.read_all(conn, "s"))
    assert log.epoch(copy) != log.epoch(conn), "who follows the log notices when the backup takes its place"
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert not list(tmp_path.glob("*.part")) and not list(tmp_path.glob(".*"))


def test_damage_is_found(tmp_path):
    path = tmp_path / "a.db"
    conn = open_log(path)
    with transaction(conn):
        log.create(conn, "s")
        log.append(conn, "s", make_session(50)[0])
    conn.close()
    data = bytearray(path.read_bytes())
    data[-16384 * 3 : -16384 * 2] = b"\xff" * 16384
    path.write_bytes(data)
    assert damage(connect(path, readonly=True))


def test_only_a_file_that_lacks_a_migration_loads_what_applies_it(tmp_path) -> None:
    path, code = tmp_path / "a.db", ("import sys, core.store.search, core.agents.schema\n"
                                     "from core.store.schema import open_log\n"
                                     "open_log(sys.argv[1]).close()\n"
                                     "print('sqlite_utils' in sys.modules, 'numpy' in sys.modules)\n"
                                     "print('pandas' in sys.modules)")
    for loaded in ("True", "False"):
        done = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True,
                              cwd=Path(__file__).resolve().parents[3])
        assert done.stdout.split() == [loaded, "False", "False"]
