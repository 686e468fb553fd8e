"""Ctrl+K finds every command and panel and does it; F6 goes from panel to panel."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.panels import told_session
from support.window import CTRL, SHIFT, press, shown_window

from app.window.palette_controller import PaletteController
from app.window.palette_dialog import Palette
from app.window.panels import PANELS


def opened(window, qtbot) -> Palette:
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    press(window, Qt.Key.Key_K, CTRL)
    palette = [p for p in window.findChildren(Palette) if p.isVisible()][-1]
    qtbot.waitUntil(palette.box.hasFocus)
    return palette


def test_every_action_and_panel_is_there(qtbot, tmp_path):
    with shown_window(tmp_path, told_session()) as (window, place):
        commands = window.findChild(PaletteController).commands()
        names = {c.action.objectName() for c in commands if c.action.objectName()}
        assert names == {e.key for e in place.actions.table}
        assert [c.action.text() for c in commands if c.place == "Panel"] == [p.shown_title for p in PANELS]
        in_menus = {action.objectName() for menu in window.menuBar().findChildren(type(window.menuBar().addMenu("x")))
                    for action in menu.actions()}
        assert {e.key for e in place.actions.table if e.menu} <= in_menus
        assert [e.key for e in place.actions.table if not e.menu] == []


def test_a_command_is_found_by_some_letters_and_done(qtbot, tmp_path):
    with shown_window(tmp_path, told_session()) as (window, place):
        place.cursor.move("s1", 3)
        palette = opened(window, qtbot)
        QTest.keyClicks(palette.box, "next ste")
        assert palette.table.currentIndex().data() == "Go › Next step"
        assert palette.model.index(0, 1).data() == "J  Alt+Down"
        press(window, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: place.cursor.step == 4)
        palette = opened(window, qtbot)
        QTest.keyClicks(palette.box, "zzz")
        assert palette.nothing.isVisible() and palette.model.rowCount() == 0
        press(window, Qt.Key.Key_Return)
        press(window, Qt.Key.Key_Escape)
        assert place.cursor.step == 4


def test_moves_in_the_list_and_what_cannot_be_done_comes_last(qtbot, tmp_path):
    with shown_window(tmp_path, told_session()) as (window, place):
        palette = opened(window, qtbot)
        QTest.keyClicks(palette.box, "next")
        shown = [c.action for c in palette.model.shown]
        able = [action.isEnabled() for action in shown]
        assert able == sorted(able, reverse=True) and place.actions["review.next"] in shown and len(shown) > 5
        first = palette.table.currentIndex().row()
        press(window, Qt.Key.Key_Down)
        assert palette.table.currentIndex().row() == first + 1
        press(window, Qt.Key.Key_PageDown)
        press(window, Qt.Key.Key_PageDown)
        press(window, Qt.Key.Key_Return)
        assert palette.isVisible(), "a command that cannot be done now is not done"
        press(window, Qt.Key.Key_Escape)


def test_panels_are_reached_without_the_mouse(qtbot, tmp_path):
    with shown_window(tmp_path, told_session()) as (window, place):
        place.cursor.move("s1", 3)
        palette = opened(window, qtbot)
        QTest.keyClicks(palette.box, "panel disagree")
        press(window, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: window.docks["disagreements"].isVisible())
        window.activateWindow()
        qtbot.waitUntil(window.isActiveWindow)
        seen = set()
        for _ in range(len(PANELS)):
            press(window, Qt.Key.Key_F6)
            held = QApplication.focusWidget()
            seen |= {key for key, dock in window.docks.items() if held is not None and dock.isAncestorOf(held)}
        assert len(seen) >= 4
        before = QApplication.focusWidget()
        press(window, Qt.Key.Key_F6)
        press(window, Qt.Key.Key_F6, SHIFT)
        assert QApplication.focusWidget() is before
