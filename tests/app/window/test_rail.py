"""In a narrow window the left side is a rail of icons; what it opens lies over the list until Esc."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from support.panels import told_session
from support.window import CTRL, press, shown_window

from app.kit import theme
from app.window.rail import WIDTH


@pytest.fixture
def narrow(qtbot, tmp_path):
    with shown_window(tmp_path, told_session()) as (made, place):
        made.resize(1280, 720)
        made.lay_out("live")
        place.cursor.move("s1", 3)
        QApplication.processEvents()
        yield made, place


def test_a_narrow_window_has_a_rail_for_the_left_side_and_a_wide_one_the_side(narrow):
    made, _ = narrow
    assert made.left.rail.isVisible() and made.left.rail.width() == theme.px(WIDTH)
    assert not made.docks["sessions"].isVisible() and set(made.left.rail.buttons) >= {"sessions", "attention"}
    assert all(button.toolTip() and button.accessibleName() for button in made.left.rail.buttons.values())
    made.resize(1600, 1000)
    QApplication.processEvents()
    assert not made.left.rail.isVisible() and made.docks["sessions"].isVisible()
    made.resize(1280, 720)
    QApplication.processEvents()
    assert made.left.rail.isVisible() and not made.docks["sessions"].isVisible()


def test_a_layout_that_was_stored_in_a_wide_window_has_no_side_beside_the_rail_of_a_narrow_one(narrow):
    made, _ = narrow
    made.resize(1600, 1000)
    QApplication.processEvents()
    made.layouts.show("read")
    made.resize(1280, 720)
    QApplication.processEvents()
    made.layouts.show("live")
    QApplication.processEvents()
    assert made.left.rail.isVisible() and not made.docks["sessions"].isVisible()


def test_a_layout_that_was_stored_in_a_narrow_window_has_its_side_in_a_wide_one(narrow):
    made, _ = narrow
    made.layouts.show("read")
    made.resize(1600, 1000)
    QApplication.processEvents()
    made.layouts.show("live")
    QApplication.processEvents()
    assert made.docks["sessions"].isVisible()
    made.docks["sessions"].hide()
    made.layouts.show("read")
    made.layouts.show("live")
    QApplication.processEvents()
    assert not made.docks["sessions"].isVisible(), "what was closed by hand in a wide window stays so"


@pytest.mark.parametrize("key", [(Qt.Key.Key_S, Qt.KeyboardModifier.NoModifier), (Qt.Key.Key_B, CTRL)])
def test_a_key_opens_the_sessions_over_the_list_and_esc_gives_the_keys_back(narrow, key):
    made, _ = narrow
    made.activateWindow()
    list_ = made.docks["trajectory"].widget().list
    list_.setFocus()
    before = made.docks["trajectory"].geometry()
    press(made, *key)
    sessions = made.docks["sessions"].widget()
    assert made.left.drawer.key == "sessions" and sessions.isVisible()
    assert made.left.rail.buttons["sessions"].isChecked()
    assert made.docks["trajectory"].geometry() == before, "nothing moves below it"
    assert made.left.drawer.geometry().intersects(before) and sessions.isAncestorOf(QApplication.focusWidget())
    for _ in range(2):  # out of the filter, then out of the drawer
        press(made, Qt.Key.Key_Escape)
    assert not made.left.drawer.isVisible() and QApplication.focusWidget() is list_
    assert made.docks["sessions"].widget() is sessions and not made.left.rail.buttons["sessions"].isChecked()
    made.resize(1600, 1000)
    QApplication.processEvents()
    assert sessions.isVisible(), "the panel is in its dock again"


def test_an_icon_opens_and_closes_its_panel_and_another_one_takes_its_place(narrow):
    made, _ = narrow
    made.left.rail.buttons["sessions"].click()
    made.left.rail.buttons["attention"].click()
    assert made.left.drawer.key == "attention" and made.docks["attention"].widget().isVisible()
    assert not made.docks["sessions"].widget().isVisible()
    made.left.rail.buttons["attention"].click()
    assert not made.left.drawer.key and not made.left.drawer.isVisible()


def test_o_opens_the_outline_over_the_list_until_esc(narrow):
    made, _ = narrow
    made.lay_out("read")
    made.activateWindow()
    QApplication.processEvents()
    made.docks["trajectory"].widget().list.setFocus()
    before = made.docks["trajectory"].geometry()
    press(made, Qt.Key.Key_O)
    outline = made.docks["outline"].widget()
    assert made.left.drawer.key == "outline" and outline.isAncestorOf(QApplication.focusWidget())
    assert made.docks["trajectory"].geometry() == before
    press(made, Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is made.docks["trajectory"].widget().list
    assert not made.left.drawer.isVisible(), "Esc closes what it opened"
