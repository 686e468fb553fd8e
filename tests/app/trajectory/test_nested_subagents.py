"""Subagents below the step that called them: opened, read through and folded by keys; rows that come stay in order."""

from __future__ import annotations

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from support.logs import PERSON, Maker, fill
from support.panels import workplace

from app.step.panel import build as build_step
from app.trajectory.model import RowTextRole
from app.trajectory.nested import NestedModel
from app.trajectory.panel import build
from core.domain.events import Branched, Placed, VerdictGiven
from core.domain.session import SessionRow
from core.domain.trajectory import Trajectory


def answer(name: str, blocks: object, **more: object) -> dict[str, object]:
    return {"type": "assistant", "message": {"id": name, "role": "assistant", "content": blocks}, **more}


def call(id: str, tool: str, given: dict[str, str]) -> list[dict[str, object]]:
    return [{"type": "tool_use", "id": id, "name": tool, "input": given}]


def result(id: str, text: str, **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": [
        {"type": "tool_result", "tool_use_id": id, "content": text}]}, **more}


SIDE = {"isSidechain": True, "agentId": "a1"}
LOG = [
    {"type": "user", "message": {"role": "user", "content": "Make it fast"}},
    answer("m0", call("t0", "Bash", {"command": "ls"})), result("t0", "p.py"),
    answer("m1", call("t1", "Task", {"prompt": "Find the loop."})),
    {"type": "user", "message": {"role": "user", "content": "Find the loop."}, **SIDE},
    answer("s1", call("t2", "Bash", {"command": "rg loop"}), **SIDE), result("t2", "p.py:3", **SIDE),
    answer("s2", "It is in p.py.", **SIDE),
    result("t1", "It is in p.py."),
    answer("m2", "Done."),
]


@pytest.fixture
def opened(qtbot, tmp_path):
    """The list and the Step panel over a run of three steps, of which the second called a subagent of two."""
    from core.formats import registry

    path = tmp_path / "run.jsonl"
    path.write_text("".join(json.dumps({**line, "sessionId": "r", "uuid": f"u{n}", "parentUuid": None,
                                        "timestamp": f"2026-03-01T10:{n:02}:00Z"}) + "\n"
                            for n, line in enumerate(LOG)))
    sessions = list(registry.read(path))
    with workplace(tmp_path / "home") as (place, replica):
        for session in sessions:
            replica._writer.do_blocking(lambda conn, s=session: fill(conn, s.session, s.bodies, {
                name: s.blobs[name] for name in s.blobs}))
        panel, step = build(place, None), build_step(place, None)
        for widget in (panel, step):
            qtbot.addWidget(widget)
        panel.resize(700, 500)
        panel.show()
        QAbstractItemModelTester(panel.list.model(), QAbstractItemModelTester.FailureReportingMode.Fatal, panel)
        place.cursor.move(sessions[0].session, 2)
        panel.list.setFocus()
        yield place, panel, step, [session.session for session in sessions]


def numbers(panel) -> list[str]:
    model = panel.list.model()
    return [model.index(row).data(RowTextRole).number for row in range(model.rowCount())]


def test_a_subagent_is_unfolded_read_and_folded_by_keys(opened):
    place, panel, step, (main, child) = opened
    assert numbers(panel) == ["1", "2", "3"]
    QTest.keyClick(panel.list, Qt.Key.Key_Right)
    assert numbers(panel) == ["1", "2", "2.1", "2.2", "3"]
    assert (place.cursor.session, place.cursor.step) == (main, 2), "to look is not to go"
    QTest.keyClick(panel.list, Qt.Key.Key_Right)
    assert (place.cursor.session, place.cursor.step) == (child, 1)
    assert step.title.text() == "Step 2.1"
    assert str(panel.list.model().index(2).data()).startswith("2.1  "), "it is read out with its number"
    assert [key for key, _, _ in panel.pinned.rows] == ["task", "caller"]
    assert (panel.pinned.rows[0][1].title, panel.pinned.rows[1][1].word) == ("Make it fast", "step 1 of 2")
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    assert (place.cursor.session, place.cursor.step) == (main, 3)
    assert numbers(panel) == ["1", "2", "2.1", "2.2", "3"], "it stays open"
    QTest.keyClick(panel.list, Qt.Key.Key_Up)
    QTest.keyClick(panel.list, Qt.Key.Key_Left)
    assert (place.cursor.session, place.cursor.step) == (main, 2), "back to the caller"
    QTest.keyClick(panel.list, Qt.Key.Key_Left)
    assert numbers(panel) == ["1", "2", "3"]


def test_steps_are_walked_through_an_open_subagent(opened):
    place, panel, _, (main, child) = opened
    place.actions["go.next_step"].trigger()
    assert (place.cursor.session, place.cursor.step) == (main, 3), "what is folded is passed over"
    place.cursor.to_step(2)
    QTest.keyClick(panel.list, Qt.Key.Key_Right)
    walked = []
    for _ in range(3):
        place.actions["go.next_step"].trigger()
        walked.append((place.cursor.session, place.cursor.step))
    assert walked == [(child, 1), (child, 2), (main, 3)]
    for _ in range(3):
        place.actions["go.previous_step"].trigger()
        walked.append((place.cursor.session, place.cursor.step))
    assert walked[3:] == [(child, 2), (child, 1), (main, 2)]


def test_a_subagent_that_is_chosen_elsewhere_stands_below_its_caller(opened):
    place, panel, _, (main, child) = opened
    place.cursor.move(child, 2)
    assert numbers(panel) == ["1", "2", "2.1", "2.2", "3"]
    row = panel.list.currentIndex().row()
    assert panel.list.model().index(row).data(RowTextRole).number == "2.2"
    panel.facets.show_filter("errors")
    panel.filter_chosen.emit("errors")
    assert numbers(panel) == [], "a filter is of the session in sight"
    panel.filter_chosen.emit("all")
    assert len(numbers(panel)) == 5
    place.actions["go.caller"].trigger()
    assert (place.cursor.session, place.cursor.step) == (main, 2)


def test_a_step_of_a_subagent_is_found_by_its_number(opened):
    place, panel, _, (_, child) = opened
    panel.find_box.setText("2.2")
    panel.find_next.emit(False)
    assert (place.cursor.session, place.cursor.step) == (child, 2)


def grown(maker: Maker, trajectory: Trajectory) -> None:
    for seq in range(trajectory.seq + 1, len(maker.bodies) + 1):
        trajectory.apply(Placed(session=trajectory.session, seq=seq, body=maker.bodies[seq - 1]))


def test_rows_that_come_stand_in_order_whichever_session_grows():
    makers = {"top": Maker(1), "sub": Maker(2), "deep": Maker(3)}
    folds = {name: Trajectory(name) for name in makers}
    makers["sub"].say(Branched(parent="top", step=2, is_call=True))
    makers["deep"].say(Branched(parent="sub", step=1, is_call=True))
    for name, maker in makers.items():
        for _ in range(3):
            maker.add_step(fails=False)
        grown(maker, folds[name])
    model = NestedModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal, model)
    model.show(folds["top"], "top")
    sub = model.open(model.root, SessionRow(session="sub", caller="top", caller_step=2, steps=3), folds["sub"])
    model.open(sub, SessionRow(session="deep", caller="sub", caller_step=1, steps=3), folds["deep"])
    order = lambda: [model.index(r).data(RowTextRole).number for r in range(model.rowCount())]  # noqa: E731
    assert order() == ["1", "2", "2.1", "2.1.1", "2.1.2", "2.1.3", "2.2", "2.3", "3"]
    for name in ("deep", "top", "sub"):
        makers[name].add_step(fails=False)
        grown(makers[name], folds[name])
        model.refresh() if name == "top" else model.refresh_beside(name)
    assert order() == ["1", "2", "2.1", "2.1.1", "2.1.2", "2.1.3", "2.1.4", "2.2", "2.3", "2.4", "3", "4"]
    makers["sub"].say(VerdictGiven(step=2, value="mask", reason="r"), PERSON)
    grown(makers["sub"], folds["sub"])
    changed = []
    model.dataChanged.connect(lambda top, bottom: changed.append((top.row(), bottom.row())))
    model.refresh_beside("sub")
    assert changed == [(7, 7)] and model.index(7).data(RowTextRole).state == "mask"
    model.activate("deep")
    model.close(sub.below[0])
    assert order() == ["1", "2", "2.1", "2.2", "2.3", "2.4", "3", "4"]
