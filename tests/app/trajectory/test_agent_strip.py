"""The strip over the list says what the agent does, what it waits for beside what such took before, and its silence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from PySide6.QtWidgets import QApplication
from support.logs import Maker
from support.window import shown_window

from app.desk.desk import Desk
from app.desk.link_status import LinkStatus
from app.guidance.view import GuidanceView
from app.trajectory import strip_controller
from app.trajectory.agent_strip import AgentStrip
from core.domain.events import NoteAdded, ScoreGiven, SessionStateChanged, StepStarted
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


def test_it_says_what_the_agent_asks_leave_for_and_takes_a_yes_or_no(qtbot, tmp_path, monkeypatch):
    maker = working()
    agent, person = Author(kind="agent", name="s1"), Author(kind="person", name="p")
    maker.say(NoteAdded(step=0, text="The agent asks for leave: rm -r build"), agent)
    maker.say(SessionStateChanged(state="paused", reason="asks_for_leave"), agent)
    maker.say(NoteAdded(step=0, text="Mine: hm"), person)
    with shown_window(tmp_path, maker, layout="live") as (made, place):
        place.cursor.move("s1")
        QApplication.processEvents()
        strip = strip_in(made)
        text = strip.text
        assert (text.head, text.waits, text.meaning) == ("Asks for leave:", "rm -r build", "attention")
        assert "Advice refuses it" in text.facts[0]
        assert strip.allow.isVisible() and strip.refuse.isVisible()
        given: list[object] = []
        monkeypatch.setattr(place.sender, "send", lambda session, op: given.append((session, op)))
        strip.allow.click()
        strip.refuse.click()
        assert given == [("s1", Control(control="resume")), ("s1", Control(control="interrupt"))]


def test_it_goes_with_the_session_s_state_and_is_not_there_for_a_saved_one(qtbot, tmp_path):
    with shown_window(tmp_path, working(state="paused"), working(state="failed"), working(state="finished"),
                      working(0)) as (made, place):
        strip = strip_in(made)
        seen = {}
        for session in ("s1", "s2", "s3", "s4"):
            place.cursor.move(session)
            QApplication.processEvents()
            seen[session] = (strip.text.meaning, strip.text.head) if strip.isVisible() else None
        assert seen["s1"] == ("muted", "Paused") and seen["s2"] == ("error", "Failed") and seen["s3"] is None
        assert seen["s4"][1] == "The first step is being thought"
        assert any(fact.startswith("started ") for fact in strip.text.facts)
