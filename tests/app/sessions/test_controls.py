"""Pause, resume, interrupt and stop say what they do before it is done; thresholds of one session are edited."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMainWindow, QMessageBox, QSpinBox
from support.eventually import eventually
from support.logs import PERSON, Maker
from support.panels import workplace

from app.sessions.branch_dialog import BranchDialog
from app.sessions.continue_dialog import ContinueDialog
from app.sessions.panel import build
from app.sessions.thresholds_dialog import ThresholdsDialog
from app.window.settings_dialog import SettingsDialog
from core.aio import TaskScope
from core.domain.attention import Thresholds
from core.domain.events import GuidanceDelivered, GuidanceQueued, SessionStateChanged, StepStarted, ThresholdsSet
from core.domain.task import Budget
from core.protocol.operations import Control, SetThresholds


class Sent:
    """In the sender's place: what would go out."""

    def __init__(self) -> None:
        self.all: list[tuple[str, object]] = []

    def send(self, session: str, op: object, **_: object) -> None:
        self.all.append((session, op))


def at_work(state: str = "running") -> Maker:
    maker = Maker(1, "Argo")
    maker.add_step()
    if state == "running":
        maker.say(StepStarted(number=2))
    else:
        maker.say(SessionStateChanged(state=state))
    return maker


def window(place, qtbot) -> QMainWindow:
    made = QMainWindow()
    qtbot.addWidget(made)
    made.setCentralWidget(build(place, made))
    made.addActions([place.actions[e.key] for e in place.actions.table])
    made.show()
    made.activateWindow()
    object.__setattr__(place, "sender", Sent())
    place.cursor.move("s1")
    return made


CTRL_SHIFT = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


@pytest.mark.parametrize(("state", "key", "control", "words"), [
    ("running", Qt.Key.Key_P, "pause", ("Step 2 is at work now", "goes on to its end", "background goes on")),
    ("running", Qt.Key.Key_I, "interrupt", ("Step 2", "Ctrl+C", "goes on with its next step")),
    ("running", None, "stop", ("Step 2", "Ctrl+C", "background ends too", "can be resumed")),
    ("paused", Qt.Key.Key_R, "resume", ("goes on with its next step",)),
    ("stopped", Qt.Key.Key_R, "resume", ("after its last step", "not run again"))])
async def test_each_control_says_what_it_does_before_it_is_done(qtbot, tmp_path, state, key, control, words):
    async with TaskScope("test") as scope:
        with workplace(tmp_path, at_work(state), scope=scope) as (place, _):
            made = window(place, qtbot)
            for agreed in (False, True):
                made.activateWindow()
                await eventually(made.isActiveWindow)
                if key is None:
                    place.actions[f"session.{control}"].trigger()
                else:
                    QTest.keyClick(made, key, CTRL_SHIFT)
                await eventually(lambda: made.findChildren(QMessageBox))
                box = made.findChildren(QMessageBox)[0]
                assert "Argo" in box.text()
                assert all(word in box.informativeText() for word in words), box.informativeText()
                assert place.sender.all == [], "nothing is done before the answer"
                QTest.keyClick(box, Qt.Key.Key_Return if agreed else Qt.Key.Key_Escape)
                await eventually(lambda: not made.findChildren(QMessageBox))
            assert place.sender.all == [("s1", Control(control=control))]
            assert words[-1] in place.actions[f"session.{control}"].toolTip() or state == "stopped"


def test_whoever_knows_is_not_asked_but_before_a_stop(qtbot, tmp_path):
    with workplace(tmp_path, at_work()) as (place, _):
        made = window(place, qtbot)
        qtbot.waitUntil(made.isActiveWindow)
        place.settings.set("sessions.ask", False)
        QTest.keyClick(made, Qt.Key.Key_P, CTRL_SHIFT)
        assert place.sender.all == [("s1", Control(control="pause"))]
        assert not place.actions["session.resume"].isEnabled()


def test_thresholds_of_one_session_are_edited_by_keyboard(qtbot, tmp_path):
    maker = at_work()
    maker.say(ThresholdsSet(thresholds=Thresholds(errors=5)), PERSON)
    with workplace(tmp_path, maker, at_work("finished")) as (place, _):
        made = window(place, qtbot)
        place.settings.set("attention.waits", 20)
        place.actions["session.thresholds"].trigger()
        dialog = made.findChild(ThresholdsDialog)
        assert dialog.boxes["errors"].value() == 5, "what stands for this session"
        box = dialog.boxes["same"]
        box.setFocus()
        box.selectAll()
        QTest.keyClicks(box, "7")
        QTest.keyClick(dialog, Qt.Key.Key_Return)
        assert place.sender.all == [("s1", SetThresholds(thresholds=Thresholds(errors=5, same=7)))]
        place.actions["session.thresholds"].trigger()
        again = next(d for d in made.findChildren(ThresholdsDialog) if d.isVisible())
        again.usual.click()
        assert again.boxes["waits"].value() == 20 and again.boxes["errors"].value() == 3
        again.reject()
        place.cursor.move("s2")
        assert not place.actions["session.thresholds"].isEnabled(), "nobody is there to ask"


def test_the_usual_thresholds_stand_in_the_settings(qtbot, tmp_path):
    with workplace(tmp_path, at_work()) as (place, _):
        made = window(place, qtbot)
        dialog = SettingsDialog(place.settings, made)
        titles = [dialog.pages.tabText(i) for i in range(dialog.pages.count())]
        dialog.pages.setCurrentIndex(titles.index("Attention"))
        counts = dialog.pages.currentWidget().findChildren(QSpinBox)
        counts[0].setValue(9)
        assert "[attention]\nerrors = 9" in place.settings.path.read_text()


def test_a_session_that_ended_goes_on_with_advice_and_more_to_use(qtbot, tmp_path):
    maker = at_work()
    maker.say(SessionStateChanged(state="finished", reason="limit_steps"))
    with workplace(tmp_path, maker) as (place, _):
        made = window(place, qtbot)
        place.actions["session.continue"].trigger()
        dialog = made.findChild(ContinueDialog)
        dialog.steps.setValue(0)
        assert not dialog.agree.isEnabled(), "the limit that ended it must grow"
        dialog.steps.setValue(20)
        dialog.hours.setValue(1.5)
        dialog.text.setFocus()
        QTest.keyClicks(dialog.text, "use the training split")
        qtbot.waitUntil(dialog.isActiveWindow)
        QTest.keyClick(dialog.text, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
        qtbot.waitUntil(lambda: bool(place.sender.all))
        [(session, op)] = place.sender.all
        assert (session, op.more, op.text) == ("s1", Budget(steps=20, wall_s=5400.0), "use the training split")
        assert op.guidance


def test_a_session_at_work_has_nothing_to_continue(qtbot, tmp_path):
    with workplace(tmp_path, at_work()) as (place, _):
        window(place, qtbot)
        assert not place.actions["session.continue"].isEnabled()


def guided() -> Maker:
    """Two steps; the second was given an advice."""
    maker = Maker(1, "Argo")
    maker.add_step()
    maker.say(GuidanceQueued(guidance="g1", text="use the training split"), PERSON)
    maker.say(GuidanceDelivered(guidance="g1", step=2))
    maker.add_step()
    return maker


def test_one_key_branches_with_without_and_with_another_advice_at_once(qtbot, tmp_path):
    with workplace(tmp_path, guided()) as (place, _):
        made = window(place, qtbot)
        place.cursor.move("s1", 1)
        qtbot.waitUntil(made.isActiveWindow)
        QTest.keyClick(made, Qt.Key.Key_B)
        dialog = made.findChild(BranchDialog)
        assert (dialog.same.isChecked(), dialog.without.isChecked()) == (True, True)
        dialog.text.setPlainText("look at the loss")
        dialog.times.setValue(2)
        assert dialog.total.text() == "6 session(s) begin."
        QTest.mouseClick(dialog.agree, Qt.MouseButton.LeftButton)
        ops = [op for _, op in place.sender.all]
        assert [(op.arm, op.without, op.text) for op in ops[::2]] == [
            ("with", (), ""), ("without", ("g1",), ""), ("other advice", ("g1",), "look at the loss")]
        assert {(op.parent, op.step, op.replays) for op in ops} == {("s1", 1, True)}
        assert len({op.group for op in ops}) == 1 and len({name for name, _ in place.sender.all}) == 6


def test_a_step_without_advice_branches_as_it_was(qtbot, tmp_path):
    with workplace(tmp_path, guided()) as (place, _):
        made = window(place, qtbot)
        place.cursor.move("s1", 2)
        place.actions["session.branch"].trigger()
        dialog = made.findChild(BranchDialog)
        assert not dialog.without.isVisible()
        dialog.same.setChecked(False)
        assert not dialog.agree.isEnabled(), "nothing is chosen"
