"""Attention: listed with its step, each change announced once, never in quiet hours, opened at its step; digests."""

from __future__ import annotations

from datetime import time

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QSystemTrayIcon
from support.eventually import eventually
from support.logs import SERVER, Maker
from support.panels import workplace

from app.attention.model import Alert, is_quiet
from app.attention.panel import AttentionController, build
from app.kit.entries import TwoLinesRole
from app.kit.safe_text import visible
from app.trajectory.digest_controller import digest_of
from app.trajectory.panel import build as build_trajectory
from core.domain.events import AttentionCleared, AttentionRaised, Placed, ScoreGiven
from core.domain.trajectory import fold
from core.protocol.operations import ClearAttention
from core.store import log


def alarmed(kind: str = "loop", steps: int = 6, at: int = 4) -> Maker:
    maker = Maker(5, "Sailing")
    for number in range(1, steps + 1):
        maker.add_step(fails=number == 5)
        if number == at:
            maker.say(AttentionRaised(kind=kind, step=at, evidence="ls ×9"), SERVER)  # type: ignore[arg-type]
    return maker


def grow(place, replica, session: str, maker: Maker, start: int) -> None:
    """The log gets what the maker has said since."""
    head = replica._writer.do_blocking(lambda conn: log.append(conn, session, maker.bodies[start:]))
    place.desks.local._on_events(session, start + 1, head)


def test_the_list_opens_the_very_step_and_is_worked_through(qtbot, tmp_path):
    with workplace(tmp_path, alarmed("loop", at=4), alarmed("waiting", at=2), Maker(7)) as (place, _):
        sent = []
        object.__setattr__(place, "sender", type("S", (), {"send": lambda self, *a, **k: sent.append(a)})())
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        model = panel.list.model()
        lines = [model.index(r, 0).data(TwoLinesRole) for r in range(model.rowCount())]
        assert [(t.title, t.below) for t in lines] == [("Sailing", "waits for you: ls ×9"),
                                                      ("Sailing", "repeats itself: ls ×9")]
        assert lines[0].right.startswith("step 2 · ")
        place.actions["go.next_session"].trigger()
        assert (place.cursor.session, place.cursor.step) == ("s2", 2)
        place.actions["go.next_session"].trigger()
        assert (place.cursor.session, place.cursor.step) == ("s1", 4)
        QTest.keyClick(panel.list, Qt.Key.Key_Delete)
        assert sent == [("s1", ClearAttention(kind="loop"))]
        panel.grab()


def test_each_change_is_announced_once_but_not_in_quiet_hours(qtbot, tmp_path):
    maker = alarmed("loop")
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        notices = []
        place.notices.posted.connect(notices.append)
        place.desks.rows_changed.emit()
        assert notices == [], "what was so at the start is no news"
        count = len(maker.bodies)
        maker.say(AttentionRaised(kind="stall", step=6), SERVER)
        grow(place, replica, "s1", maker, count)
        qtbot.waitUntil(lambda: bool(notices))
        place.desks.rows_changed.emit()
        assert [(n.sentence, n.about) for n in notices] == [
            ("Sailing: no progress", Alert("s1", "stall", len(maker.bodies)))]
        place.notices.opened.emit(notices[0])
        assert (place.cursor.session, place.cursor.step) == ("s1", 6)
        place.settings.set("sessions.quiet", True)
        place.settings.set("sessions.quiet_from", "00:00")
        place.settings.set("sessions.quiet_to", "23:59")
        count = len(maker.bodies)
        maker.say(AttentionRaised(kind="budget", step=6), SERVER)
        grow(place, replica, "s1", maker, count)
        qtbot.waitUntil(lambda: panel.list.model().rowCount() == 3)
        assert len(notices) == 1
        controller = panel.findChild(AttentionController)
        assert controller is not None


def say(place, replica, maker: Maker, *facts) -> None:
    """The session says these, and every panel has taken them."""
    count = len(maker.bodies)
    for fact in facts:
        maker.say(fact, SERVER)
    grow(place, replica, "s1", maker, count)
    place.desks.local._fold_changed()


def test_what_came_together_is_one_message_and_who_sees_it_or_wants_none_gets_none(qtbot, tmp_path):
    maker = alarmed("loop")
    with workplace(tmp_path, maker, Maker(7)) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        notices = []
        place.notices.posted.connect(notices.append)
        say(place, replica, maker, AttentionRaised(kind="stall", step=6), AttentionRaised(kind="budget", step=6))
        assert [n.sentence for n in notices] == ["Sailing: budget nearly used, no progress"]
        place.settings.set("sessions.notify", False)
        say(place, replica, maker, AttentionRaised(kind="waiting", step=6))
        place.settings.set("sessions.notify", True)
        panel.show()
        panel.activateWindow()
        qtbot.waitUntil(panel.isActiveWindow)
        place.cursor.move("s1", 1)
        say(place, replica, maker, AttentionRaised(kind="error_burst", step=6))
        assert len(notices) == 1
        place.cursor.move("s2")
        say(place, replica, maker, AttentionRaised(kind="finished", step=6))
        assert len(notices) == 2


def test_an_alert_that_comes_again_leads_to_its_new_step(qtbot, tmp_path):
    maker = alarmed("loop", at=4)
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        place.actions["go.next_session"].trigger()
        assert place.cursor.step == 4
        say(place, replica, maker, AttentionCleared(kind="loop"))
        assert panel.list.model().rowCount() == 0
        say(place, replica, maker, AttentionRaised(kind="loop", step=6))
        place.actions["go.next_session"].trigger()
        assert place.cursor.step == 6


@pytest.mark.parametrize("waits", [True, False])
async def test_an_alert_of_a_session_whose_events_are_still_to_come(tmp_path, waits):
    """It opens at its step as soon as that is known, unless the reader has gone elsewhere meanwhile."""
    maker = alarmed("loop", at=4)
    row = fold("s2", [Placed(session="s2", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)]).row
    with workplace(tmp_path, Maker(7)) as (place, replica):
        panel = build(place, None)
        await replica.put_rows([row])
        await eventually(lambda: panel.list.model().rowCount() == 1)
        place.actions["go.next_session"].trigger()
        assert (place.cursor.session, place.cursor.step) == ("s2", None)
        assert len(place.desks.local.trajectory("s2").steps) == 0  # as the list of steps reads it
        if not waits:
            place.cursor.move("s1")
        await replica.place("s2", 1, maker.bodies)
        await eventually(lambda: len(place.desks.local.trajectory("s2").steps) == 6)
        place.desks.local._fold_changed()
        assert (place.cursor.session, place.cursor.step) == (("s2", 4) if waits else ("s1", None))
        panel.deleteLater()


def test_a_message_of_the_computers_desktop_leads_to_the_very_step(qtbot, tmp_path, monkeypatch):
    """Where there is a tray and the window is not in front, the message is shown there, and its click opens."""
    shown = []
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "supportsMessages", staticmethod(lambda: True))
    monkeypatch.setattr(QSystemTrayIcon, "showMessage", lambda self, *message: shown.append((self, *message)))
    maker = alarmed("loop")
    with workplace(tmp_path, maker) as (place, replica):
        panel = build(place, None)
        qtbot.addWidget(panel)
        notices = []
        place.notices.posted.connect(notices.append)
        count = len(maker.bodies)
        maker.say(AttentionRaised(kind="stall", step=6, evidence="no step ended for 60 min"), SERVER)
        grow(place, replica, "s1", maker, count)
        qtbot.waitUntil(lambda: bool(shown))
        place.desks.rows_changed.emit()
        assert [message[1:3] for message in shown] == [("Sailing", "no progress")] and not notices, "once, only there"
        place.cursor.move("s1", 1)
        shown[0][0].messageClicked.emit()
        assert (place.cursor.session, place.cursor.step) == ("s1", 6)
        panel.findChild(AttentionController).notifications.show("a\u202eb", "\x1b[2J", None)
        assert shown[-1][1:3] == (visible("a\u202eb"), visible("\x1b[2J")) != ("a\u202eb", "\x1b[2J")


@pytest.mark.parametrize(("now", "start", "stop", "quiet"), [
    ("23:00", "22:00", "08:00", True), ("07:59", "22:00", "08:00", True), ("08:00", "22:00", "08:00", False),
    ("12:00", "22:00", "08:00", False), ("13:00", "12:00", "14:00", True), ("14:00", "12:00", "14:00", False),
    ("00:00", "09:00", "09:00", False)])
def test_quiet_hours(now, start, stop, quiet):
    assert is_quiet(time.fromisoformat(now), start, stop) is quiet


def test_the_digest_counts_what_is_new(qtbot, tmp_path):
    maker = alarmed(steps=3, at=2)
    maker.say(ScoreGiven(ordinal=1, step=3, total=40.0), SERVER)
    maker.guide("go on")
    for number in range(4):
        maker.add_step(fails=number == 1)
    maker.say(ScoreGiven(ordinal=2, step=7, total=55.0), SERVER)
    with workplace(tmp_path, maker, Maker(8)) as (place, _):
        place.watermarks.mark("s1", 3)
        panel = build_trajectory(place, None)
        qtbot.addWidget(panel)
        place.watermarks.arrive("s1")
        place.watermarks.mark("s1", 7)
        place.cursor.move("s1")
        assert panel.digest.label.text() == (
            "Since you looked: 4 new step(s) · 1 error(s) · 1 guidance delivered · score 40.0 → 55.0")
        walked = []
        for _ in range(3):
            place.actions["go.news"].trigger()
            walked.append(place.cursor.step)
        assert walked == [4, 5, 7], "the first new step, the one that failed, the last"
        panel.digest.go.click()
        assert place.cursor.step == 4
        assert panel.digest.isHidden()
        place.watermarks.arrive("s2")
        place.cursor.move("s2")
        assert panel.digest.isHidden(), "the first visit has nothing to compare with"
        assert digest_of(place.desks.local.trajectory("s1"), 7) is None
