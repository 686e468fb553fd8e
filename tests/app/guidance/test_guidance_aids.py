"""Guidance at the real window: refused edits come back, templates, search, and what the agent did after a message."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.eventually import eventually
from support.logs import PERSON, Maker, fill
from support.panels import told_session, workplace
from support.window import CTRL, SHIFT, press, settle, shown_window
from support.wire import serving

from app.desk.desk import Desk
from app.desk.link_status import LinkStatus
from app.guidance.effect import EffectModel, numbers_of, sides_of
from app.guidance.panel import build
from app.guidance.templates import filled, line_of_template, lines_of_setting, next_place
from app.guidance.view import GuidanceView
from core.domain.events import (
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    ScoreGiven,
    SessionStateChanged,
    TakenOver,
)
from core.protocol.messages import Nak
from core.store.sqlite import connect, transaction

TYPIST = Path(__file__).parents[2] / "support" / "typist.py"


def working(guidance: int = 0, steps: int = 0, kind: str = "own") -> Maker:
    maker = Maker(5, kind=kind)
    maker.say(SessionStateChanged(state="running"))
    for _ in range(steps):
        maker.add_step()
    for number in range(guidance):
        maker.guide(f"look at loader {number}")
    return maker


def choose(panel: GuidanceView, row: int) -> None:
    panel.list.setFocus()
    panel.list.setCurrentIndex(panel.list.model().index(row))


async def grow(replica, maker: Maker) -> None:
    held = replica.head("s1")
    await replica.place("s1", held + 1, maker.bodies[held:])


async def test_an_edit_that_came_too_late_comes_back_into_the_box(tmp_path):
    maker = working(guidance=1)
    guidance = maker._waiting[0][0]
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        choose(panel, 0)
        press(window, Qt.Key.Key_E, CTRL | SHIFT)
        assert panel.box.hasFocus() and panel.box.toPlainText() == "look at loader 0"
        QTest.keyClicks(panel.box, "my better words, ")
        press(window, Qt.Key.Key_Return, CTRL)
        typed = "my better words, look at loader 0"
        replica = place.desks.of("s1").replica
        await eventually(lambda: replica.commands("s1"))
        assert panel.box.toPlainText() == ""
        maker.say(GuidanceChangeAsked(guidance=guidance, request="r1", text=typed), PERSON)
        maker.add_step()
        maker.say(GuidanceChangeRefused(guidance=guidance, request="r1", step=1))
        await grow(replica, maker)
        await eventually(lambda: panel.box.toPlainText() == typed)
        assert "to be sent as a new one" in panel.writing.hint.text()
        lines = panel.list.model().rows
        assert [line.text for line in lines] == ["look at loader 0", typed]
        assert "not taken" in lines[1].fate
        await eventually(lambda: replica.draft("s1") == typed)
        await place.scope.close()


async def test_a_refused_edit_never_takes_the_place_of_what_is_being_written(tmp_path):
    maker = working(guidance=1)
    guidance = maker._waiting[0][0]
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        choose(panel, 0)
        place.actions["guide.edit"].trigger()
        panel.box.setPlainText("changed words")
        press(window, Qt.Key.Key_Return, CTRL)
        panel.box.setPlainText("something else")
        replica = place.desks.of("s1").replica
        await eventually(lambda: replica.commands("s1"))
        [queued] = replica.waiting()
        await replica.answered(Nak(id=queued.id, cseq=1, kind="Conflict", code="already_delivered",
                                   sentence="It was delivered.", params={"step": 1}))
        await eventually(lambda: len(panel.list.model().rows) == 2)
        assert panel.box.toPlainText() == "something else"
        shown = panel.list.model().rows[1]
        assert shown.text == "changed words" and "delivered at step 1" in shown.fate
        assert shown.id == f"{guidance}/change"
        panel.box.selectAll()
        choose(panel, 1)
        press(window, Qt.Key.Key_Insert)
        assert panel.box.toPlainText() == "changed words"
        await place.scope.close()


async def test_a_template_is_filled_in_and_asks_for_the_rest(tmp_path):
    with shown_window(tmp_path, working(steps=4)) as (window, place):
        place.cursor.move("s1", 3)
        panel = window.findChild(GuidanceView)
        place.settings.set("guidance.templates", "Look at step {step} 🙂 of {task}: {why}, then {what}\nSecond\\nlines")
        menu = panel.writing.templates.menu()
        assert [a.text() for a in menu.actions()][:2] == [
            "&1  Look at step {step} 🙂 of {task}: {why}, then {what}", "&2  Second lines"]
        menu.actions()[0].trigger()
        assert panel.box.toPlainText() == "Look at step 3 🙂 of Reproduce the baseline: {why}, then {what}"
        assert panel.box.textCursor().selectedText() == "{why}"
        QTest.keyClicks(panel.box, "it fails")
        press(window, Qt.Key.Key_Tab)
        assert panel.box.textCursor().selectedText() == "{what}"
        press(window, Qt.Key.Key_Return, CTRL)
        replica = place.desks.of("s1").replica
        assert "not filled in" in panel.writing.hint.text() and not replica.commands("s1")
        QTest.keyClicks(panel.box, "stop")
        press(window, Qt.Key.Key_Return, CTRL)
        await eventually(lambda: [q.op.text for q in replica.commands("s1")] == [
            "Look at step 3 🙂 of Reproduce the baseline: it fails, then stop"])
        await eventually(lambda: panel.box.toPlainText() == "")
        QTest.keyClicks(panel.box, "literal {braces} of code")
        press(window, Qt.Key.Key_Return, CTRL)
        await eventually(lambda: len(replica.commands("s1")) == 2)
        await eventually(lambda: not panel.box.isReadOnly())
        panel.box.setPlainText("mine\nof two lines")
        next(a for a in menu.actions() if "Save this text" in a.text()).trigger()
        assert place.settings.text("guidance.templates").splitlines()[-1] == "mine\\nof two lines"
        await place.scope.close()


def test_a_template_speaks_of_the_step_that_is_looked_at(qtbot, tmp_path):
    maker = told_session()
    for ordinal, (step, total) in enumerate(((3, 40.0), (8, 60.0)), 1):
        maker.say(ScoreGiven(ordinal=ordinal, step=step, total=total))
    with workplace(tmp_path, maker) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        shown = []
        for step in (4, 5, 1, None):
            place.cursor.move("s1", step)
            panel.writing.set_draft("")
            panel.writing.template_chosen.emit("{step}: {file} at {score}")
            shown.append(panel.box.toPlainText())
        assert shown == ["4: src/a.py at 40.0", "5: b.txt at 40.0", "1: {file} at {score}", "10: src/a.py at 60.0"]


def test_the_history_is_searched_by_keys(qtbot, tmp_path):
    maker = working(guidance=3)
    maker.add_step()
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        press(window, Qt.Key.Key_H, CTRL)
        assert panel.queue.words.hasFocus()
        QTest.keyClicks(panel.queue.words, "loader 1")
        assert [line.text for line in panel.list.model().rows] == ["look at loader 1"]
        QTest.keyClicks(panel.queue.words, " nothing")
        assert "No message holds" in panel.queue.nothing.label.text()
        panel.queue.words.clear()
        assert panel.list.model().rowCount() == 3
        QTest.keyClicks(panel.queue.words, "ANSWERED")
        assert panel.list.model().rowCount() == 3


def test_the_steps_before_and_after_a_message_stand_side_by_side(qtbot, tmp_path):
    maker = working(steps=5)
    maker.guide("use the other split")
    for _ in range(12):
        maker.add_step()
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        assert not place.actions["guide.effect"].isEnabled()
        choose(panel, 0)
        press(window, Qt.Key.Key_B, CTRL | SHIFT)
        table = panel.queue.effect
        assert table.isVisible() and table.hasFocus()
        model = table.model()
        assert isinstance(model, EffectModel)
        assert [[h.number for h in side] for side in model.sides] == [[1, 2, 3, 4, 5], list(range(6, 14))]
        trajectory = place.desks.local.trajectory("s1")
        errors = sum(trajectory.step(n).head.is_error for n in range(6, 14))
        shown = model.headerData(1, Qt.Orientation.Horizontal)
        assert shown.startswith("After: 6–13") and f"{errors} error" in shown
        table.setCurrentIndex(model.index(1, 1))
        press(window, Qt.Key.Key_Return)
        assert place.cursor.step == 7
        press(window, Qt.Key.Key_B, CTRL | SHIFT)
        assert panel.list.isVisible()
        assert sides_of(trajectory, 99) == ([], []) and numbers_of([]).steps == 0


@pytest.fixture
def home(tmp_path):
    """A home whose private server ends with the test: a killed window leaves it running."""
    yield tmp_path / "home"
    for folder in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if folder.name.isdigit() and str(tmp_path / "home").encode() in (folder / "cmdline").read_bytes():
                os.kill(int(folder.name), signal.SIGKILL)


def test_a_draft_and_a_change_survive_kill_9_of_the_real_window(home):
    maker = working(kind="outside")  # a server starts no runner for it, which would find no such task
    maker.say(SessionStateChanged(state="paused"))
    maker.guide("look at loader 0")

    async def put() -> None:
        async with serving(home) as server:
            conn = connect(server.settings.home.server_db)
            with transaction(conn):
                fill(conn, "s1", maker.bodies, maker.blobs)
            conn.close()

    asyncio.run(put())

    def at_the_window(*lines: str, kill: bool) -> list[str]:
        process = subprocess.Popen([sys.executable, str(TYPIST), str(home), "s1"], stdin=subprocess.PIPE, text=True,
                                   stdout=subprocess.PIPE, cwd=TYPIST.parents[2],
                                   env={**os.environ, "PYTHONPATH": f"{TYPIST.parents[2]}"})
        answers = []
        for line in lines:
            process.stdin.write(line + "\n")
            process.stdin.flush()
            answers.append(process.stdout.readline().strip())
        if kill:
            process.kill()
        else:
            process.stdin.write("quit\n")
        process.communicate(timeout=60)
        process.wait()
        return answers

    assert at_the_window("queue 1", "type half a thought 中文", "edit and more", kill=True)[1:] == [
        "typed half a thought 中文", "edited look at loader 0and more"]
    assert at_the_window("queue 1", "box", "leave", kill=False)[1:] == [
        "box look at loader 0and more", "box half a thought 中文"]


words = st.text(st.characters(exclude_characters="{}\r\n", exclude_categories=["Cs"]), max_size=20)


@given(st.lists(words.filter(lambda t: "\\" not in t), max_size=5))
def test_templates_and_their_setting_are_the_same(texts):
    wanted = [t.strip() for t in texts if len(t.splitlines()) == 1 and t.strip()]
    assert lines_of_setting("\n".join(map(line_of_template, wanted))) == wanted
    assert filled("a {step} {why} {}", {"step": "3", "why": ""}) == "a 3 {why} {}"
    assert next_place("a {b} {c}", 4) == (6, 9) and next_place("a {b} c", 4) == (2, 5) and next_place("a") is None


@pytest.mark.parametrize("state", ["running", "paused"])
async def test_the_line_below_the_box_is_true_of_a_paused_session_too(tmp_path, monkeypatch, state):
    monkeypatch.setattr(Desk, "link", LinkStatus("online", datetime.now(UTC)))
    maker = working(steps=2)
    maker.say(SessionStateChanged(state=state))
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        panel = window.findChild(GuidanceView)
        settle()
        assert ("The session is paused." in panel.writing.when.text()) == (state == "paused")
        assert "before step 3" in panel.writing.when.text()
        await place.scope.close()


async def test_the_line_below_the_box_names_who_writes_the_next_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(Desk, "link", LinkStatus("online", datetime.now(UTC)))
    maker = working(steps=2)
    maker.say(TakenOver(person="kim", step=3))
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        when = window.findChild(GuidanceView).writing.when
        settle()
        assert when.text() == "kim writes the next steps. The agent reads it when it goes on itself."
        place.sight.desk._remembered = "kim"
        place.sight.grew.emit()
        assert when.text() == "You write the next steps. The agent reads it when you hand back."
        await place.scope.close()
