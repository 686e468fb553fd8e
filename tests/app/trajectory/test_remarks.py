"""What was said of a whole session stands above its steps: one quiet line, opened by key, gone for other sessions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import PERSON, Maker
from support.window import press, shown_window, speaking

from app.trajectory.bars import RemarksBar
from app.trajectory.remarks import RemarksController
from app.trajectory.view import TrajectoryView
from core.domain.events import NoteAdded
from core.domain.verdict import Author
from core.store import log

IMPORT = Author(kind="import", name="swe-agent")


def remarked() -> Maker:
    maker = Maker(3)
    for _ in range(4):
        maker.add_step()
    maker.say(NoteAdded(step=0, text="Line 7 (byte 120) could not be read: it is <b>no JSON</b>."), IMPORT)
    maker.say(NoteAdded(step=0, text="The times of the steps are unknown."), IMPORT)
    return maker


def test_remarks_are_seen_where_the_session_was_open_before_the_panel_was_built(qtbot, tmp_path):
    with shown_window(tmp_path, remarked(), layout="live") as (window, place):
        place.cursor.move("s1", 2)
        view = window.findChild(TrajectoryView)
        view.remarks.show_remarks([])
        RemarksController(place, view)
        assert view.remarks.isVisible() and "could not be read" in view.remarks.label.text()


def test_remarks_stand_above_the_steps_and_are_read_by_key(qtbot, tmp_path):
    with shown_window(tmp_path, remarked(), Maker(4), layout="live") as (window, place):
        bar, action = window.findChild(RemarksBar), place.actions["view.remarks"]
        assert bar.isHidden() and not action.isEnabled()
        place.cursor.move("s1", 2)
        assert bar.isVisible() and action.isEnabled()
        assert bar.label.text() == "ⓘ Line 7 (byte 120) could not be read: it is <b>no JSON</b>."
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        bar.toggle.setFocus()
        press(window, Qt.Key.Key_Space)
        assert bar.text.isVisible() and bar.text.edit.hasFocus()
        shown = bar.text.edit.toPlainText()
        assert "it is <b>no JSON</b>.\nthe import, " in shown and "The times of the steps are unknown.\n" in shown
        QTest.keyClick(window, Qt.Key.Key_J)
        assert place.cursor.step == 3 and bar.text.isVisible(), "reading goes on below"
        action.trigger()
        assert bar.text.isHidden()
        action.trigger()
        place.cursor.move("s2")
        assert bar.isHidden() and not action.isEnabled() and not action.isChecked()


def test_a_remark_that_comes_later_is_shown_when_it_comes(qtbot, tmp_path):
    maker = Maker(5)
    maker.add_step()
    with shown_window(tmp_path, maker) as (window, place):
        place.cursor.move("s1")
        bar = window.findChild(RemarksBar)
        assert bar.isHidden()
        count = len(maker.bodies)
        maker.say(NoteAdded(step=0, text="Compare it with the run of Tuesday."), PERSON)
        writer = place.desks.local.replica._writer
        head = writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[count:]))
        place.desks.local._on_events("s1", count + 1, head)
        qtbot.waitUntil(bar.isVisible)
        assert "li, " in bar.text.edit.toPlainText()


def test_the_words_are_chinese_in_chinese(qtbot, qapp, tmp_path):
    with speaking(qapp, "zh_CN"), shown_window(tmp_path, remarked()) as (window, place):
        place.cursor.move("s1")
        bar = window.findChild(RemarksBar)
        assert bar.toggle.text() == "2 条备注"
        bar.toggle.click()
        assert "导入时，" in bar.text.edit.toPlainText()
