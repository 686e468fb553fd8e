"""What a key judges is what the list shows as selected and in sight: by every way there is to move and to select."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from support.eventually import eventually
from support.logs import RULE, Maker
from support.proofs import tries
from support.tally import tally
from support.window import CTRL, NONE, SHIFT, settle, shown_window, speaking

from app.kit.action_button import ActionButton
from app.review import panel as review
from app.review.bar import ReviewBar
from app.review.view import ReviewView
from app.step.view import StepView
from app.trajectory.step_list import StepList
from core.domain.events import VerdictGiven
from core.domain.step import Action, Observation, StepBody
from core.domain.verdict import Author
from core.protocol.operations import GiveVerdict

BOTH = CTRL | SHIFT
MOVES = [(key, modifiers) for key in (Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Up, Qt.Key.Key_Down,
                                      Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
         for modifiers in (NONE, CTRL, SHIFT, BOTH) if (key, modifiers) != (Qt.Key.Key_End, CTRL)]
"""Keys of the list. Ctrl+End is a command's: follow the live tail."""

COMMANDS = ("go.next_step", "go.previous_step", "go.next_error", "go.previous_error", "go.follow", "review.next",
            "review.next_disagreement")


class TwoCalls(Maker):
    """Every step has two calls."""

    def _body(self, tool: str, fails: bool) -> StepBody:
        body = super()._body(tool, fails)
        second = Action(call_id=f"d{self.step}", tool="open_file", arguments={"path": "a.py"})
        return StepBody(number=body.number, thought=body.thought, actions=(*body.actions, second),
                        observations=(*body.observations, Observation(call_id=second.call_id)))


def long_session(steps: int = 120) -> Maker:
    """Steps, folded waiting, errors, guidance and summaries, many more than the list shows."""
    made = Maker(5)
    for number in range(1, steps + 1):
        if number % 25 == 0:
            made.guide()
        made.add_step(tool="sleep" if number % 30 in (10, 11, 12, 13) else "run_command", fails=number % 17 == 0)
        if number % 40 == 0:
            made.summarise()
    return made


class Reader:
    """Somebody at the window: does things, and sees what is selected and in sight."""

    def __init__(self, window, place) -> None:
        self.window, self.place = window, place
        self.list: StepList = window.findChild(StepList)
        self.told: list[tuple[int, int, str]] = []
        self.asked = 0
        send = place.sender.send

        def hear(session, op, **more):
            if isinstance(op, GiveVerdict):
                self.told.append((op.step, op.action, op.value))
            return send(session, op, **more)

        place.sender.send = hear

    def seen(self) -> tuple[set[int], set[int]]:
        """By the view alone: the steps of the selected rows, and those of them that are wholly in sight."""
        model, chosen, whole = self.list.model(), set[int](), set[int]()
        for index in self.list.selectionModel().selectedRows():
            steps = set(model.steps_of_rows(index.row(), index.row()))
            chosen |= steps
            box = self.list.visualRect(index)
            if box.top() >= 0 and box.bottom() <= self.list.viewport().height() and box.height() > 0:
                whole |= steps
        return chosen, whole

    def do(self, chance: random.Random) -> str:
        kind = chance.choice(("key", "key", "key", "click", "wheel", "command", "held command", "brush", "filter"))
        if kind == "key":
            key, modifiers = chance.choice(MOVES)
            QTest.keyClick(self.list, key, modifiers)
            return f"{key.name} {modifiers}"
        if kind == "click":
            modifiers = chance.choice((NONE, CTRL, SHIFT))
            at = QPoint(40, chance.randrange(max(1, self.list.viewport().height())))
            QTest.mouseClick(self.list.viewport(), Qt.MouseButton.LeftButton, modifiers, at)
            return f"click {modifiers} {at}"
        if kind == "wheel":
            bar = self.list.verticalScrollBar()
            bar.setValue(chance.randint(0, bar.maximum()))
            return "wheel"
        if kind == "brush":
            first = chance.randint(1, 100)
            self.place.cursor.mark(tuple(range(first, first + chance.randint(1, 5))))
            return "brush"
        if kind == "filter":
            panel = self.list.parent().parent()
            while not hasattr(panel, "filter_chosen"):
                panel = panel.parent()
            chosen = chance.choice(("all", "all", "errors", "verdicts"))
            panel.filter_chosen.emit(chosen)
            return f"filter {chosen}"
        name = chance.choice(COMMANDS)
        if kind == "held command":  # as by Shift+J or Ctrl+J: Qt asks the keyboard what a change of the row is to mean
            QTest.keyPress(self.list, Qt.Key.Key_Shift, SHIFT)
        self.place.actions[name].trigger()
        if kind == "held command":
            QTest.keyRelease(self.list, Qt.Key.Key_Shift)
        return f"{kind} {name}"


@contextlib.contextmanager
def reading(folder, maker: Maker, monkeypatch) -> Iterator[Reader]:
    monkeypatch.setattr(review, "SETTLED_MS", 0)
    with shown_window(folder, maker, layout="read") as (window, place):
        place.cursor.move("s1", 3)
        settle()
        yield Reader(window, place)


async def test_a_judging_key_judges_what_is_selected_and_in_sight_whatever_was_done_before(tmp_path, monkeypatch):
    harm, tried, judged = [], 0, 0
    with reading(tmp_path, long_session(), monkeypatch) as reader:
        asked: list[str] = []

        async def yes_or_no(parent, question, yes, *, detail=""):
            asked.append(question)
            return False

        monkeypatch.setattr(review, "yes_or_no", yes_or_no)
        chance = random.Random(20261122)
        rounds = tries(220)
        for round in range(rounds):
            done = [reader.do(chance) for _ in range(chance.randint(1, 4))]
            settle()
            (chosen, whole), at_tail = reader.seen(), reader.place.cursor.step is None
            before = len(reader.told)
            reader.place.actions[chance.choice(("review.mask", "review.keep", "review.unsure"))].trigger()
            told = {step for step, _, _ in reader.told[before:]}
            newest = reader.place.sight.trajectory.steps.numbers[-1]
            await asyncio.sleep(0)
            tried += 1
            judged += bool(told)
            if told - (({newest} if at_tail and not chosen else set()) | (chosen & whole)):
                harm.append(f"round {round} {done}: judged {sorted(told)}, selected {sorted(chosen)}, in sight "
                            f"{sorted(whole)}")
            if told and not at_tail and told != chosen and len(reader.told) - before == len(chosen):
                harm.append(f"round {round} {done}: judged {sorted(told)} of {sorted(chosen)}")
    assert judged > rounds * 2 // 11, "most keys judge something"
    assert asked, "ranges out of sight were asked for"
    tally("judging keys after random moves, clicks and filters", tried, harm, seed="20261122")


async def test_ctrl_home_then_m_masks_one_step(tmp_path, monkeypatch):
    with reading(tmp_path, long_session(), monkeypatch) as reader:
        QTest.keyClick(reader.list, Qt.Key.Key_Down)
        QTest.keyClick(reader.list, Qt.Key.Key_Home, CTRL)
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        assert reader.told == [(1, 0, "mask")] and reader.seen()[0] == {1}
        await reader.place.scope.close()


async def test_a_step_that_was_scrolled_away_comes_back_before_it_is_judged(tmp_path, monkeypatch):
    with reading(tmp_path, long_session(), monkeypatch) as reader:
        told = []
        reader.place.notices.posted.connect(lambda notice: told.append(notice.sentence))
        reader.list.verticalScrollBar().setValue(reader.list.verticalScrollBar().maximum())
        settle()
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        assert reader.told == [] and "Step 3 was not in sight" in told[-1]
        assert reader.seen() == ({3}, {3})
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        assert reader.told == [(3, 0, "mask")]
        await reader.place.scope.close()


async def test_a_range_with_a_step_out_of_sight_is_judged_after_a_yes_only(tmp_path, monkeypatch):
    with reading(tmp_path, long_session(), monkeypatch) as reader:
        QTest.keyClick(reader.list, Qt.Key.Key_End, SHIFT)
        chosen = reader.seen()[0]
        assert len(chosen) > 100
        for answer in (False, True):
            reader.place.actions["review.mask"].trigger()
            await eventually(lambda: QApplication.activeModalWidget() is not None)
            box = QApplication.activeModalWidget()
            assert isinstance(box, QMessageBox) and "not in sight" in box.text()
            assert reader.told == []
            role = QMessageBox.ButtonRole.AcceptRole if answer else QMessageBox.ButtonRole.RejectRole
            next(b for b in box.buttons() if box.buttonRole(b) == role).click()
            await eventually(lambda: QApplication.activeModalWidget() is None)
        await eventually(lambda: {step for step, _, _ in reader.told} == chosen)
        await reader.place.scope.close()


async def test_what_a_filter_hides_is_judged_after_a_yes_only(tmp_path, monkeypatch):
    with reading(tmp_path, long_session(), monkeypatch) as reader:
        panel = reader.list.parent()
        while not hasattr(panel, "filter_chosen"):
            panel = panel.parent()
        panel.filter_chosen.emit("errors")
        settle()
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        await eventually(lambda: QApplication.activeModalWidget() is not None)
        box = QApplication.activeModalWidget()
        assert isinstance(box, QMessageBox) and "step 3" in box.text() and reader.told == []
        box.reject()
        await eventually(lambda: QApplication.activeModalWidget() is None)
        await reader.place.scope.close()


# ---- one action of a step ------------------------------------------------------------------------------

@pytest.fixture
def two_calls() -> Maker:
    made = TwoCalls(3)
    for _ in range(5):
        made.add_step(fails=False)
    return made


async def test_an_action_is_chosen_by_key_and_by_the_box_and_judged_alone(tmp_path, monkeypatch, two_calls):
    with reading(tmp_path, two_calls, monkeypatch) as reader:
        view, place = reader.window.findChild(ReviewView), reader.place
        assert view.bar.action.isVisible() and [view.bar.action.itemText(i) for i in range(3)] == [
            "The whole step", "Action 1 · run_command", "Action 2 · open_file"]
        for _ in range(2):
            QTest.keyClick(reader.list, Qt.Key.Key_I)
        assert view.bar.action.currentIndex() == 2 and place.cursor.action == 2
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        assert reader.told == [(3, 2, "mask")] and "in part" in view._final.text()
        view.bar.action.activated.emit(1)
        QTest.keyClick(reader.list, Qt.Key.Key_K)
        assert reader.told[1:] == [(3, 1, "keep")] and view._final.text() == "◐ masked in part"
        QTest.keyClick(reader.list, Qt.Key.Key_J)
        assert place.cursor.action == 0 and view.bar.action.currentIndex() == 0, "elsewhere the step is judged again"
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        assert reader.told[2:] == [(4, 0, "mask")]
        for _ in range(3):
            QTest.keyClick(reader.list, Qt.Key.Key_Z)
        assert reader.told[3:] == [(4, 0, "none"), (3, 1, "none"), (3, 2, "none")]
        assert view._final.text() == "undecided"
        await place.scope.close()


async def test_a_verdict_on_the_step_takes_those_on_actions_back_and_undo_gives_them_again(tmp_path, monkeypatch,
                                                                                       two_calls):
    with reading(tmp_path, two_calls, monkeypatch) as reader:
        QTest.keyClick(reader.list, Qt.Key.Key_I)
        QTest.keyClick(reader.list, Qt.Key.Key_M)
        reader.place.cursor.choose_action(0)
        QTest.keyClick(reader.list, Qt.Key.Key_K)
        view = reader.window.findChild(ReviewView)
        assert reader.told == [(3, 1, "mask"), (3, 0, "keep")] and view._final.text() == "✓ kept"
        QTest.keyClick(reader.list, Qt.Key.Key_Z)
        assert reader.told[2:] == [(3, 0, "none"), (3, 1, "mask")] and "in part" in view._final.text()
        await reader.place.scope.close()


async def test_the_step_and_the_list_say_which_action_is_masked(tmp_path, monkeypatch, two_calls):
    two_calls.say(VerdictGiven(step=3, action=2, value="mask"), RULE)
    with reading(tmp_path, two_calls, monkeypatch) as reader:
        model = reader.list.model()
        assert "action 2 masked" in model.index(2, 0).data() and "kept" not in model.index(1, 0).data()
        assert "action 2 masked" in reader.window.findChild(StepView).about.text()
        await reader.place.scope.close()


async def test_the_heading_of_an_action_chooses_it_by_click_and_by_key(tmp_path, monkeypatch, two_calls):
    with reading(tmp_path, two_calls, monkeypatch) as reader:
        step, place = reader.window.findChild(StepView), reader.place
        edit = step.text.edit

        def click(words: str) -> None:
            cursor = edit.document().find(words)
            assert not cursor.isNull()
            edit.setTextCursor(cursor)
            edit.ensureCursorVisible()
            cursor.clearSelection()
            edit.setTextCursor(cursor)
            at = edit.cursorRect(cursor).center()
            QTest.mouseClick(edit.viewport(), Qt.MouseButton.LeftButton, NONE, at)

        await eventually(lambda: "(2 of 2)" in edit.toPlainText())
        click("(2 of 2)")
        assert place.cursor.action == 2 and "action 2 alone is judged" in step.about.text()
        QTest.keyClick(edit, Qt.Key.Key_M)
        assert reader.told == [(3, 2, "mask")]
        click("(2 of 2)")
        assert place.cursor.action == 0 and "alone" not in step.about.text()
        click("Thought")
        assert place.cursor.action == 0, "it heads no action"
        edit.setFocus()
        edit.moveCursor(QTextCursor.MoveOperation.Start)
        for action in (1, 2):
            QTest.keyClick(edit, Qt.Key.Key_Tab)
            QTest.keyClick(edit, Qt.Key.Key_Return)
            assert place.cursor.action == action and edit.hasFocus()
        QTest.keyClick(edit, Qt.Key.Key_Backtab)
        QTest.keyClick(edit, Qt.Key.Key_Return)
        assert place.cursor.action == 1
        QTest.keyClick(edit, Qt.Key.Key_Tab)
        QTest.keyClick(edit, Qt.Key.Key_Tab)
        assert not edit.hasFocus(), "after the last heading it goes on"
        await place.scope.close()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("width", [1345, 1440, 1600])
def test_nothing_in_the_bar_lies_on_something_else_when_a_step_has_several_actions(qtbot, tmp_path, language, width):
    maker = TwoCalls(3)
    for _ in range(40):
        maker.add_step(fails=False)
    ada = Author(kind="person", name="ada")
    for step, value in ((2, "mask"), (3, "unsure"), (4, "keep")):
        maker.say(VerdictGiven(step=step, value=value), ada)
    with speaking(QApplication.instance(), language), shown_window(tmp_path, maker, layout="read") as (window, place):
        window.resize(width, 900)
        place.cursor.move("s1", place.desks.of("s1").trajectory("s1").row.steps)
        bar = window.findChild(ReviewBar)
        qtbot.waitUntil(lambda: bar.action.isVisible() and bar.parts["mask"].isVisible() and bar.width() <= width)
        QApplication.processEvents()
        parts = sorted((one.geometry() for one in bar.findChildren(
            QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly) if one.isVisible() and one.y() > 0),
            key=lambda room: room.left())
        assert all(one.right() < other.left() for one, other in pairwise(parts)), parts
        assert parts[-1].right() < width and bar.ahead.width() >= bar.ahead.sizeHint().width()
        for verdict in ("review.keep", "review.mask", "review.unsure"):
            assert any(button.isVisible() and button.text() == place.actions[verdict].iconText()
                       for button in bar.findChildren(ActionButton))
