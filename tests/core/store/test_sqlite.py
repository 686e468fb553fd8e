"""Connections have the settings that the guarantees rest on."""

import logging
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from core.domain.errors import NotFound, Unavailable
from core.store import sqlite
from core.store.schema import open_log
from core.store.sqlite import connect, driver, scalar, transaction


def pragma(conn, name):
    return scalar(conn, f"PRAGMA {name}")


def test_a_writing_connection_is_durable_and_distrusts_the_file(tmp_path):
    conn = connect(tmp_path / "a.db")
    pragmas = {name: pragma(conn, name) for name in ("journal_mode", "synchronous", "foreign_keys", "trusted_schema",
                                                  "page_size", "mmap_size", "fullfsync", "busy_timeout")}
    assert pragmas == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1, "trusted_schema": 0,
                    "page_size": 16384, "mmap_size": 0, "fullfsync": 1, "busy_timeout": 5000}
    assert pragma(connect(tmp_path / "b.db", durable=False), "synchronous") == 1


def test_every_file_is_its_owners_alone(tmp_path):
    conn = open_log(tmp_path / "a.db")
    with transaction(conn):
        conn.execute("INSERT INTO setting VALUES ('a', 'b')")
    modes = {p.name: stat.S_IMODE(p.stat().st_mode) for p in tmp_path.iterdir()}
    assert modes == {"a.db": 0o600, "a.db-wal": 0o600, "a.db-shm": 0o600}


def test_a_reader_cannot_write_and_sees_what_is_committed(tmp_path):
    writer = open_log(tmp_path / "a#b?.db")  # the name is no part of a URI's syntax
    reader = connect(tmp_path / "a#b?.db", readonly=True)
    with transaction(writer):
        writer.execute("INSERT INTO setting VALUES ('a', 'b')")
    assert scalar(reader, "SELECT value FROM setting WHERE key = ?", "a") == "b"
    assert scalar(reader, "SELECT value FROM setting WHERE key = 'none'") is None
    with pytest.raises(driver.OperationalError):
        reader.execute("DELETE FROM setting")


def test_a_transaction_is_whole_or_nothing(tmp_path):
    conn = open_log(tmp_path / "a.db")

    def half():
        with transaction(conn):
            conn.execute("INSERT INTO setting VALUES ('a', 'b')")
            conn.execute("INSERT INTO no_such_table VALUES (1)")

    with pytest.raises(driver.OperationalError):
        half()
    assert not conn.in_transaction and scalar(conn, "SELECT count(*) FROM setting") == 0


def test_what_cannot_be_opened_is_told_in_a_sentence(tmp_path):
    with pytest.raises(NotFound) as missing:
        connect(tmp_path / "none.db", readonly=True)
    assert missing.value.code == "no_file"
    (tmp_path / "text.db").write_text("this is no database, it is a long enough text to look like a page" * 99)
    for readonly in (True, False):
        with pytest.raises(Unavailable) as caught:
            connect(tmp_path / "text.db", readonly=readonly)
        assert caught.value.code == "store_unavailable"
    with pytest.raises(Unavailable):
        connect(tmp_path / "no folder" / "a.db")


def test_network_disks_are_told_from_local_ones(tmp_path):
    mounts = tmp_path / "mountinfo"
    mounts.write_text("22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                      "36 22 0:30 / /home/lab rw shared:2 master:1 - nfs4 server:/home rw\n"
                      "40 36 8:2 / /home/lab/local rw - xfs /dev/sdb rw\n", encoding="utf-8")
    folders = ("/tmp", "/home/lab/li", "/home/lab/local/x")
    kinds = {folder: sqlite._disk_kind(Path(folder), mounts) for folder in folders}
    assert kinds == {"/tmp": "ext4", "/home/lab/li": "nfs4", "/home/lab/local/x": "xfs"}
    assert sqlite._disk_kind(tmp_path, tmp_path / "absent") == ""


def test_a_network_disk_is_refused_for_writing(tmp_path, monkeypatch):
    monkeypatch.setattr(sqlite, "_disk_kind", lambda folder, mounts: "nfs4")
    with pytest.raises(Unavailable) as caught:
        connect(tmp_path / "a.db")
    assert caught.value.code == "network_disk" and not list(tmp_path.iterdir())


def test_an_old_sqlite_is_warned_of_once_and_one_connection_checkpoints(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(sqlite, "SAFE_VERSION", (99, 0, 0))
    monkeypatch.setattr(sqlite, "_warned", [])
    with caplog.at_level(logging.WARNING):
        owner, other = open_log(tmp_path / "a.db"), connect(tmp_path / "a.db")
        open_log(tmp_path / "b.db")
    assert (pragma(owner, "wal_autocheckpoint"), pragma(other, "wal_autocheckpoint")) == (1000, 0)
    assert [r.levelname for r in caplog.records] == ["WARNING"]
    monkeypatch.setattr(sqlite, "OLDEST_VERSION", (99, 0, 0))
    with pytest.raises(Unavailable, match="too old"):
        open_log(tmp_path / "c.db")


def test_the_store_works_with_the_standard_librarys_driver_too(tmp_path):
    script = """
import sys
sys.modules["pysqlite3"] = sys.modules["pysqlite3.dbapi2"] = None
import sqlite3
from support.logs import fill, make_session
from core.store import log, sqlite
from core.store.search import SearchIndex
from core.store.writer import Writer
assert sqlite.driver is sqlite3.dbapi2 or sqlite.driver is sqlite3
with Writer(sys.argv[1]) as writer:
    bodies, blobs = make_session(5)
    assert writer.do_blocking(lambda conn: fill(conn, "s", bodies, blobs)) == len(bodies)
index = SearchIndex(sys.argv[2])
assert index.update(sys.argv[1]) == len(bodies) and index.search("command")
index.close()
"""
    subprocess.run([sys.executable, "-c", script, tmp_path / "a.db", tmp_path / "s.db"], check=True,
                   env={"PYTHONPATH": ":".join(sys.path)})


def test_this_machine_has_a_safe_sqlite():
    assert sqlite.is_safe()
