"""Verdicts, notes and tags go with a run into another format, and with no other run."""

import pytest
from support import converted
from support.imported import bodies

from core.formats.anchors import align, anchor
from core.formats.registry import read


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
    told = [show(tiphys, s["session"])["steps"] for s in (before, after)]
    finals = [[(s["number"], s["verdict"]["final"]) for s in t if s["verdict"]["final"] == "mask"] for t in told]
    assert finals[0] == finals[1] == [(3, "mask"), (20, "mask")]
    assert [s["verdict"] for s in told[0]] == [s["verdict"] for s in told[1]]
    assert tiphys("import", path, "--json").one["result"] == "present"
    assert show(tiphys, after["session"])["steps"] == told[1]


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
