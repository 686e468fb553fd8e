"""The strip over the list says what the agent does, what it waits for beside what such took before, and its silence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.logs import Maker
from support.window import shown_window

from app.desk.desk import Desk
from app.desk.link_status import LinkStatus
from app.guidance.view import GuidanceView
from app.trajectory import strip_controller
from app.trajectory.agent_strip import AgentStrip
from app.trajectory.model import RowTextRole
from app.trajectory.view import TrajectoryView
from app.window.session_head import SessionHead
from core.domain.events import ScoreGiven, SessionStateChanged, StepStarted
from core.domain.running import CHANNEL, RunningAction, encode_running
from core.domain.verdict import Author
from core.protocol.operations import Control


@pytest.fixture(autouse=True)
def link(monkeypatch) -> list[str]:
    """The state of the connection, which a test may change."""
    state, since = ["online"], datetime(2026, 3, 2, 9, 4, tzinfo=UTC)
    monkeypatch.setattr(Desk, "link", property(lambda self: LinkStatus(state[0], since)))
    return state


def test_while_its_server_is_away_nothing_is_claimed_of_it(qtbot, tmp_path, link):
    with shown_window(tmp_path, working(), layout="live") as (made, place):
        place.cursor.move("s1")
        QApplication.processEvents()
        strip = strip_in(made)
        place.desks.live_text.emit("s1", "thought", "Now")
        place.desks.rows_changed.emit()
        assert (strip.text.waits_word, strip.text.meaning) == ("thinks", "live")
        link[0] = "waiting"
        place.desks.link_changed.emit()
        assert (strip.text.waits_word, strip.text.meaning) == ("", "attention")
        assert [fact for fact in strip.text.facts if fact.startswith("not connected since")]
        assert not [fact for fact in strip.text.facts if fact.startswith("heard")]
        when = made.findChild(GuidanceView).writing.when.text()
        assert when.startswith("The server is not reached."), "what is sent waits here"
        link[0] = "online"
        place.desks.link_changed.emit()
        assert strip.text.meaning == "live" and made.findChild(GuidanceView).writing.when.text() != when


def working(steps: int = 3, state: str = "running") -> Maker:
    maker = Maker(5)
    maker.say(SessionStateChanged(state="running"))
    for _ in range(steps):
        maker.add_step("run_command", fails=False)
    maker.say(ScoreGiven(ordinal=1, step=steps or 1, total=66.0), Author(kind="server", name="server"))
    if state != "running":
        maker.say(SessionStateChanged(state=state))
    else:
        maker.say(StepStarted(number=steps + 1))
    return maker


def strip_in(window) -> AgentStrip:
    return window.findChild(AgentStrip)


def test_it_names_the_command_that_runs_and_what_such_took_before(qtbot, tmp_path):
    with shown_window(tmp_path, working(), layout="live") as (made, place):
        place.cursor.move("s1")
        QApplication.processEvents()
        strip = strip_in(made)
        assert strip.isVisible() and strip.text.head == "Working on step 4" and strip.text.scores == (66.0,)
        head = place.sight.trajectory.steps[1].head
        title = head.title.removeprefix("run_command").strip()
        took = strip_controller.times_of_such(place.sight.trajectory, RunningAction(4, "run_command", title))
        assert took is not None and took[0] <= (head.ended_at - head.started_at).total_seconds() <= took[1]
        place.desks.live_text.emit("s1", CHANNEL, encode_running(RunningAction(4, "run_command", title, 42.0)))
        assert strip.text.waits == title and "42 s so far" in strip.text.facts
        assert any(fact.startswith("such commands took ") for fact in strip.text.facts)
        assert title in strip.accessibleName() and "66.0" in strip.accessibleName()
        place.desks.live_text.emit("s1", CHANNEL, encode_running(RunningAction(4, "sleep", "5", 1.0)))
        assert strip.text.waits == "sleep 5", "five of what is said"
        place.desks.live_text.emit("s1", CHANNEL, "")
        assert not strip.text.waits
        place.desks.live_text.emit("s1", CHANNEL, "no JSON")
        assert not strip.text.waits, "what cannot be read says nothing"


def test_it_warns_since_when_nothing_was_heard_until_something_comes(qtbot, tmp_path):
    with shown_window(tmp_path, working(), layout="live") as (made, place):
        place.cursor.move("s1")
        strip_in(made)
        desk, row = place.sight.desk, place.sight.row
        old = msgspec.structs.replace(row, updated_at=datetime.now(UTC) - timedelta(seconds=300), attention=())
        controller = made.findChild(strip_controller.StripController)
        text = controller._text(old, desk.trajectory("s1"))
        assert text.meaning == "attention" and text.facts[-1].startswith("nothing heard since ")
        place.desks.live_text.emit("s1", "thought", "let me see")
        text = controller._text(old, desk.trajectory("s1"))
        assert text.meaning == "live" and text.facts[-1].startswith("heard 0 s")


def asking(question="q1", what="Clean up\ncommand: " + "rm -r build && " * 40 + "git push --force"):
    maker = working()
    maker.say(SessionStateChanged(state="paused", reason="asks_for_leave", detail=what, question=question),
              Author(kind="agent", name="s1"))
    return maker


def test_all_of_what_the_agent_asks_leave_for_is_seen_and_a_yes_is_for_that_alone(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr(strip_controller, "READ_MS", 10**7)
    with shown_window(tmp_path, asking(), layout="live") as (made, place):
        place.cursor.move("s1")
        QApplication.processEvents()
        strip, actions = strip_in(made), place.actions
        text, asked = strip.text, strip.question
        assert (text.head, text.waits_word, text.meaning) == ("Asks for leave:", "Clean up", "attention")
        assert "guidance refuses it" in text.facts[-1]
        assert asked.toPlainText().endswith("git push --force") and not asked.verticalScrollBar().maximum()
        assert strip.rect().contains(asked.geometry()) and asked.fontMetrics().lineSpacing() * 4 < asked.height()
        assert not actions["session.resume"].isEnabled(), "to go on would be a yes to it"
        given: list[object] = []
        monkeypatch.setattr(place.sender, "send", lambda session, op: given.append((session, op)))
        allow, refuse = strip.answers
        assert allow.isVisible() and refuse.isVisible()
        allow.click()
        assert not given, "a click that was meant for a question before is none to this one"
        monkeypatch.setattr(strip_controller, "READ_MS", 0)
        place.desks.rows_changed.emit()
        QTest.keyClick(made, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier)
        assert given == [("s1", Control(control="resume", answers="q1"))]
        assert not allow.isEnabled() and not refuse.isEnabled() and "on its way" in strip.text.facts[-1]


def test_a_no_bears_the_question_s_name_too_and_without_one_nothing_is_offered(qtbot, tmp_path, monkeypatch):
    with shown_window(tmp_path, asking("q2", "写一个文件 😀"), working(), layout="live") as (made, place):
        place.cursor.move("s1")
        QApplication.processEvents()
        strip = strip_in(made)
        assert strip.question.toPlainText() == "写一个文件 😀" and not strip.question.verticalScrollBar().maximum()
        assert strip.text.waits_word == "", "its title is all that there is"
        given: list[object] = []
        monkeypatch.setattr(place.sender, "send", lambda session, op: given.append(op))
        qtbot.waitUntil(strip.answers[1].isEnabled)
        strip.answers[1].click()
        assert given == [Control(control="interrupt", answers="q2")]
        place.cursor.move("s2")
        QApplication.processEvents()
        assert not strip.question.isVisible() and not place.actions["session.allow"].isEnabled()


def test_the_list_the_head_and_the_row_of_now_say_that_it_asks_and_not_that_it_runs_or_was_paused(qtbot, tmp_path):
    with shown_window(tmp_path, asking(), layout="live") as (made, place):
        place.cursor.move("s1")
        QApplication.processEvents()
        assert "asks for leave" in made.findChild(SessionHead).facts.text()
        sessions = made.docks["sessions"].widget().list.model()
        assert "asks for leave" in sessions.index(0).data(Qt.ItemDataRole.DisplayRole)
        rows = made.findChild(TrajectoryView).list.model()
        now = rows.index(rows.rowCount() - 1).data(RowTextRole)
        assert (now.tool, now.word, now.meaning) == ("now", "asks for leave", "attention")
        assert made.docks["guidance"].widget().writing.when.text().startswith("This refuses what the agent asks")


def test_it_goes_with_the_session_s_state_and_is_not_there_for_a_saved_one(qtbot, tmp_path):
    with shown_window(tmp_path, working(state="paused"), working(state="failed"), working(state="finished"),
                      working(0), working(0, state="waiting")) as (made, place):
        strip = strip_in(made)
        seen = {}
        for session in ("s1", "s2", "s3", "s5", "s4"):
            place.cursor.move(session)
            QApplication.processEvents()
            seen[session] = (strip.text.meaning, strip.text.head) if strip.isVisible() else None
        assert seen["s1"] == ("muted", "Paused") and seen["s2"] == ("error", "Failed") and seen["s3"] is None
        assert seen["s5"] == ("attention", "Waits before step 1"), "nobody thinks while it waits for a person"
        assert seen["s4"][1] == "The first step is being thought"
        assert any(fact.startswith("started ") for fact in strip.text.facts)
