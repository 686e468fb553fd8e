"""The presets by their keys: what each has in front, where it stands, and that nothing is lost on the way."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.desktops import window
from support.eventually import eventually
from support.logs import SERVER, Maker
from support.panels import told_session
from support.window import press, settle, shown_window

from app.desk.notices import Notice
from app.window.layouts import shares
from app.window.panel_dock import GROWS_TO
from core.domain.events import AttentionRaised, SessionStateChanged
from core.protocol.operations import Guide
from core.store import outbox

SMALL = (960, 504)
"""Full HD at 200 %, less the bar that the desktop draws over a window."""

CTRL = Qt.KeyboardModifier.ControlModifier


def in_front(made) -> set[str]:
    """The panels that can be seen: shown, and not behind another tab; also those of which there is but a line."""
    return {key for key, dock in made.window.docks.items() if not dock.visibleRegion().isEmpty() and dock.isVisible()}


def area(dock) -> int:
    return dock.width() * dock.height()


@pytest.mark.parametrize(("key", "seen", "larger"), [
    (Qt.Key.Key_1, {"sessions", "trajectory", "step", "guidance", "terminals", "files"}, ("trajectory", "sessions")),
    (Qt.Key.Key_2, {"outline", "trajectory", "step", "files"}, ("step", "files")),
    (Qt.Key.Key_3, {"sessions", "compare", "charts", "step", "files"}, ("compare", "sessions")),
    (Qt.Key.Key_4, {"sessions", "export", "step"}, ("export", "step")),
    (Qt.Key.Key_5, {"queues", "queue", "brief"}, ("queue", "brief"))])
async def test_each_layout_shows_its_panels_wherever_they_were(qapp, tmp_path, key, seen, larger):
    async with window(tmp_path / "desk") as made:
        made.window.resize(1600, 1000)
        docks = made.window.docks
        docks["step"].setFloating(True)
        docks["compare"].close()
        docks["guidance"].raise_()
        made.window.activateWindow()
        await eventually(made.window.isActiveWindow)
        made.window.setFocus()
        QTest.keyClick(made.window, key, CTRL)
        await eventually(lambda: in_front(made) == seen)
        await eventually(lambda: area(docks[larger[0]]) > area(docks[larger[1]]))
        assert not any(dock.isFloating() for dock in docks.values())
        for dock in docks.values():
            dock.show()
            assert dock.isVisible(), "what waits comes when it is asked for"


@pytest.mark.parametrize(("key", "seen"), [
    (Qt.Key.Key_1, {"trajectory", "step", "guidance", "files"}), (Qt.Key.Key_2, {"trajectory", "step", "files"}),
    (Qt.Key.Key_3, {"compare", "charts", "step", "files"})])
async def test_a_small_window_has_fewer_places_and_loses_no_panel(qapp, tmp_path, key, seen):
    async with window(tmp_path / "desk") as made:
        made.window.activateWindow()
        await eventually(made.window.isActiveWindow)
        made.window.resize(*SMALL)
        QTest.keyClick(made.window, key, CTRL)
        await eventually(lambda: in_front(made) == seen)
        assert (made.window.width(), made.window.height()) == SMALL
        made.window.show_panel("files")
        await eventually(lambda: "files" in in_front(made))
        QTest.keyClick(made.window, Qt.Key.Key_B, CTRL)
        await eventually(lambda: bool(made.window.left.drawer.key))
        assert not made.window.docks[made.window.left.drawer.key].widget().visibleRegion().isEmpty()


def test_a_layout_is_found_again_as_it_was_left_and_its_key_puts_it_back(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="read") as (made, _):
        press(made, Qt.Key.Key_1, CTRL)
        made.docks["terminals"].close()
        press(made, Qt.Key.Key_2, CTRL)
        assert made.docks["terminals"].isVisible() or made.tabifiedDockWidgets(made.docks["terminals"])
        press(made, Qt.Key.Key_1, CTRL)
        assert made.docks["terminals"].isHidden() and made.layouts.current == "live"
        made.save_state()
    with shown_window(tmp_path, told_session()) as (made, place):
        assert made.layouts.current == "live" and made.docks["terminals"].isHidden()
        assert place.actions["view.live"].isChecked() and not place.actions["view.read"].isChecked()
        press(made, Qt.Key.Key_1, CTRL)
        assert made.docks["terminals"].isVisible()


def test_the_layout_that_is_shown_is_stored_at_once_for_a_window_that_is_killed(tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, _):
        made.lay_out("export")
        made.lay_out("read")
        assert made._state.value("layout") == "read"


def test_a_live_session_opens_in_live_and_an_import_in_read_unless_the_reader_chose_otherwise(tmp_path):
    over = Maker(4)
    over.say(SessionStateChanged(state="finished"))
    with shown_window(tmp_path, Maker(1), over) as (made, place):
        place.cursor.move("s2")
        assert made.layouts.current == "read"
        place.cursor.move("s1")
        assert made.layouts.current == "live"
        press(made, Qt.Key.Key_2, CTRL)
        place.cursor.move("s2")
        place.cursor.move("s1")
        assert made.layouts.current == "read", "for sessions that go on the reader chose Read"


def test_room_is_shared_as_wanted_but_nobody_goes_short_while_another_has_to_spare():
    assert shares(1000, [30, 70], [100, 100]) == [300, 700]
    assert shares(1000, [10, 90], [300, 100]) == [300, 700]
    assert shares(300, [10, 90], [300, 100]) == [30, 270], "where it cannot be helped: as wanted"


def test_in_a_small_live_window_the_box_has_its_button_and_the_list_its_rows(tmp_path):
    """The room was thought smaller than it is, and the box was cut off above its button."""
    maker = told_session()
    maker.guide("look at the loader")
    with shown_window(tmp_path, maker, layout="live") as (window, place):
        place.cursor.move("s1")
        window.resize(1440, 900)
        settle()
        pinned = window.docks["trajectory"].widget().pinned
        pinned.resize(300, 60)
        high = pinned.sizeHint().height()
        window.resize(1280, 720)
        window.lay_out("live")
        settle()
        guidance, steps = window.docks["guidance"], window.docks["trajectory"].widget()
        assert guidance._room.verticalScrollBar().maximum() == 0, "all of it is seen"
        assert steps.pinned.sizeHint().height() < high, "the task has one line in a low list"


def test_the_line_below_the_box_is_seen_in_a_small_window_too_when_a_message_is_under_way(tmp_path, qtbot):
    with shown_window(tmp_path, told_session(), layout="live") as (window, place):
        place.cursor.move("s1")
        window.resize(1280, 720)
        window.lay_out("live")
        settle()
        dock = window.docks["guidance"]
        writer = place.desks.local.replica._writer
        writer.do_blocking(lambda conn: outbox.add(conn, "s1", Guide(guidance="g9", text="Wait.")))
        place.desks.outbox_changed.emit()
        qtbot.waitUntil(lambda: dock.widget().queue.list.isVisible())
        when = dock.widget().writing.when
        qtbot.waitUntil(lambda: when.visibleRegion().boundingRect().height() == when.height())
        assert when.text().startswith("The server is not reached.")


def test_the_guidance_box_stays_whole_when_a_message_is_under_way(tmp_path, qtbot):
    maker = told_session()
    with shown_window(tmp_path, maker, layout="live") as (window, place):
        window.resize(1440, 860)
        place.cursor.move("s1")
        dock = window.docks["guidance"]
        panel = dock.widget()
        window.resizeDocks([dock], [150], Qt.Orientation.Vertical)
        settle()
        small = dock.height()
        writer = place.desks.local.replica._writer
        writer.do_blocking(lambda conn: outbox.add(conn, "s1", Guide(guidance="g9", text="Wait.")))
        place.desks.outbox_changed.emit()
        qtbot.waitUntil(lambda: dock.height() > small)
        assert panel.queue.list.isVisible() and panel.writing.isVisible()
        assert dock.height() <= GROWS_TO * window.height() + 1
        window.resizeDocks([dock], [150], Qt.Orientation.Vertical)
        settle()
        panel.queue.earlier.setChecked(True)
        settle()
        assert dock.height() <= small + 1, "nobody's own size is changed for what needs no more"


def test_what_needs_a_look_is_shown_also_where_only_lists_of_sessions_are(qtbot, tmp_path):
    maker = Maker(5, "Sailing")
    maker.add_step()
    maker.say(AttentionRaised(kind="waiting", step=1, evidence="which one?"), SERVER)
    with shown_window(tmp_path, maker, layout="queue") as (made, place):
        assert made.layouts.current == "queue"
        place.actions["go.next_session"].trigger()
        QApplication.processEvents()
        assert place.cursor.session == "s1" and made.layouts.current == "live" and made.head.isVisible()
        made.layouts.show("queue")
        made.toasts.opened.emit(Notice("done", "Written.", "s1"))
        assert made.layouts.current == "live"
