"""The presets by their keys: what each has in front, where it stands, and that nothing is lost on the way."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.desktops import window
from support.eventually import eventually
from support.panels import told_session
from support.window import press, shown_window

from app.window.layouts import shares
from app.window.panel_dock import PanelRoom

SMALL = (960, 504)
"""Full HD at 200 %, less the bar that the desktop draws over a window."""

CTRL = Qt.KeyboardModifier.ControlModifier


def in_front(made) -> set[str]:
    """The panels that can be seen: shown, and not behind another tab."""
    return {key for key, dock in made.window.docks.items() if not dock.widget().visibleRegion().isEmpty()}


def area(dock) -> int:
    return dock.width() * dock.height()


@pytest.mark.parametrize(("key", "seen", "larger"), [
    (Qt.Key.Key_1, {"sessions", "trajectory", "step", "guidance", "files", "terminals", "review"},
     ("trajectory", "sessions")),
    (Qt.Key.Key_2, {"sessions", "trajectory", "step", "review", "files"}, ("step", "files")),
    (Qt.Key.Key_3, {"sessions", "compare", "charts", "step", "files"}, ("compare", "sessions"))])
async def test_each_preset_shows_its_panels_wherever_they_were(qapp, tmp_path, key, seen, larger):
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
        assert not any(dock.isHidden() and not made.window.tabifiedDockWidgets(dock) for dock in docks.values())


@pytest.mark.parametrize(("key", "seen"), [
    (Qt.Key.Key_1, {"sessions", "trajectory", "step", "guidance"}), (Qt.Key.Key_2, {"trajectory", "step", "review"}),
    (Qt.Key.Key_3, {"compare", "charts", "step"})])
async def test_a_small_window_has_fewer_places_and_loses_no_panel(qapp, tmp_path, key, seen):
    async with window(tmp_path / "desk") as made:
        made.window.activateWindow()
        await eventually(made.window.isActiveWindow)
        made.window.resize(*SMALL)
        QTest.keyClick(made.window, key, CTRL)
        await eventually(lambda: in_front(made) == seen)
        assert (made.window.width(), made.window.height()) == SMALL
        assert all(d.isVisible() or made.window.tabifiedDockWidgets(d) for d in made.window.docks.values())


def test_what_is_laid_out_large_may_be_made_small_and_scrolls_to_what_has_the_keyboard(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        place.cursor.move("s1", 3)
        made.resize(*SMALL)
        room, rules = made.docks["review"].findChild(PanelRoom), made.docks["review"].widget().rules
        qtbot.waitUntil(lambda: room.verticalScrollBar().maximum() > 0)
        assert (made.width(), made.height()) == SMALL
        assert rules.visibleRegion().isEmpty()
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        made.docks["review"].widget().reason.setFocus()
        for _ in range(20):
            if not rules.hasFocus():
                press(made, Qt.Key.Key_Tab)
        qtbot.waitUntil(lambda: not rules.visibleRegion().isEmpty())
        press(made, Qt.Key.Key_1, CTRL)
        qtbot.waitUntil(lambda: made.docks["files"].widget().visibleRegion().isEmpty())


def test_room_is_shared_as_wanted_but_nobody_goes_short_while_another_has_to_spare():
    assert shares(1000, [30, 70], [100, 100]) == [300, 700]
    assert shares(1000, [10, 90], [300, 100]) == [300, 700]
    assert shares(300, [10, 90], [300, 100]) == [30, 270], "where it cannot be helped: as wanted"


def test_a_panel_that_comes_to_need_more_takes_it_where_the_window_is_large(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        made.resize(1400, 940)
        made.lay_out_live()
        place.cursor.move("s1", 3)
        review, room = made.docks["review"].widget(), made.docks["review"].findChild(PanelRoom)
        qtbot.waitUntil(lambda: room.height() >= review.minimumSizeHint().height())
        made.activateWindow()
        qtbot.waitUntil(made.isActiveWindow)
        before = room.height()
        press(made, Qt.Key.Key_N)
        qtbot.waitUntil(lambda: room.height() >= review.minimumSizeHint().height() > before)
        assert room.verticalScrollBar().maximum() == 0 and not review.rules.visibleRegion().isEmpty()
