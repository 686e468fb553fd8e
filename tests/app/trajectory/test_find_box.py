"""Find sees everything drawn and folded, bodies too, in a process of its own; filters list what they say."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.eventually import eventually
from support.logs import AGENT, RULE, Maker
from support.panels import told_session, workplace

from app.desk import searcher
from app.desk.find_query import text_of_body
from app.step.panel import build as build_step
from app.trajectory import find_box
from app.trajectory.facets import Facets, choices_of
from app.trajectory.panel import build
from core.domain.events import Placed, VerdictGiven, encode_event, make_event
from core.domain.step import Action, Observation, Output, StepBody, encode_body
from core.domain.trajectory import fold
from core.domain.verdict import Author
from core.store import blobs

ADA = Author(kind="person", name="ada")


def speaking(*outputs: str) -> Maker:
    """One step per output; a waiting run of three before the last."""
    maker = Maker(4)
    for number, text in enumerate(outputs, 1):
        if number == len(outputs):
            for _ in range(3):
                maker.add_step("sleep", fails=False)
        maker.step += 1
        action = Action(call_id=f"x{number}", tool="run_command", arguments={"command": "true", "env": {"k": "v"}})
        body = StepBody(number=maker.step, thought=f"think {number}", actions=(action,), observations=(
            Observation(call_id=action.call_id, exit_code=0, output=Output(text=text)),))
        fact = maker._step_fact(body)
        maker.say(msgspec.structs.replace(fact, body=maker.keep(encode_body(body))))
    return maker


def test_everything_of_a_body_is_searched():
    body = StepBody(number=1, thought="a thought", actions=(Action(call_id="a", tool="grep", arguments={
        "pattern": "学习率", "depth": {"n": 3}}),), observations=(Observation(
            call_id="a", output=Output(text="output"), data={"rows": ["cell"]}),))
    text = text_of_body(body)
    for words in ("a thought", "grep", "学习率", '"n":3', "output", "cell"):
        assert words in text


def test_find_reaches_bodies_chinese_and_expressions(qtbot, tmp_path):
    with workplace(tmp_path, speaking("nothing", "海龟的检查点 NaN", "loss = 0.25", "loss = nan")) as (place, _):
        panel, step = build(place, None), build_step(place, None)
        for widget in (panel, step):
            qtbot.addWidget(widget)
        panel.resize(700, 500)
        panel.show()
        place.cursor.move("s1", 1)
        place.actions["go.find"].trigger()
        panel.find_box.insert("海龟")
        qtbot.waitUntil(lambda: panel.hits.text() == "1 of 1", timeout=20_000)
        assert place.cursor.step == 2
        assert len(step.text.edit.extraSelections()) > 0
        assert step.text.edit.textCursor().block().text().startswith("海龟的检查点")
        panel.find_box.clear()
        assert panel.hits.text() == ""
        panel.regex.setChecked(True)
        QTest.keyClicks(panel.find_box, r"^loss = (0|nan)")
        qtbot.waitUntil(lambda: panel.hits.text().endswith("of 2"), timeout=20_000)
        assert place.cursor.step == 3
        QTest.keyClick(panel.find_box, Qt.Key.Key_Return)
        assert place.cursor.step == 7
        assert panel.hits.text() == "2 of 2"
        QTest.keyClick(panel.find_box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
        assert place.cursor.step == 3


def test_a_hit_in_a_fold_opens_it(qtbot, tmp_path):
    maker = speaking("a", "b")
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        assert [r.kind for r in panel.list.model().rows] == ["item", "fold", "item"]
        panel.find_box.setText("sleep")
        assert [r.kind for r in panel.list.model().rows] == ["item"] * 5
        assert place.cursor.step == 2
        qtbot.waitUntil(lambda: panel.hits.text() == "1 of 3", timeout=20_000)


def test_a_long_session_is_left_to_the_worker(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(find_box, "AT_ONCE", 2)
    with workplace(tmp_path, speaking("a", "b")) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        panel.find_box.setText("sleep")
        assert panel.hits.text() == "…"
        qtbot.waitUntil(lambda: panel.hits.text() == "1 of 3", timeout=20_000)
        assert place.cursor.step == 2


def test_a_wrong_expression_and_one_that_never_ends(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(searcher, "STUCK_MS", 1_500)
    with workplace(tmp_path, speaking("a" * 60 + "!", "b")) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        panel.regex.setChecked(True)
        panel.find_box.setText("(")
        assert panel.hits.text().startswith("✗ No valid expression")
        panel.find_box.setText("(a+)+$")
        qtbot.waitUntil(lambda: "too long" in panel.hits.text(), timeout=20_000)
        panel.find_box.setText("b$")
        qtbot.waitUntil(lambda: panel.hits.text() == "1 of 1", timeout=20_000)


def test_filters_by_what_a_step_is_and_who_judged_it(qtbot, tmp_path):
    maker = told_session()
    maker.say(VerdictGiven(step=2, value="keep", reason="fine"), ADA)
    maker.say(VerdictGiven(step=5, value="unsure"), ADA)
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        place.actions["go.filter"].trigger()
        boxes = panel.filters.boxes
        boxes["outcome"].setCurrentIndex(boxes["outcome"].findData("disagree"))
        panel.filters.chosen.emit(panel.filters.facets)
        model = panel.list.model()
        assert [model.step_of_row(r) for r in range(model.rowCount())] == [2]
        assert panel.filters.count.text() == "1 of 10 steps"
        place.actions["go.filter"].trigger()
        assert model.rowCount() == 10, "what is hidden does not filter"


@pytest.mark.parametrize(("facets", "steps"), [
    (Facets(author="rule"), [2]), (Facets(author=RULE.key, outcome="keep"), []),
    (Facets(author=ADA.key), [2, 5]), (Facets(outcome="keep"), [2, 3]), (Facets(outcome="disagree"), [2]),
    (Facets(outcome="undecided"), [1, 4, 6, 7, 8, 9, 10]),
    (Facets(outcome="unjudged"), [1, 4, 5, 6, 7, 8, 9, 10]), (Facets(outcome="unsure"), [5]),
    (Facets(family="command", tool="run_command", host="main", ended="finished", outcome="unsure"), [5]),
    (Facets(tool="sleep"), []), (Facets(ended="error"), []), (Facets(host="gpu"), [])])
def test_facets(facets, steps):
    maker = told_session()
    maker.say(VerdictGiven(step=2, value="keep", reason="fine"), ADA)
    maker.say(VerdictGiven(step=5, value="unsure"), ADA)
    trajectory = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)])
    assert [trajectory.steps[at].head.number for at in facets.steps_of(trajectory)] == steps
    choices = choices_of(trajectory)
    assert choices.tools == ("run_command",)
    assert ADA.key in choices.authors


def found(panel, text: str, qtbot) -> None:
    qtbot.waitUntil(lambda: panel.hits.text() == text, timeout=20_000)


def test_hits_go_round_the_end_and_a_filter_hides_its_own(qtbot, tmp_path):
    maker = speaking("loss", "x", "loss")
    maker.say(VerdictGiven(step=6, value="mask"), RULE)
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        panel.find_box.setText("loss")
        found(panel, "1 of 2", qtbot)
        steps = []
        for key in ("go.find_next", "go.find_next", "go.find_previous"):
            place.actions[key].trigger()
            steps.append(place.cursor.step)
        assert steps == [6, 1, 6]
        panel.filter_chosen.emit("verdicts")
        assert panel.hits.text() == "1 of 1"
        place.actions["go.find_next"].trigger()
        assert place.cursor.step == 6, "the hit of a hidden step is passed over"
        panel.find_box.setText("#2")
        assert place.cursor.step == 2 and panel.hits.text() == ""
        panel.find_box.setText("#999")
        assert place.cursor.step == 2 and panel.hits.text() == "none"


def test_another_session_begins_without_words(qtbot, tmp_path):
    with workplace(tmp_path, speaking("loss"), speaking("loss")) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 1)
        panel.find_box.setText("sleep")
        assert place.cursor.sought is not None
        place.cursor.move("s2", 1)
        assert (panel.find_box.text(), panel.hits.text(), place.cursor.sought) == ("", "", None)


async def take(replica, payloads: dict[str, bytes]) -> None:
    for name, data in payloads.items():
        await replica.store_blob(name, blobs.compress(data))


async def test_what_comes_later_is_found_too(tmp_path):
    """A step that the agent adds, and a body that was not held here, while the words stand in the box."""
    maker = speaking("loss", "x", "loss")
    late = fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)]).step(6).body
    data, count = maker.blobs.pop(late), len(maker.bodies)
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        place.cursor.move("s1", 1)
        panel.find_box.setText("loss")
        await eventually(lambda: panel.hits.text() == "1 of 1")
        await take(replica, {late: data})
        await eventually(lambda: panel.hits.text() == "1 of 2")
        fact, body = maker.add_step(fails=False), encode_body(StepBody(number=7, thought="the loss again"))
        maker.bodies[-1] = encode_event(make_event(msgspec.structs.replace(fact, body=maker.keep(body)), AGENT))
        await take(replica, maker.blobs)
        await replica.place("s1", count + 1, maker.bodies[count:])
        await eventually(lambda: panel.hits.text() == "1 of 3")
        panel.deleteLater()
