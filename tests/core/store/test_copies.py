"""A replica's copies can be dropped; nothing of its owner's goes with them, and the log is append-only again."""

import pytest
from support.logs import fill, make_session

from core.protocol.operations import Guide
from core.store import blobs, copies, log, outbox
from core.store.schema import open_log
from core.store.sqlite import driver, scalar, transaction

BODIES, BLOBS = make_session(3, seed=1)


@pytest.fixture
def conn(tmp_path):
    conn = open_log(tmp_path / "replica.db")
    with transaction(conn):
        for session in ("a", "b"):
            fill(conn, session, BODIES, BLOBS)
        outbox.add(conn, "a", Guide(guidance="g", text="kept"))
        outbox.save_draft(conn, "a", "kept too")
    yield conn
    conn.close()


def test_one_session_or_all_are_dropped_and_what_is_ours_stays(conn):
    with transaction(conn):
        copies.forget(conn, "a")
    assert (log.head(conn, "a"), log.head(conn, "b")) == (0, len(BODIES))
    with transaction(conn):
        log.place(conn, "a", 1, BODIES)
        copies.forget(conn)
    assert log.rows(conn) == [] and scalar(conn, "SELECT count(*) FROM event") == 0
    assert [q.op.text for q in outbox.pending(conn)] == ["kept"] and outbox.draft(conn, "a") == "kept too"
    assert blobs.missing(conn, BLOBS) == []


def test_the_log_is_append_only_again(conn):
    with transaction(conn):
        copies.forget(conn, "a")
    with pytest.raises(driver.IntegrityError), transaction(conn):
        conn.execute("DELETE FROM event")


def test_the_origin_of_the_copies_is_remembered(conn):
    assert copies.setting(conn, copies.EPOCH) == ""
    copies.put_setting(conn, copies.EPOCH, "epoch 1")
    copies.put_setting(conn, copies.EPOCH, "epoch 2")
    assert copies.setting(conn, copies.EPOCH) == "epoch 2"
