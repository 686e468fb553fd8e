"""The list of sessions: filtered by typed queries, filters saved in the settings file, ordered, all by keyboard."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QInputDialog, QPushButton
from support.eventually import eventually
from support.logs import SERVER, Maker
from support.panels import workplace

from app.desk.saved_filters import SavedFilter, read_filters, write_filters
from app.desk.watermarks import Watermarks
from app.kit import quantities, theme
from app.sessions.model import SessionsModel
from app.sessions.panel import build
from app.sessions.shared_title import Titles, elided
from core.domain.events import AttentionRaised, SessionCreated, SessionStateChanged, make_event
from core.domain.session import SessionRow, advance
from core.domain.session_query import Candidate, InReview, SessionQuery
from core.domain.task import Limits, Task
from core.protocol.operations import ClearAttention

START = datetime(2026, 3, 1, tzinfo=UTC)
ROW = SessionRow(session="s1", title="Sail to Kolchis", task="argo", model="glm-4.5", state="running", steps=40,
                 errors=3, cost_usd=2.5, attention=("loop",))


@pytest.mark.parametrize(("query", "passes"), [
    ("", True), ("sail kolchis", True), ("sail troy", False), ("-troy", True), ('"to kol"', True), ('"kol to"', False),
    ("state:unn", False),
    ("state:run", True), ("state:fin", False), ("-state:finished", True), ("is:attention", True), ("is:new", True),
    ("is:imported", False), ("is:live", True), ("is:guided", False), ("attention:loop", True), ("server:lab", True),
    ("server:farm", False), ("lab", True), ("model:GLM", True), ("task:arg", True), ("cost>2", True),
    ("cost>=3", False), ("steps=40 errors<4", True), ("score>0", False), ("score<100", False), ("tokens>1", False),
    ("is:nothing", False), ("score:failed", False), ("score:none", True), ("-score:none", False),
    ("steps>x", False), ("- ", True), ('"', True), ("format:live", True)])
def test_a_query_is_understood_and_nothing_typed_is_an_error(query, passes):
    assert SessionQuery(query).passes(Candidate(ROW, "lab", 4)) is passes


@pytest.mark.parametrize(("query", "passes"), [
    ("judged<50%", True), ("judged<42%", False), ("judged>=17", True), ("judged>17", False), ("is:undecided", True),
    ("-is:undecided", False), ("is:done", False), ("assigned:me", True), ("assigned:KIM", True), ("assigned:li", False),
    ("assigned:nobody", False), ("queue:claims", True), ('queue:"Claims and errors"', True), ("queue:leaks", False),
    ('-queue:"data leaks" judged>1', True), ("steps<50%", False)])
def test_a_query_knows_queues_and_progress(query, passes):
    review = InReview(17, 40, ("Claims and errors", "EAGLE-2"), ("kim", "me@lab"), is_mine=True)
    assert SessionQuery(query).passes(Candidate(ROW, "lab", 4, lambda: review)) is passes


def test_saved_filters_are_readable_lines():
    filters = [SavedFilter("Mine = all", "state:running is:new"), SavedFilter("x", "cost>2")]
    assert write_filters(filters) == "Mine all = state:running is:new\nx = cost>2"
    assert read_filters("a = b\n\nno sign\n = x\na = c") == [SavedFilter("a", "c")]


def rows() -> list[SessionRow]:
    def made(name: str, day: int, **more) -> SessionRow:
        at = START + timedelta(days=day)
        heard = at + timedelta(hours=more.pop("h", 1))
        return SessionRow(session=name, title=name, created_at=at, updated_at=heard, **more)

    return [made("b", 1, steps=9, h=90), made("a", 2, steps=2, attention=("stall",)), made("c", 3, steps=5),
            made("d", 0, attention=("waiting",))]


def test_orders_and_what_is_read_keeps_its_place(tmp_path, qtmodeltester):
    watermarks = Watermarks(tmp_path / "looked.json")
    for name, seen in (("a", 1), ("b", 2), ("c", 5)):
        watermarks.mark(name, seen)
    model = SessionsModel(watermarks)
    model.show(rows())
    orders = {}
    for order in ("begun", "attention", "new", "heard", "name"):
        model.set_order(order)
        orders[order] = "".join(r.session for r in model.rows)
    assert orders == {"begun": "cabd", "attention": "dacb", "new": "bacd", "heard": "bcad", "name": "abcd"}
    model.set_order("attention")
    calm = [SessionRow(session=r.session, title=r.title, created_at=r.created_at) for r in rows()]
    model.show([*calm, SessionRow(session="e")], hold=True)
    assert [r.session for r in model.rows] == ["e", "d", "a", "c", "b"], "the rest stands where it stood"
    model.show(calm)
    assert [r.session for r in model.rows] == ["c", "a", "b", "d"]
    qtmodeltester.check(model)


def session(title: str, seed: int, *facts) -> Maker:
    maker = Maker(seed, title)
    for _ in range(3):
        maker.add_step(fails=False)
    for fact in facts:
        maker.say(fact, SERVER)
    return maker


def test_what_was_seen_before_a_visit_holds_for_all_of_it(tmp_path):
    watermarks = Watermarks(tmp_path / "looked.json")
    watermarks.mark("s1", 3)
    at_arrival = []
    for session, seen in (("s1", 7), ("s1", 9), ("s2", 2), ("s1", 9)):
        watermarks.arrive(session)
        at_arrival.append(watermarks.at_arrival("s1"))
        watermarks.mark(session, seen)
    assert at_arrival == [3, 3, 9, 9], "going to another step is no new visit"


async def test_who_looks_back_has_not_seen_what_came_since_and_attention_is_taken_off_by_hand(tmp_path):
    argo = session("Argo", 1, AttentionRaised(kind="loop", step=2), AttentionRaised(kind="budget", step=3))
    with workplace(tmp_path, argo, session("Troy", 2)) as (place, replica):
        panel = build(place, None)
        seen = [place.watermarks.steps("s1")]

        async def grow() -> None:
            count = len(argo.bodies)
            argo.add_step(fails=False)
            await replica.place("s1", count + 1, argo.bodies[count:])
            place.desks.local._fold_changed()
            seen.append(place.watermarks.steps("s1"))

        place.cursor.move("s1")
        await grow()  # at the live tail
        place.cursor.to_step(2)
        await grow()
        place.cursor.move("s2")
        assert seen == [None, 4, 4]
        assert Watermarks(place.home.path / "looked.json").steps("s1") == 4, "stored on disk when it is left"
        acted = place.actions["session.clear_attention"]
        assert not acted.isEnabled()
        place.cursor.move("s1")
        acted.trigger()
        await eventually(lambda: not place.sender.storing)
        assert {q.op for q in replica.commands()} == {ClearAttention(kind="loop"), ClearAttention(kind="budget")}
        panel.deleteLater()


def test_the_whole_list_by_keyboard(qtbot, tmp_path):
    argo = session("Argo", 1, AttentionRaised(kind="loop", step=2))
    with workplace(tmp_path, argo, session("Ithaka", 2, SessionStateChanged(state="finished")),
                   session("Troy", 3)) as (place, _):
        panel = build(place, None)
        panel.addActions([place.actions[e.key] for e in place.actions.table])
        qtbot.addWidget(panel)
        panel.resize(300, 400)
        panel.show()
        panel.activateWindow()
        qtbot.waitUntil(panel.isActiveWindow)
        model = panel.list.model()

        def titles() -> list[str]:
            return [r.title for r in model.rows]

        assert titles() == ["Troy", "Ithaka", "Argo"]
        QTest.keyClick(panel, Qt.Key.Key_S)
        assert panel.words.hasFocus()
        panel.resize(210, 400)
        QTest.keyClicks(panel.words, "Ogygia")
        assert titles() == [] and panel.nothing.isVisible() and panel.count.text() == "0 of 3"
        assert panel.minimumSizeHint().width() <= 210, "the count leaves room for the order"
        panel.nothing.findChild(QPushButton).click()
        assert len(titles()) == 3 and panel.list.isVisible() and panel.count.text() == ""
        panel.resize(300, 400)
        QTest.keyClick(panel, Qt.Key.Key_S)
        QTest.keyClicks(panel.words, "-state:finished steps>2")
        assert titles() == ["Troy", "Argo"] and panel.count.text() == "2 of 3"
        place.actions["session.save_filter"].trigger()
        dialog = panel.window().findChild(QInputDialog)
        QTest.keyClicks(dialog.findChild(type(panel.words)), "Going on")
        QTest.keyClick(dialog.findChild(type(panel.words)), Qt.Key.Key_Return)
        assert 'Going on = -state:finished steps>2' in place.settings.path.read_text()
        assert panel.chips.chips[-1].isChecked() and not place.actions["session.save_filter"].isEnabled()
        QTest.keyClick(panel.words, Qt.Key.Key_Escape)
        assert len(titles()) == 3
        first = panel.chips.chips[0]
        first.setFocus()
        QTest.keyClick(first, Qt.Key.Key_Space)
        assert (panel.words.text(), titles()) == ("is:attention", ["Argo"])
        QTest.keyClick(panel.words, Qt.Key.Key_Down)
        assert panel.list.hasFocus() and place.cursor.session == "s1"
        panel.words.setText("Ogygia")
        first.setFocus()
        QTest.keyClick(first, Qt.Key.Key_Escape)
        assert len(titles()) == 3, "Esc shows all, as the button says, wherever the keys are"
        panel.list.setFocus()
        last = panel.chips.chips[-1]
        QTest.keyClick(last, Qt.Key.Key_Delete)
        assert [c.text() for c in panel.chips.chips] == ["Needs you", "New", "Running"]
        panel.words.clear()
        panel.list.clearFocus()
        by_name = next(a for a in panel.order.menu().actions() if a.text() == "By name")
        by_name.trigger()
        assert titles() == ["Argo", "Ithaka", "Troy"] and place.cursor.session == "s1"
        assert panel.list.currentIndex().row() == 0
        assert 'order = "name"' in place.settings.path.read_text()
        panel.grab()


def numbers(row: SessionRow, folder) -> tuple[str, float | None]:
    model = SessionsModel(Watermarks(folder / "looked.json"))
    line = model.line(row)
    return line.numbers, line.used


def test_the_session_that_is_looked_at_stays_whole_where_the_list_gets_lower(qtbot, tmp_path):
    with workplace(tmp_path, *(session(f"run {n}", n) for n in range(1, 31))) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(300, 500)
        panel.show()
        place.cursor.move("s1", 1)

        def in_sight():
            return panel.list.viewport().rect().contains(panel.list.visualRect(panel.list.currentIndex()))

        qtbot.waitUntil(in_sight)
        panel.resize(300, 470)
        assert not in_sight()
        qtbot.waitUntil(in_sight)
        panel.list.scrollToTop()
        panel.resize(300, 400)
        QApplication.processEvents()
        assert not in_sight(), "who scrolled finds the list where it was"


def test_progress_towards_the_known_limits_shows_while_a_session_goes_on(tmp_path):
    limits = Limits(steps=400, tokens=2_000_000, cost_usd=5.0)
    row = SessionRow(session="s", state="running", steps=40, tokens=12_345, cost_usd=4.6, limits=limits)
    assert numbers(row, tmp_path) == (
        "40 step(s) of 400 · $4.60 of $5.00 · 12.3k tokens of 2.00M", pytest.approx(0.92)), "the most used limit"
    assert numbers(structs.replace(row, limits=Limits(steps=None)), tmp_path) == (
        "40 step(s) · $4.60 · 12.3k tokens", None)
    for other in (structs.replace(row, state="finished"), structs.replace(row, limits=None)):
        assert numbers(other, tmp_path) == ("40 step(s) · $4.60 · 12.3k tokens", None), "ended, or not known"


@pytest.mark.parametrize(("origin", "known"), [("live", True), ("swe-agent", False)])
def test_the_limits_come_with_the_session_and_none_is_made_up_for_an_import(origin, known):
    task = Task(id="t", title="T", description="d", limits=Limits(steps=7))
    row = advance(SessionRow(session="s"), 1, make_event(SessionCreated(task=task, origin=origin), SERVER))
    assert row.limits == (Limits(steps=7) if known else None)
    row = advance(SessionRow(session="s", origin="tiphys"), 1, make_event(SessionCreated(task=task), SERVER))
    assert row.limits is None, "an imported archive of a live session goes on nowhere"


def test_what_is_used_is_drawn_under_the_session(qtbot, tmp_path):
    maker = Maker(3, "Sailing")
    for _ in range(3):
        maker.add_step(fails=False)
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.resize(400, 300)
        panel.show()
        model = panel.list.model()
        drawn = []
        for limit in (None, 6, 3):
            [row] = place.desks.rows()
            model.show([structs.replace(row, limits=Limits(steps=limit))])
            rect = panel.list.visualRect(model.index(0, 0))
            picture = panel.list.viewport().grab().toImage()
            inks = [picture.pixelColor(x, rect.bottom() - 1).name() for x in range(rect.width())]
            drawn.append({n: inks.count(theme.colour(n).name()) / rect.width() for n in ("muted", "attention")})
        assert drawn[0] == {"muted": 0, "attention": 0}
        assert drawn[1]["muted"] == pytest.approx(0.5, abs=0.01) and not drawn[1]["attention"]
        assert drawn[2] == {"muted": 0, "attention": 1}
        assert "of 3" in model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)


def test_runs_of_one_name_are_told_apart_where_the_list_is_narrow(qapp, tmp_path):
    model = SessionsModel(Watermarks(tmp_path / "seen.json"))
    line = model.line(structs.replace(ROW, origin="inspect", task="sample 7", began_at=START))
    when = quantities.short_day_and_minute(START)
    assert line.about.split(" · ") == [when, "glm-4.5", "sample 7"]
    assert line.numbers.endswith(" · Inspect"), "which format it is of tells fewer apart"


def test_titles_that_begin_alike_are_cut_where_they_are_alike():
    titles = {"a": "oxdna simple default epoch 5", "b": "oxdna simple default epoch 16", "e": "Another",
              "c": "Fix it: the parser fails", "d": "Fix it: the palette is blue"}
    among = Titles(titles.values())
    common = {name: among.shared(title) for name, title in titles.items()}
    cut = {name: elided(title, common[name], 22, len) for name, title in titles.items()}
    assert cut["a"] == "oxdna simple… epoch 5" and cut["b"] == "oxdna simple… epoch 16"
    assert cut["c"].endswith("… parser fails") and cut["d"].endswith("… palette is blue") and cut["e"] == "Another"
    assert elided(titles["a"], common["a"], 40, len) == titles["a"], "what fits is not cut"
    assert Titles(["The same words again"] * 2).shared("The same words again") == 0, "nothing tells these apart"


@pytest.mark.parametrize(("score", "failed"), [(0.0, True), (-3.0, True), (0.5, False), (None, False)])
def test_a_run_failed_that_was_scored_and_gained_nothing(score, failed):
    assert SessionQuery("score:failed").passes(Candidate(structs.replace(ROW, score=score))) is failed


def test_what_goes_on_says_for_how_long_until_now_and_what_waits_before_what_it_cost(tmp_path):
    model = SessionsModel(Watermarks(tmp_path / "looked.json"))
    began = datetime.now(UTC) - timedelta(minutes=48, seconds=20)
    row = structs.replace(ROW, began_at=began, ended_at=began + timedelta(seconds=90), guidance_waiting=2, tokens=5)
    line = model.line(row)
    assert (line.word, line.about) == ("running", "48 min · glm-4.5"), "its last step ended long ago: it works on"
    assert line.numbers.split(" · ")[1:] == ["2 guidance waiting", "$2.50", "5 tokens"]
    over = model.line(structs.replace(row, state="finished", guidance_waiting=0))
    assert over.about == "1 min 30 s · glm-4.5"
    assert quantities.minutes(5) == "< 1 min" and quantities.minutes(7_500) == "2 h 05 min"


@pytest.mark.parametrize(("changes", "word", "attention"), [
    ({"held_by": "kim"}, "kim acts", "! repeats itself"),
    ({"held_by": "kim", "state": "paused"}, "paused", "! repeats itself"),
    ({"state": "paused", "reason": "asks_for_leave", "attention": ("waiting",)}, "asks for leave", ""),
    ({"state": "waiting", "reason": "guidance", "attention": ("waiting",)}, "waiting", "! waits for you")])
def test_who_acts_and_what_asks_is_said_and_nothing_twice(tmp_path, changes, word, attention):
    line = SessionsModel(Watermarks(tmp_path / "looked.json")).line(structs.replace(ROW, **changes))
    assert (line.word, line.attention) == (word, attention)


def test_a_term_that_is_none_is_named_where_nothing_is_listed(qtbot, tmp_path):
    with workplace(tmp_path, Maker(1)) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.words.setText("is:running")
        assert panel.nothing.label.text() == "“is:running” is no term of a filter, so it is looked for as a word."
        panel.words.setText("nowhere")
        assert panel.nothing.label.text() == "No session passes the filter."
