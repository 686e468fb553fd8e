"""Search finds what was thought, done, seen and said, in any language, and follows the log by itself."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.logs import PERSON, Maker, fill

from core.domain.events import GuidanceEdited, NoteAdded
from core.domain.step import Action, ActionError, Observation, Output, StepBody
from core.store import blobs, log
from core.store.copies import forget
from core.store.schema import open_log
from core.store.search import MAX_TEXT, SearchIndex
from core.store.sqlite import connect, scalar, transaction


def step(maker, thought="", command="", output="", error=""):
    """A step with these very texts."""
    action = Action(call_id="c", tool="run_command", arguments={"command": command})
    seen = Observation(call_id="c", output=Output(text=output),
                       error=ActionError(kind="exit_code", message=error) if error else None)
    maker._body = lambda tool, fails: StepBody(number=maker.step, thought=thought, actions=(action,),
                                               observations=(seen,))
    maker.add_step()


@pytest.fixture
def made():
    maker = Maker(1)
    step(maker, "the needle is in the thought", "python train.py --learning_rate 0.1", "loss 训练 0.5", "exit code 7")
    maker.guide("请检查训练数据集")
    step(maker, "OR NEAR(x) is not syntax", "ls", "Größe café")
    maker.say(NoteAdded(step=2, text="suspicious remark"), PERSON)
    maker.say(NoteAdded(step=0, text="about everything"), PERSON)
    maker.summarise()
    return maker


@pytest.fixture
def log_path(tmp_path, made):
    conn = open_log(tmp_path / "log.db")
    with transaction(conn):
        fill(conn, "s1", made.bodies, made.blobs)
    conn.close()
    return tmp_path / "log.db"


@pytest.fixture
def index(tmp_path, log_path):
    index = SearchIndex(tmp_path / "search.db")
    index.update(log_path)
    yield index
    index.close()


@pytest.mark.parametrize(("words", "found"), [
    ("needle", [("thought", 1)]), ("NEEDLE thought", [("thought", 1)]), ("need", [("thought", 1)]),
    ("learning_rate", [("action", 1)]), ("run_command", [("action", 2), ("action", 1)]),
    ("训练", [("guidance", None), ("output", 1)]), ("数据集", [("guidance", None)]), ("据", [("guidance", None)]),
    ('"exit code 7"', [("output", 1)]), ("cafe", [("output", 2)]), ("Größe", [("output", 2)]),
    ("suspicious", [("note", 2)]), ("everything", [("note", None)]), ("OR NEAR(x)", [("thought", 2)]),
    ("needle suspicious", []), ("据训", []), ("zzz", []), ("", []), ("*", []),
])
def test_words_are_found_where_they_are(index, words, found):
    hits = [(hit.where, hit.step) for hit in index.search(words) if hit.where != "summary"]
    assert sorted(hits, key=str) == sorted(found, key=str)


def test_a_hit_says_where_it_is_and_shows_plain_text(index, made):
    hit = index.search("needle")[0]
    assert (hit.session, hit.where, hit.step) == ("s1", "thought", 1)
    assert b'"step_added"' in made.bodies[hit.seq - 1]
    assert [hit.snippet[a:b] for a, b in hit.matches] == ["needle"]
    guided = next(h for h in index.search("数据集") if h.where == "guidance")
    assert guided.ref.startswith("g") and guided.step is None and guided.snippet == "请检查训练数据集"


def test_summaries_are_found(index, made):
    text = next(b for b in made.bodies if b'"summary_added"' in b)
    word = text.split(b'"text":"')[1].split(b" ")[0].decode()
    assert ("summary", "sum2") in {(h.where, h.ref) for h in index.search(word)}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.one_of(st.text(max_size=60), st.text(alphabet='"*():^-+{}ANDORNEAT 训x\0\ud800', max_size=40),
                 st.text(min_size=300, max_size=600)))
def test_no_text_is_an_error(index, words):
    for hit in index.search(words):
        assert hit.session == "s1"


def test_one_session_and_a_number_of_hits_can_be_asked_for(index, log_path, made):
    conn = open_log(log_path)
    with transaction(conn):
        fill(conn, "s2", made.bodies, made.blobs)
    index.update(log_path)
    assert [h.session for h in index.search("needle")] == ["s2", "s1"]
    assert [h.session for h in index.search("needle", session="s1")] == ["s1"]
    assert [h.session for h in index.search("needle", limit=1)] == ["s2"]


@pytest.mark.parametrize(("text", "found"), [
    ("eedl", ["eedl"]), ("RNING_RATE 0.1", ["rning_rate 0.1"]), ("练 0", ["练 0"]), (") is not", [") is not"]),
    ("", []), ("no such text", []), ("\ud800", []),
])
def test_an_exact_text_is_found_inside_words(index, text, found):
    hits = index.scan(text)
    assert [hit.snippet[a:b] for hit in hits for a, b in hit.matches] == found
    assert index.scan(text, session="other") == [] and len(index.scan("e", limit=2)) == 2


def test_it_follows_the_log_and_never_takes_an_event_twice(index, log_path, made):
    assert index.update(log_path) == 0
    before = len(made.bodies)
    made.guide("a late hint")
    made.say(GuidanceEdited(guidance="g", text="an edited hint"))
    conn = open_log(log_path)
    with transaction(conn):
        log.append(conn, "s1", made.bodies[before:])
    assert index.update(log_path) == 2 and index.update(log_path) == 0
    assert len(index.search("hint")) == 2 and len(index.search("needle")) == 1


def test_the_cursor_moves_with_the_entries(index, log_path, made, monkeypatch, tmp_path):
    """A crash in the middle of a chunk leaves neither its entries nor its cursor."""
    fresh = SearchIndex(tmp_path / "fresh.db")
    add, calls = fresh._add, []

    def failing(*arguments):
        calls.append(arguments)
        if len(calls) == 4:
            raise MemoryError
        add(*arguments)

    monkeypatch.setattr(fresh, "_add", failing)
    with pytest.raises(MemoryError):
        fresh.update(log_path)
    assert fresh.search("needle") == []
    assert fresh.update(log_path) == len(made.bodies) and len(fresh.search("needle")) == 1
    fresh.close()


def test_a_step_is_found_by_its_title_until_its_body_arrives(tmp_path, made):
    replica = open_log(tmp_path / "replica.db")
    with transaction(replica):
        log.place(replica, "s1", 1, made.bodies)
    index = SearchIndex(tmp_path / "search.db")
    index.update(tmp_path / "replica.db")
    assert [h.where for h in index.search("learning_rate")] == ["title"] and index.search("needle") == []
    with transaction(replica):
        for data in made.blobs.values():
            blobs.put(replica, data)
    index.update(tmp_path / "replica.db")
    assert [h.where for h in index.search("learning_rate")] == ["action"] and len(index.search("needle")) == 1
    index.close()


def test_a_log_that_was_restored_and_went_another_way_is_indexed_anew(index, log_path):
    other = Maker(2)
    step(other, "a different thought")
    for _ in range(8):
        other.add_step()
    conn = open_log(log_path)
    with transaction(conn):
        forget(conn, "s1")
        fill(conn, "s1", other.bodies, other.blobs)
    index.update(log_path)
    assert index.search("needle") == [] and len(index.search("different")) == 9


def test_a_huge_output_is_found_by_its_ends(tmp_path):
    maker = Maker(3)
    step(maker, output="headword " + "x " * MAX_TEXT + "middleword " + "x " * MAX_TEXT + "tailword")
    conn = open_log(tmp_path / "log.db")
    with transaction(conn):
        fill(conn, "s", maker.bodies, maker.blobs)
    index = SearchIndex(tmp_path / "search.db")
    index.update(tmp_path / "log.db")
    assert [len(index.search(w)) for w in ("headword", "middleword", "tailword")] == [1, 0, 1]
    index.close()


def test_two_updaters_index_once(tmp_path, log_path, monkeypatch):
    """Another process may index the very chunk that this one has just read."""
    one, other = SearchIndex(tmp_path / "two.db"), SearchIndex(tmp_path / "two.db")
    read, reads = log.read, []

    def read_and_be_late(*arguments, **more):
        chunk = read(*arguments, **more)
        reads.append(chunk)
        if len(reads) == 1:
            other.update(log_path)
        return chunk

    monkeypatch.setattr(log, "read", read_and_be_late)
    one.update(log_path)
    assert len(one.search("needle")) == 1
    one.close()
    other.close()


@pytest.mark.parametrize("harm", ["garbage", "newer"])
def test_an_index_that_cannot_be_used_is_begun_anew(tmp_path, log_path, index, harm):
    path = tmp_path / "other.db"
    SearchIndex(path).close()
    if harm == "garbage":
        path.write_bytes(b"garbage " * 5000)
    else:
        conn = connect(path)
        conn.execute("INSERT INTO _sqlite_migrations VALUES (9, 'search', 'm0099', '')")
        conn.close()
    anew = SearchIndex(path)
    anew.update(log_path)
    assert len(anew.search("needle")) == 1
    anew.close()


def test_the_index_is_small_and_sound(index):
    conn = index._conn
    conn.execute("INSERT INTO word (word) VALUES ('integrity-check')")
    assert scalar(conn, "PRAGMA synchronous") == 1
    assert scalar(conn, "SELECT count(*) FROM entry") == scalar(conn, "SELECT count(*) FROM word_docsize")
