"""Sessions that share payloads are deleted in any order: what stays is bit-exact, what nobody names is gone."""

from __future__ import annotations

import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import fill, make_session

from core.domain.errors import NotFound
from core.domain.events import blobs_of, decode_event
from core.store import blobs, copies, log, loose_blobs, tombstones
from core.store.restore import survey
from core.store.schema import open_log
from core.store.sqlite import Connection, driver, scalar, transaction

MADE = [make_session(steps=4 + seed, seed=seed % 3) for seed in range(5)]
"""The first three differ; the others begin as they do and name the same payloads."""
NAMES = [f"s{n}" for n in range(len(MADE))]


def bury(conn: Connection, *sessions: str) -> None:
    with transaction(conn):
        for session in sessions:
            tombstones.bury(conn, session, "li")
    with transaction(conn):
        loose_blobs.remove(conn)


def named(name: str) -> set[str]:
    return {one for body in MADE[NAMES.index(name)][0] for one in blobs_of(decode_event(body).fact)}


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(NAMES), unique=True), st.integers(0, 4))
def test_what_stays_is_bit_exact_and_the_rest_is_gone(gone: list[str], back: int) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(open_log(Path(folder) / "log.db")) as conn:
        with transaction(conn):
            for name, (bodies, payloads) in zip(NAMES, MADE, strict=True):
                fill(conn, name, bodies, payloads)
            extra = set(map(blobs.put, [conn] * 2, [b"nobody names me", b"nor me"]))
        held = {bytes(b) for (b,) in conn.execute("SELECT hash FROM blob")}
        bury(conn, *gone)
        stay = [n for n in NAMES if n not in gone]
        for name in stay:
            bodies, payloads = MADE[NAMES.index(name)]
            assert [p.body for p in log.read_all(conn, name)] == bodies
            assert all(blobs.get(conn, one) == payloads[one] for one in named(name))
        wanted = {bytes.fromhex(one) for name in stay for one in named(name)}
        lost = {bytes.fromhex(one) for name in gone for one in named(name)} - wanted
        assert {bytes(b) for (b,) in conn.execute("SELECT hash FROM blob")} == held - lost
        assert all(blobs.holds(conn, one) for one in extra)
        assert scalar(conn, "SELECT count(*) FROM loose_blob") == 0
        judged = survey(Path(folder) / "log.db")
        assert (judged.sessions, judged.lacking) == (len(stay), 0)
        if gone:
            name = gone[back % len(gone)]
            with transaction(conn):
                tombstones.come_back(conn, name)
                fill(conn, name, *MADE[NAMES.index(name)])
            assert [p.body for p in log.read_all(conn, name)] == MADE[NAMES.index(name)][0]


@pytest.fixture
def conn(tmp_path: Path):
    conn = open_log(tmp_path / "log.db")
    with transaction(conn):
        fill(conn, "a", *MADE[0])
        fill(conn, "b", *MADE[3])
    yield conn
    conn.close()


def test_the_log_is_append_only_but_for_a_deletion(conn) -> None:
    bury(conn, "a")
    for sql in ("DELETE FROM event WHERE session = 'b'", "UPDATE event SET kind = 'x'"):
        with pytest.raises(driver.IntegrityError):
            conn.execute(sql)
    with transaction(conn):
        tombstones.come_back(conn, "a")
        fill(conn, "a", *MADE[0])
    with pytest.raises(driver.IntegrityError):
        conn.execute("DELETE FROM event WHERE session = 'a'")


def test_nothing_makes_a_deleted_session_again(conn) -> None:
    bury(conn, "a")
    with pytest.raises(driver.IntegrityError), transaction(conn):
        log.create(conn, "a")
    with pytest.raises(NotFound) as refused:
        tombstones.refuse_deleted(conn, "a")
    assert refused.value.code == "session_deleted" and "by li" in refused.value.sentence


def test_a_payload_that_is_named_while_the_log_is_looked_through_stays(conn) -> None:
    only = sorted(named("s0") - named("s3")) or sorted(named("s0"))
    with transaction(conn):
        tombstones.bury(conn, "a", "li")
        tombstones.bury(conn, "b", "li")
    doomed = loose_blobs.unnamed(conn)
    body = next(b for b in MADE[0][0] if only[0].encode() in b)
    with transaction(conn):  # the very moment between the look and the removal
        log.create(conn, "c")
        log.append(conn, "c", [body])
    with transaction(conn):
        loose_blobs._remove(conn, doomed)
    assert blobs.holds(conn, only[0]) and blobs.missing(conn, blobs_of(decode_event(body).fact)) == []


def test_what_is_deleted_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "log.db"
    secret = b"the-very-words-that-go-0123456789"
    with closing(open_log(path)) as conn:
        with transaction(conn):
            fill(conn, "a", *MADE[0])
            conn.execute("UPDATE session SET row = json_set(row, '$.title', ?)", (secret.decode(),))
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert secret in path.read_bytes()
        bury(conn, "a")
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert secret not in path.read_bytes()


def test_a_copy_goes_once_for_each_deletion(conn) -> None:
    with transaction(conn):
        assert copies.purge(conn, [("a", "m1"), ("unheard", "m2")]) == ["a", "unheard"]
    assert not log.knows(conn, "a") and log.knows(conn, "b")
    assert blobs.missing(conn, named("s3")) == [] and survey_lacks_nothing(conn)
    with transaction(conn):  # it came back: the same deletion does nothing to what came since
        log.place(conn, "a", 1, MADE[0][0])
        assert copies.purge(conn, [("a", "m1")]) == []
        assert log.head(conn, "a") == len(MADE[0][0])
        assert copies.purge(conn, [("a", "m3")]) == ["a"]


def test_the_sessions_of_these_tests_share_payloads_and_have_their_own() -> None:
    assert named("s0") & named("s3") and named("s0") - named("s1")


def survey_lacks_nothing(conn: Connection) -> bool:
    return not any(blobs.missing(conn, blobs_of(p.event.fact)) for p in log.read_all(conn, "b"))
