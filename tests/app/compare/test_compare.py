"""Two sessions side by side: aligned on their common beginning, each step opened in its own session."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import PERSON, Maker
from support.panels import workplace

from app.compare.candidates import candidates, run_name, usual_other
from app.compare.model import ComparisonModel
from app.compare.panel import build
from core.domain.events import Branched, ScoreGiven, SessionStateChanged, encode_event, make_event
from core.domain.session import SessionRow
from core.store import log


def session(tools: str) -> Maker:
    """One step per letter, whose tool it is."""
    maker = Maker(3)
    for letter in tools:
        maker.random.seed(ord(letter))
        maker.add_step(f"tool_{letter}", fails=letter == "x")
    return maker


def test_the_row_of_the_step_that_is_read_is_the_current_one(qtbot, tmp_path):
    left, right = session("abcde"), session("abxy")
    with workplace(tmp_path, left, right) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.cursor.move("s1", 4)
        panel.chosen.emit("s2")
        assert (panel.table.currentIndex().row(), panel.table.currentIndex().column()) == (3, 0)
        place.cursor.move("s1", 2)
        assert panel.table.currentIndex().row() == 1
        panel.table.setCurrentIndex(panel.table.model().index(4, 0))
        place.desks.trajectory_changed.emit("s2")
        qtbot.wait(400)
        assert panel.table.currentIndex().row() == 4, "what comes does not pull the reader back"


def test_the_common_beginning_and_the_parting(qtbot, qtmodeltester, tmp_path):
    left, right = session("abcde"), session("abxy")
    with workplace(tmp_path, left, right) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(500, 300)
        panel.show()
        place.cursor.move("s1", 1)
        assert [panel.other.itemData(i) for i in range(panel.other.count())] == ["", "s2"]
        panel.other.setCurrentIndex(1)
        panel.chosen.emit("s2")
        model = panel.table.model()
        qtmodeltester.check(model)
        assert isinstance(model, ComparisonModel)
        assert (model.common, model.rowCount()) == (2, 5)
        assert panel.summary.text() == "The first 2 step(s) are the same."
        assert "tool_c" in model.index(2, 0).data() and "✗" in model.index(2, 1).data()
        assert model.index(4, 1).data() is None
        panel.parting.click()
        assert (place.cursor.session, place.cursor.step) == ("s1", 3)
        panel.table.setCurrentIndex(model.index(3, 1))
        QTest.keyClick(panel.table, Qt.Key.Key_Return)
        assert (place.cursor.session, place.cursor.step) == ("s2", 4)
        assert [side.session for side in model.sides] == ["s1", "s2"], "a step that is opened turns no sides round"
        assert panel.other.font().bold() and not panel.ours.font().bold(), "the one that is looked at is bold"
        panel.parting.click()
        assert (place.cursor.session, place.cursor.step) == ("s2", 3), "of the one that is looked at"
        place.cursor.move("s1", 3)
        assert panel.ours.font().bold() and not panel.other.font().bold()
        count = len(right.bodies)
        right.add_step("tool_z", fails=False)
        right.add_step("tool_z", fails=False)
        head = replica._writer.do_blocking(lambda conn: log.append(conn, "s2", right.bodies[count:]))
        place.desks.local._on_events("s2", count + 1, head)
        qtbot.waitUntil(lambda: model.rowCount() == 6)
        panel.chosen.emit("")
        assert model.rowCount() == 0


def test_steps_that_end_differently_part_and_those_of_the_same_task_are_offered_first(qtbot, tmp_path):
    other, same = session("ab"), session("a")
    same.random.seed(ord("b"))
    same.add_step("tool_b", fails=True)
    late = Maker(9)  # begun last, of another task
    late.add_step(fails=False)
    with workplace(tmp_path, other, late, same) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s1", 1)
        assert [panel.other.itemData(i) for i in range(panel.other.count())] == ["", "s3", "s2"]
        panel.chosen.emit("s3")
        model = panel.table.model()
        assert (model.common, model.rowCount()) == (1, 2)
        panel.chosen.emit("")
        place.actions["go.parting"].trigger()
        assert (panel.other.currentData(), place.cursor.step) == ("s3", 2), "beside the first other run of the task"
        asyncio.run(replica.forget("s3"))
        assert model.rowCount() == 2 and model.index(0, 1).data() is None, "the other log is another one now"


def test_two_that_grow_are_compared_where_the_comparison_ended(qtbot, tmp_path, monkeypatch):
    left, right = session("abc"), session("ab")
    with workplace(tmp_path, left, right) as (place, replica):
        model = ComparisonModel()
        sides = [place.desks.of(name).trajectory(name) for name in ("s1", "s2")]
        compared: list[int] = []
        monkeypatch.setattr("app.compare.model._act", lambda head: compared.append(head.number) or head.title)
        model.show(*sides)
        assert (model.common, compared) == (2, [1, 1, 2, 2])

        def grow(name: str, maker: Maker, tool: str) -> None:
            maker.random.seed(ord(tool))
            count = len(maker.bodies)
            maker.add_step(f"tool_{tool}", fails=tool == "x")
            head = replica._writer.do_blocking(lambda conn: log.append(conn, name, maker.bodies[count:]))
            place.desks.local._on_events(name, count + 1, head)
            qtbot.waitUntil(lambda: place.desks.of(name).trajectory(name).seq == head)
            compared.clear()
            model.refresh()

        grow("s2", right, "c")
        assert (model.common, compared) == (3, [3, 3])
        grow("s2", right, "y")
        grow("s1", left, "x")
        assert (model.common, model.rowCount()) == (3, 4)
        grow("s1", left, "z")
        assert compared == [], "they have parted: nothing is compared any more"
        assert model.rowCount() == 5


def branch(tools: str, parent: str, base: int, arm: str, score: float, state: str = "finished") -> Maker:
    """A branch of one step per letter after the steps that it shares."""
    maker = Maker(3)
    fact = Branched(parent=parent, step=base, base=base, snapshot="x", group="q", arm=arm)
    maker.bodies.insert(1, encode_event(make_event(fact, PERSON)))
    maker.step = base
    for letter in tools:
        maker.random.seed(ord(letter))
        maker.add_step(f"tool_{letter}", fails=False)
    maker.say(ScoreGiven(ordinal=1, step=maker.step, total=score))
    maker.say(SessionStateChanged(state=state))
    return maker


def test_a_group_stands_side_by_side_arm_by_arm_with_scores_and_where_each_parts(qtbot, qtmodeltester, tmp_path):
    sessions = [session("abcde"), branch("cde", "s1", 2, "with", 90.0), branch("cxy", "s1", 2, "without", 40.0),
                branch("cde", "s1", 2, "with", 96.0), branch("xyz", "s1", 2, "without", 44.0)]
    with workplace(tmp_path, *sessions) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(900, 400)
        panel.show()
        place.cursor.move("s1", 1)
        assert panel.other.itemData(1) == "group:q", "groups are offered first"
        assert "with ×2, without ×2" in panel.other.itemText(1)
        panel.chosen.emit("group:q")
        model = panel.table.model()
        qtmodeltester.check(model)
        assert [side.session for side in model.sides] == ["s1", "s2", "s4", "s3", "s5"], "ours, then arm by arm"
        assert model.same == [5, 5, 3, 2] and model.rowCount() == 5
        assert model.index(0, 1).data() == "shared step 1" and "tool_c" in model.index(2, 1).data()
        assert model.index(3, 3).data(Qt.ItemDataRole.BackgroundRole) is not None, "where it parts"
        assert panel.table.horizontalHeader().isVisible()
        assert model.headerData(1, Qt.Orientation.Horizontal).startswith("with")
        lines = panel.arms.text().splitlines()
        assert lines[0].startswith("with: 93") and "2 of 2 ended" in lines[0]
        assert lines[2].startswith("with − without: +51.0 (")
        panel.table.setCurrentIndex(model.index(3, 3))
        QTest.keyClick(panel.table, Qt.Key.Key_Return)
        assert (place.cursor.session, place.cursor.step) == ("s3", 4)
        assert model.sides[0].session == "s1", "a step of one of them leaves them as they stand"


def run(session: str, task: str, title: str = "", day: int = 1, **more: object) -> SessionRow:
    """A row of a run that began on a day."""
    return SessionRow(session=session, task=task, title=title or session, steps=3,
                      created_at=datetime(2026, 3, day, 9, 30, tzinfo=UTC), **more)  # type: ignore[arg-type]


OURS = run("ours", "eval", "eval, sample 1, epoch 1")


def test_the_usual_other_is_of_the_same_task_then_the_latest_read_then_the_newest():
    repeat, other_sample = run("repeat", "eval", "eval, sample 1, epoch 2", 2), run("b", "eval", "eval, sample 2", 9)
    worded, stranger = run("worded", "x", OURS.title, 3), run("stranger", "y", day=8)
    empty = msgspec.structs.replace(run("empty", "eval", day=9), steps=0)
    rows = [stranger, worded, other_sample, repeat, OURS, empty]
    order = [row.session for row in candidates(OURS, rows)]
    assert order == ["repeat", "b", "worded", "stranger"], "without a step there is nothing to compare"
    older = run("older", "eval", "eval, sample 1, epoch 3", 1)
    assert usual_other(OURS, [*rows, older]) == "repeat", "the newest"
    assert usual_other(OURS, [*rows, older], ["stranger", "older", "repeat"]) == "older", "the latest read of the task"
    assert usual_other(OURS, [stranger, OURS]) == "", "no run of another task unless it was read"
    assert usual_other(OURS, [stranger, OURS, run("z", "z", day=9)], ["ours", "stranger"]) == "stranger"


def test_a_session_and_its_own_subagents_are_no_two_runs_of_a_task():
    main, inner = run("main", "5c03", "Bring it up to date"), run("inner", "5c03", "Look around", caller="main")
    again = run("again", "9f1a", "Bring it up to date")
    assert usual_other(main, [main, inner]) == "" and usual_other(main, [main, inner, again]) == "again"
    nameless = [run("a", "", "One"), run("b", "", "Another")]
    assert usual_other(nameless[0], nameless) == "", "two without a name of a task have none in common"


def test_two_runs_of_one_title_have_names_of_their_own():
    names = [run_name(run(f"claude-code-{n}{'0' * 20}", "t", "A long title " * 20, n, model="m-4", score=60.0 + n))
             for n in (1, 2)]
    assert all("m-4" in name and "Mar" in name and len(name) < 140 for name in names) and names[0] != names[1]
    assert "61" in names[0] and "62" in names[1]


def test_the_run_read_before_stands_beside_where_no_other_of_the_task_is_here(qtbot, tmp_path):
    with workplace(tmp_path, Maker(1, title="One", task="one"), session("ab"), session("ac")) as (place, _):
        told: list[str] = []
        place.notices.posted.connect(lambda notice: told.append(notice.sentence))
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s2", 1)
        place.cursor.move("s3", 1)
        place.actions["go.parting"].trigger()
        assert (panel.other.currentData(), told) == ("s2", [])
        assert panel.ours.text().startswith("Reproduce the baseline · ")
