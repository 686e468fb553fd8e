"""Blobs: stored once, given back exactly, never trusted."""

import random
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.domain.blob import blob_hash
from core.domain.errors import InvalidInput, LimitReached, NotFound
from core.store import blobs
from core.store.schema import open_log
from core.store.sqlite import scalar


@pytest.fixture(scope="module")
def conn(tmp_path_factory):
    conn = open_log(tmp_path_factory.mktemp("blobs") / "a.db")
    yield conn
    conn.close()


@given(st.binary(max_size=5000))
def test_what_is_put_is_given_back(conn, data):
    name = blobs.put(conn, data)
    assert name == blob_hash(data) and blobs.get(conn, name) == data and blobs.holds(conn, name)
    assert blobs.decompress(blobs.get_compressed(conn, name)) == data


def test_a_payload_is_stored_once_and_small(conn):
    text = b"the same line again and again\n" * 1000
    before = scalar(conn, "SELECT count(*) FROM blob")
    names = {blobs.put(conn, text) for _ in range(5)}
    blobs.put_compressed(conn, *names, blobs.compress(text))
    blobs.put_all(conn, [(blob_hash(text), text)] * 2)
    assert scalar(conn, "SELECT count(*) FROM blob") == before + 1
    size, held = conn.execute("SELECT size, length(data) FROM blob ORDER BY id DESC LIMIT 1").fetchone()
    assert size == len(text) and held < 200


@given(st.lists(st.binary(max_size=500)))
def test_what_is_put_together_is_given_back(conn, payloads):
    blobs.put_all(conn, ((blob_hash(data), data) for data in payloads))
    assert [blobs.get(conn, blob_hash(data)) for data in payloads] == payloads


def test_missing_keeps_the_order_and_tells_each_once(conn):
    held = blobs.put(conn, b"held")
    absent = [blob_hash(b"absent %d" % n) for n in (200, 100, 150)]  # the test before stores any short bytes
    assert blobs.missing(conn, [absent[0], held, *absent, absent[0]]) == absent
    with pytest.raises(NotFound) as caught:
        blobs.get(conn, absent[0])
    assert caught.value.code == "no_blob"


@pytest.mark.parametrize("name", ["", "a" * 63, "G" * 64, "A" * 64, "../../etc/passwd", "' OR 1 --"])
def test_what_is_no_name_is_refused(conn, name):
    for call in (lambda: blobs.get(conn, name), lambda: blobs.holds(conn, name), lambda: blobs.missing(conn, [name]),
                 lambda: blobs.put_compressed(conn, name, blobs.compress(b""))):
        with pytest.raises(InvalidInput) as caught:
            call()
        assert caught.value.code == "blob_name"


def test_a_payload_that_is_not_what_its_name_says_is_refused(conn):
    name = blob_hash(b"promised")
    frame = blobs.compress(b"promised")
    wrong = [blobs.compress(b"other"), b"promised", b"", frame[:-1], frame + b"x", frame + frame,
             random.Random(1).randbytes(100)]
    for data in wrong:
        with pytest.raises(InvalidInput):
            blobs.put_compressed(conn, name, data)
        assert not blobs.holds(conn, name)
    blobs.put_compressed(conn, name, frame)
    assert blobs.get(conn, name) == b"promised"


@given(st.binary(max_size=300))
def test_garbage_is_refused_never_a_crash(data):
    with pytest.raises((InvalidInput, LimitReached)):
        blobs.decompress(data)


def test_a_bomb_stops_at_the_bound(conn):
    bomb = blobs.compress(bytes(blobs.MAX_RAW + 1))
    assert len(bomb) < 10_000
    with pytest.raises(LimitReached) as caught:
        blobs.put_compressed(conn, "a" * 64, bomb)
    assert caught.value.code == "blob_too_large"
    tracemalloc.start()
    with pytest.raises(LimitReached):
        blobs.decompress(bomb, limit=1000)
    assert tracemalloc.get_traced_memory()[1] < 2_000_000
    tracemalloc.stop()


def test_a_payload_above_the_bound_is_not_stored(conn, monkeypatch):
    monkeypatch.setattr(blobs, "MAX_RAW", 10)
    with pytest.raises(LimitReached):
        blobs.put(conn, bytes(11))
    with pytest.raises(LimitReached):
        blobs.put_all(conn, [(blob_hash(bytes(11)), bytes(11))])


def test_bytes_that_rotted_on_disk_are_not_given_out(conn):
    name = blobs.put(conn, b"sound")
    conn.execute("UPDATE blob SET data = ? WHERE hash = ?", (blobs.compress(b"rotten"), bytes.fromhex(name)))
    with pytest.raises(InvalidInput) as caught:
        blobs.get(conn, name)
    assert caught.value.code == "blob_hash"
