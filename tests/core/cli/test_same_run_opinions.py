"""Verdicts, notes and tags go with a run into another format, and with no other run."""

import pytest
from support import converted
from support.imported import bodies

from core.cli.log_access import reading, trajectory, writing
from core.domain.events import NoteAdded, decode_event
from core.formats.anchors import align, anchor
from core.formats.registry import read
from core.protocol.operations import AddNote, SetTag, TellTime
from core.store import log
from core.store.home import Home


def put(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return path


def show(tiphys, session):
    return tiphys("show", session, "--json").one


PAIRS = [("mini_swe_agent", "atif"), ("atif", "chat"), ("chat", "mini_swe_agent")]


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_annotations_go_with_the_run(tiphys, tmp_path, first, second) -> None:
    steps = converted.run_of(24)
    before = tiphys("import", put(tmp_path, "a", getattr(converted, first)(steps)), "--json").one
    for step, value in ((3, "mask"), (8, "mask"), (8, "keep"), (20, "mask")):
        assert tiphys("verdict", before["session"], step, value, "--reason", f"because {step}").status == 0
    other = put(tmp_path, "other", getattr(converted, second)(converted.run_of(24, "words")))
    assert tiphys("import", other, "--json").one["warnings"] == []
    path = put(tmp_path, "b", getattr(converted, second)(steps))
    after = tiphys("import", path, "--json").one
    assert after["result"] == "imported" and after["session"] != before["session"]
    assert f"said of session {before['session']}" in after["warnings"][-1]
    both = [show(tiphys, s["session"])["steps"] for s in (before, after)]
    finals = [[(s["number"], s["verdict"]["final"]) for s in t if s["verdict"]["final"] == "mask"] for t in both]
    assert finals[0] == finals[1] == [(3, "mask"), (20, "mask")]
    assert [s["verdict"] for s in both[0]] == [s["verdict"] for s in both[1]]
    assert tiphys("import", path, "--json").one["result"] == "present"
    assert show(tiphys, after["session"])["steps"] == both[1]


def test_notes_and_tags_go_too_and_those_of_the_whole_run_stay_its_own(tiphys, home, tmp_path) -> None:
    steps = converted.run_of(24)
    before = tiphys("import", put(tmp_path, "a", converted.atif(steps)), "--json").one["session"]

    async def say(authority) -> None:
        for op in (AddNote(step=3, text="a turning point"), AddNote(step=0, text="a good run"),
                   SetTag(step=20, tag="loop"), TellTime(seconds={3: 9.0})):
            await authority.do(before, op)

    writing(Home(home), say)
    after = tiphys("import", put(tmp_path, "b", converted.chat(steps)), "--json").one["session"]
    with reading(Home(home)) as conn:
        imported = trajectory(conn, after)
    assert [(e.head.number, [n.text for n in e.notes], set(e.tags)) for e in imported.steps if e.notes or e.tags] == [
        (3, ["a turning point"], set()), (20, [], {"loop"})]
    facts = [decode_event(p.body).fact for p in log_of(home, after)]
    assert [f.text for f in facts if isinstance(f, NoteAdded) and f.step == 0] == ["a good run"]
    assert not imported.spent, "time was spent on the other session"


def log_of(home, session: str):
    with reading(Home(home)) as conn:
        return list(log.read_all(conn, session))


def anchors(tmp_path, name, text):
    return [anchor(b) for b in bodies(next(iter(read(put(tmp_path, name, text)))))]


def test_steps_that_were_cut_off_or_added_do_not_shift_the_others(tmp_path) -> None:
    steps = converted.run_of(30)
    old = anchors(tmp_path, "a", converted.mini_swe_agent(steps))
    assert align(old, anchors(tmp_path, "b", converted.chat(steps[:20]))) == {n: n for n in range(20)}
    more = [*steps[:10], ("Something else entirely happens here.", "date", "Monday the ninth"), *steps[10:]]
    found = align(old, anchors(tmp_path, "c", converted.atif(more)))
    assert found == {n: n if n < 10 else n + 1 for n in range(30)}


@pytest.mark.parametrize("other", [converted.run_of(30, "words"), converted.run_of(30)[::-1]])
def test_another_run_is_not_taken_for_the_same(tmp_path, other) -> None:
    old = anchors(tmp_path, "a", converted.mini_swe_agent(converted.run_of(30)))
    assert align(old, anchors(tmp_path, "b", converted.atif(other))) == {}
    assert align([], []) == {}
