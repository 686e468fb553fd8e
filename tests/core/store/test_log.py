"""The log: gapless places, rows that follow, journals and leases that never double an event."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.logs import Maker, fill, make_session

from core.domain.errors import Conflict, InvalidInput, NotFound
from core.domain.events import SessionStateChanged, decode_event
from core.domain.session import SessionRow
from core.domain.trajectory import fold
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import connect, transaction

BODIES, BLOBS = make_session(steps=12, guidance=3, seed=5)


@pytest.fixture
def conn(tmp_path):
    conn = open_log(tmp_path / "a.db")
    log.create(conn, "s")
    yield conn
    conn.close()


def bodies_of(conn, session="s"):
    return [p.body for p in log.read_all(conn, session)]


def test_events_get_their_places_and_the_row_follows(conn):
    assert log.append(conn, "s", BODIES[:5]) == 5
    assert log.append(conn, "s", BODIES[5:]) == len(BODIES) == log.head(conn, "s")
    held = list(log.read_all(conn, "s"))
    assert [(p.seq, p.body) for p in held] == list(enumerate(BODIES, 1))
    row = log.row(conn, "s")
    assert row.judged and msgspec.structs.replace(row, judged={}) == fold("s", held).row
    assert log.append(conn, "s", []) == len(BODIES)


def test_kind_and_step_stand_beside_the_body(conn):
    log.append(conn, "s", BODIES)
    rows = conn.execute("SELECT kind, step FROM event WHERE session = 's' ORDER BY seq").fetchall()
    for (kind, step), body in zip(rows, BODIES, strict=True):
        assert f'"type":"{kind}"'.encode() in body
        if kind in ("step_started", "step_added"):
            assert f'"number":{step}'.encode() in body
        elif step is not None:
            assert f'"step":{step}'.encode() in body


def test_a_bad_event_or_session_is_refused(conn):
    with pytest.raises(InvalidInput), transaction(conn):
        log.append(conn, "s", [BODIES[0], b"{}"])
    assert log.head(conn, "s") == 0 and bodies_of(conn) == []
    for call in (lambda: log.append(conn, "none", BODIES), lambda: log.row(conn, "none"),
                 lambda: log.lease(conn, "none", "j"), lambda: log.append_journal(conn, "none", 1, 1, BODIES)):
        with pytest.raises(NotFound) as caught:
            call()
        assert caught.value.code == "no_session"
    assert log.head(conn, "none") == 0 and log.read(conn, "none") == []


def test_an_event_of_a_newer_version_is_stored_as_it_came(conn):
    body = BODIES[0].replace(b'"type":"session_created"', b'"type":"from_the_future"')
    log.append(conn, "s", [body])
    assert bodies_of(conn) == [body]
    assert conn.execute("SELECT kind FROM event").fetchall() == [("from_the_future",)]


def test_reading_keeps_to_its_bounds(conn):
    log.append(conn, "s", BODIES)
    assert [p.seq for p in log.read(conn, "s", after=3, limit=4)] == [4, 5, 6, 7]
    assert [p.seq for p in log.read(conn, "s", max_bytes=1)] == [1], "one event is always given"
    size = len(BODIES[0]) + len(BODIES[1])
    assert [p.seq for p in log.read(conn, "s", max_bytes=size)] == [1, 2]
    assert [p.seq for p in log.read_all(conn, "s", upto=3)] == [1, 2, 3]


def test_read_all_stops_at_the_head_of_its_beginning_and_holds_no_lock(conn, monkeypatch):
    monkeypatch.setattr(log, "_CHUNK", 4)
    log.append(conn, "s", BODIES[:10])
    reader = log.read_all(conn, "s")
    next(reader)
    log.append(conn, "s", BODIES[10:])
    assert [p.seq for p in reader] == list(range(2, 11))


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(1, len(BODIES)), st.integers(0, 20)), max_size=30))
def test_a_copy_fed_with_any_repeats_and_gaps_is_a_prefix(tmp_path_factory, feeds):
    conn = open_log(tmp_path_factory.mktemp("copy") / "a.db")
    for first, count in feeds:
        held = log.head(conn, "s")
        if first > held + 1:
            with pytest.raises(Conflict) as caught:
                log.place(conn, "s", first, BODIES[first - 1 : first - 1 + count])
            assert (caught.value.code, caught.value.params["expect"]) == ("seq_gap", held + 1)
        else:
            log.place(conn, "s", first, BODIES[first - 1 : first - 1 + count])
    held = log.head(conn, "s")
    assert bodies_of(conn) == BODIES[:held]
    assert log.row(conn, "s") == fold("s", log.read_all(conn, "s")).row if held else True
    conn.close()


def test_a_copys_row_may_be_ahead_of_its_events(conn, tmp_path):
    log.append(conn, "s", BODIES)
    newest = log.row(conn, "s")
    copy = open_log(tmp_path / "copy.db")
    assert log.put_row(copy, newest) and log.rows(copy) == [newest] and log.head(copy, "s") == 0
    assert not log.put_row(copy, newest), "nothing new"
    assert not log.put_row(copy, SessionRow(session="s", seq=3)), "older than what is held"
    for first in range(1, len(BODIES), 7):
        log.place(copy, "s", first, BODIES[first - 1 : first + 6])
        assert log.row(copy, "s") == newest
    more = Maker(9)
    more.add_step()
    log.place(copy, "s", len(BODIES) + 1, more.bodies[2:])
    log.append(conn, "s", more.bodies[2:])
    assert log.row(copy, "s") == log.row(conn, "s") != newest


def test_rows_come_in_the_order_of_their_ids(conn):
    log.create(conn, "b")
    log.create(conn, "a")
    assert not log.create(conn, "a")
    assert [r.session for r in log.rows(conn)] == ["a", "b", "s"]


def test_a_journal_is_taken_once_whatever_is_sent_again(conn):
    fence, following = log.lease(conn, "s", "j1")
    assert (fence, following) == (1, 1)
    assert log.append_journal(conn, "s", fence, 1, BODIES[:4]) == 4
    assert log.append_journal(conn, "s", fence, 2, BODIES[1:3]) == 4
    assert log.append_journal(conn, "s", fence, 3, BODIES[2:6]) == 6
    with pytest.raises(Conflict) as caught:
        log.append_journal(conn, "s", fence, 8, BODIES[7:])
    assert (caught.value.code, caught.value.params["expect"]) == ("journal_gap", 7)
    assert bodies_of(conn) == BODIES[:6]


def test_a_new_runner_fences_the_old_one_and_goes_on_where_it_was(conn):
    old, _ = log.lease(conn, "s", "j1")
    log.append_journal(conn, "s", old, 1, BODIES[:3])
    log.append(conn, "s", [BODIES[3]])  # the server's own event in between moves no journal cursor
    new, following = log.lease(conn, "s", "j1")
    assert new == old + 1 and following == 4
    with pytest.raises(Conflict) as caught:
        log.append_journal(conn, "s", old, 4, BODIES[4:])
    assert caught.value.code == "fenced"
    assert log.append_journal(conn, "s", new, 4, BODIES[4:6]) == 5
    assert bodies_of(conn) == BODIES[:6]


def test_another_journal_begins_at_its_first_entry(conn):
    fence, _ = log.lease(conn, "s", "j1")
    log.append_journal(conn, "s", fence, 1, BODIES[:3])
    fence, following = log.lease(conn, "s", "j2")
    assert following == 1
    assert log.append_journal(conn, "s", fence, 1, BODIES[3:5]) == 2
    assert bodies_of(conn) == BODIES[:5]


def test_each_file_has_an_epoch_of_its_own(conn, tmp_path):
    assert log.epoch(conn) == log.epoch(connect(tmp_path / "a.db", readonly=True))
    assert log.epoch(conn) != log.epoch(open_log(tmp_path / "b.db"))


def test_an_event_of_a_long_session_is_read_with_no_more_work_than_one_of_a_short_session(tmp_path):
    conn = open_log(tmp_path / "long.db")
    output = next(b for b in BODIES if b'"terminal_output"' in b)
    with transaction(conn):
        fill(conn, "s", BODIES, BLOBS)
        log.append(conn, "s", [output] * 5_000)
    count, short = work_of(conn, lambda: sum(1 for _ in log.read_all(conn, "s")))
    part, one = work_of(conn, lambda: log.read(conn, "s", after=4_000))
    with transaction(conn):
        log.append(conn, "s", [output] * 45_000)
    assert count == 5_000 + len(BODIES) and len(part) == 256
    count, long = work_of(conn, lambda: sum(1 for _ in log.read_all(conn, "s")))
    part, late = work_of(conn, lambda: log.read(conn, "s", after=40_000))
    assert count == 50_000 + len(BODIES) and len(part) == 256
    assert short > 100 and long < 12 * short
    assert late <= one + 2


def work_of(conn, ask):
    """How many hundreds of the database's own instructions a question takes."""
    steps = []
    conn.set_progress_handler(lambda: steps.append(1) and None, 100)
    answer = ask()
    conn.set_progress_handler(None, 0)
    return answer, len(steps)


def test_what_is_said_of_one_guidance_is_found_without_reading_the_log(conn):
    maker = Maker(3)
    for _ in range(40):
        maker.guide()
        maker.add_step()
    fill(conn, "s", maker.bodies, maker.blobs)
    facts = [decode_event(b).fact for b in bodies_of(conn)]
    about = [f for f in facts if type(f).__name__.startswith("Guidance")]
    one = about[-1].guidance
    found, before = work_of(conn, lambda: log.about_guidance(conn, "s", one))
    assert [decode_event(b).fact for b in found] == [f for f in about if f.guidance == one]
    assert [decode_event(b).fact for b in log.about_guidance(conn, "s")] == about
    maker.bodies.clear()
    for _ in range(400):
        maker.add_step()
    fill(conn, "s", maker.bodies, maker.blobs)
    assert work_of(conn, lambda: log.about_guidance(conn, "s", one))[1] <= before + 1


def test_the_newest_state_is_found_without_reading_the_log(conn):
    maker = Maker(3)
    maker.finish()
    states = [e for e in map(decode_event, maker.bodies) if isinstance(e.fact, SessionStateChanged)]
    for _ in range(200):
        maker.add_step()
    fill(conn, "s", maker.bodies, maker.blobs)
    state, steps = work_of(conn, lambda: log.last_state(conn, "s"))
    assert state == states[-1] and steps <= 1
