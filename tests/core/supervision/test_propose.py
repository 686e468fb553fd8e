"""Rules' verdicts in a log: only what is new is said, what no longer holds is taken back, a person decides."""

from __future__ import annotations

import msgspec
from support.logs import PERSON, Maker

from core.domain.events import Placed, VerdictGiven, encode_event, make_event
from core.domain.step import decode_body
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.supervision.propose import propose
from core.supervision.rules import RULES


def session() -> Maker:
    maker = Maker(3)
    for fails in (False, True, False):
        maker.add_step(fails=fails)
    return maker


def trajectory(bodies):
    return fold("s", [Placed(session="s", seq=n, body=b) for n, b in enumerate(bodies, 1)])


def said(maker: Maker, bodies=None, rules=None):
    return propose(trajectory(bodies or maker.bodies), lambda h: decode_body(maker.blobs[h]), rules)


def test_a_second_run_says_nothing_new():
    maker = session()
    [event] = said(maker)
    assert event.author.kind == "rule" and event.author.name == "error_result" and event.author.version
    assert event.fact.step == 2 and event.fact.value == "mask" and "exit code" in event.fact.reason
    after = [*maker.bodies, encode_event(event)]
    assert trajectory(after).step(2).outcome == "mask"
    assert said(maker, after) == []


def test_a_verdict_of_an_older_version_is_said_again_and_one_that_no_longer_holds_is_taken_back():
    maker = session()
    older = Author(kind="rule", name="error_result", version="0")
    wrong = [make_event(VerdictGiven(step=s, value="mask", reason="old"), older) for s in (1, 2)]
    bodies = [*maker.bodies, *map(encode_event, wrong)]
    events = said(maker, bodies)
    assert sorted((e.fact.step, e.fact.value) for e in events) == [(1, "none"), (2, "mask")]
    final = trajectory([*bodies, *map(encode_event, events)])
    assert [s.outcome for s in final.steps] == ["undecided", "mask", "undecided"]


def test_a_person_decides_against_a_rule():
    maker = session()
    maker.say(VerdictGiven(step=2, value="keep"), PERSON)
    bodies = [*maker.bodies, *map(encode_event, said(maker))]
    assert trajectory(bodies).step(2).outcome == "keep"


def test_only_the_named_rules_speak_and_missing_bodies_are_passed_over():
    maker = session()
    assert said(maker, rules=["null_action"]) == []
    assert propose(trajectory(maker.bodies), lambda h: None) == []
    assert msgspec.structs.asdict(RULES.get()[0])["name"] in RULES.names()
