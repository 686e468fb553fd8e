"""Where a letter goes is always seen, and Esc leads back to the list from wherever it is."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QApplication, QWidget
from support.eventually import eventually
from support.logs import Maker
from support.panels import told_session
from support.window import press, settle, shown_window

from app.window.layouts import LAYOUTS
from app.window.status import StatusController
from core.domain.events import SessionStateChanged


def test_esc_leads_from_every_box_back_to_the_list_and_what_was_typed_stays(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        status = StatusController(place, made.status, made)
        place.cursor.move("s1", 3)
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        steps = made.docks["trajectory"].widget().list
        place.cursor.focus_list()
        qtbot.waitUntil(steps.hasFocus)
        assert made.status.keys.text() == "Keys act on the list"
        boxes = [made.docks["guidance"].widget().box, made.docks["sessions"].widget().words,
                 made.docks["review"].widget().bar.reason.lineEdit()]
        for box in boxes:
            box.setFocus()
            qtbot.waitUntil(box.hasFocus)
            assert made.status.keys.text() == "Keys type here · Esc returns to the list"
            if box.isEnabled():
                QTest.keyClicks(box, "kept")
        press(made, Qt.Key.Key_Escape)
        qtbot.waitUntil(steps.hasFocus)
        assert boxes[2].text() == "kept"
        status.deleteLater()


def test_keys_act_on_the_sessions_where_none_is_chosen_yet(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, _place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        made.head.side.setFocus(Qt.FocusReason.TabFocusReason)
        made.focus.find_soon()
        qtbot.waitUntil(lambda: made.docks["sessions"].widget().list.hasFocus())


def test_no_button_that_judges_keeps_the_focus_when_a_session_opens(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), told_session(), layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        place.cursor.move("s1", 3)
        bar = made.docks["review"].widget().bar
        button = next(b for b in bar.findChildren(QAbstractButton)
                      if b.focusPolicy() & Qt.FocusPolicy.TabFocus and b.isVisible() and b.isEnabled())
        button.setFocus(Qt.FocusReason.TabFocusReason)
        qtbot.waitUntil(button.hasFocus)
        place.cursor.move("s2", 3)
        qtbot.waitUntil(made.docks["trajectory"].widget().list.hasFocus)
        press(made, Qt.Key.Key_Space)
        assert place.desks.of("s2").replica.commands("s2") == []
        button.setFocus(Qt.FocusReason.TabFocusReason)
        made.lay_out("compare")
        qtbot.waitUntil(lambda: QApplication.focusWidget() is not None
                        and not bar.isAncestorOf(QApplication.focusWidget()))


async def test_after_each_text_the_mode_is_the_usual_one_again(qapp, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        place.cursor.move("s1")
        panel = made.docks["guidance"].widget()
        panel.set_target("s1", "")
        panel.writing.mode.mode = "interrupt"
        panel.writing.set_draft("stop")
        panel.writing.submit()
        await eventually(lambda: panel.writing.mode.mode == "note")
        await place.scope.close()
        assert QApplication.instance() is not None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_esc_leads_to_a_list_from_everything_that_takes_keys(qtbot, tmp_path, layout):
    with shown_window(tmp_path, told_session(), layout=layout) as (made, place):
        place.cursor.move("s1", 3)
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        tried = 0
        for dock in made.docks.values():
            for widget in dock.findChildren(QWidget) if dock.isVisible() else ():
                if not (widget.isVisible() and widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus):
                    continue
                widget.setFocus()
                if QApplication.focusWidget() is not widget:
                    continue
                for _ in range(2):  # the first one may put something back, such as a filter
                    press(made, Qt.Key.Key_Escape)
                assert isinstance(QApplication.focusWidget(), QAbstractItemView), (dock.objectName(), widget)
                tried += 1
        assert tried > 5, "the layout has boxes and buttons"


def test_esc_leads_on_from_the_filter_of_a_queue_that_lists_nothing(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="queue") as (made, _):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        view = made.docks["queue"].widget()
        view.show_content("Nothing is left for you.")
        view.words.setFocus()
        press(made, Qt.Key.Key_Escape)
        assert isinstance(QApplication.focusWidget(), QAbstractItemView)


def test_enter_on_a_session_leads_the_keys_into_its_steps(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        sessions = made.docks["sessions"].widget()
        sessions.list.setFocus()
        sessions.list.setCurrentIndex(sessions.list.model().index(0, 0))
        press(made, Qt.Key.Key_Return)
        assert place.sight.session == "s1" and made.docks["trajectory"].widget().list.hasFocus()


def test_what_hides_the_list_of_sessions_leaves_the_keys_to_the_list_of_steps(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        place.cursor.move("s1", 3)
        sessions = made.docks["sessions"].widget().findChild(QAbstractItemView)
        sessions.setFocus()
        qtbot.waitUntil(sessions.hasFocus)
        made.lay_out("read")
        steps = made.docks["trajectory"].widget().list
        qtbot.waitUntil(steps.hasFocus)


def test_who_follows_the_end_goes_up_from_there_and_sees_which_step_is_read(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (made, place):
        place.cursor.move("s1")
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        steps = made.docks["trajectory"].widget().list
        place.cursor.focus_list()
        qtbot.waitUntil(steps.hasFocus)
        newest = place.sight.trajectory.steps.numbers[-1]
        assert steps.model().step_of_row(steps.delegate.read_row) == newest
        QTest.keyClick(steps, Qt.Key.Key_Up)
        assert (place.sight.step, steps.delegate.read_row) == (newest, -1), "the current row is marked alone"
        place.cursor.to_step(2)
        assert steps.delegate.read_row == -1


def test_the_count_of_a_queue_is_told_in_its_layout_alone(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (made, place):
        status = StatusController(place, made.status, made)
        place.cursor.move("s1", 3)
        place.queues.counted.emit(4, 4)
        assert made.status.place.text().startswith("at step 3 of")
        made.lay_out("queue")
        place.queues.counted.emit(1, 4)
        assert made.status.place.text() == "1 of 4 sessions"
        status.deleteLater()


def test_another_layout_gives_the_keys_to_its_list_and_where_no_step_is_read_none_is_judged(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (made, place):
        status = StatusController(place, made.status, made)
        place.cursor.move("s1", 3)
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        for layout in ("compare", "export", "queue", "read"):
            made.lay_out(layout)
            qtbot.waitUntil(lambda: made.status.keys.text() == "Keys act on the list")
            assert isinstance(QApplication.focusWidget(), QAbstractItemView)
            for key in ("review.mask", "review.note", "review.reason"):
                assert place.actions[key].isEnabled() is (layout != "queue")
            if layout == "queue":
                press(made, Qt.Key.Key_R)
                press(made, Qt.Key.Key_M)
                assert isinstance(QApplication.focusWidget(), QAbstractItemView), "no hidden box takes the keys"
        assert place.desks.of("s1").replica.commands("s1") == []
        status.deleteLater()


def test_who_walks_the_sessions_by_keys_walks_on_where_the_layout_changes(qtbot, tmp_path):
    running, over = Maker(5), told_session()
    running.say(SessionStateChanged(state="running"))
    over.finish()
    with shown_window(tmp_path, running, over, over, running, layout="live") as (made, place):
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        sessions = made.docks["sessions"].widget().list
        settle()
        sessions.setFocus()
        settle()
        passed = []
        for _ in range(3):
            press(made, Qt.Key.Key_Down)
            settle()
            passed.append((place.sight.session, made.layouts.current, place.sight.step))
        assert len({session for session, _, _ in passed}) == 3, "each key went to the list of sessions"
        assert {layout for _, layout, _ in passed} == {"live", "read"}
        assert sessions.hasFocus() and sessions.isVisible()
        press(made, Qt.Key.Key_Return)
        assert made.docks["trajectory"].widget().list.hasFocus()
