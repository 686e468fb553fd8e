"""A panel that has nothing is a thin line in words; a click, a key and a drag open it; layouts store it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.logs import Maker
from support.panels import told_session
from support.window import CTRL, press, shown_window

from app.kit import theme, tokens
from app.kit.thin_line import Gist, ThinLine
from app.window.eye_room import EyeRoom
from core.domain.events import SessionStateChanged


def settle() -> None:
    for _ in range(5):
        QApplication.processEvents()


def saved() -> Maker:
    made = told_session()
    made.say(SessionStateChanged(state="finished"))
    return made


def line_of(dock) -> ThinLine:
    held = dock.titleBarWidget()
    assert isinstance(held, ThinLine), f"{dock.objectName()} is no thin line"
    return held


def test_what_has_nothing_yet_is_one_line_that_leads_to_where_it_begins(qtbot, tmp_path):
    with shown_window(tmp_path, saved(), layout="read") as (made, place):
        place.cursor.move("s1", 1)
        settle()
        files = made.docks["files"]
        assert files.is_thin and files.height() == theme.px(tokens.HEIGHTS["thin"])
        assert files.widget().visibleRegion().isEmpty()
        assert line_of(files).accessibleName() == "Files · No file changed up to step 1 · first at 2"
        line_of(files).link.click()
        settle()
        assert place.sight.step == 2 and not files.is_thin
        assert files.height() > 4 * theme.px(tokens.HEIGHTS["thin"])
        assert files.titleBarWidget() is None or not isinstance(files.titleBarWidget(), ThinLine)


def test_a_tab_that_has_something_gets_its_room_where_the_one_before_it_was_a_line(qtbot, tmp_path):
    with shown_window(tmp_path, saved(), layout="read") as (made, place):
        place.cursor.move("s1", 1)
        settle()
        terminals = made.docks["terminals"]
        assert made.docks["files"].is_thin and terminals in made.tabifiedDockWidgets(made.docks["files"])
        terminals.raise_()
        settle()
        assert not terminals.is_thin and terminals.height() > 5 * theme.px(tokens.HEIGHTS["thin"])


def test_a_line_of_each_panel_names_what_is_missing(qtbot, tmp_path):
    with shown_window(tmp_path, saved(), layout="read") as (made, place):
        place.cursor.move("s1", 1)
        settle()
        words = {key: dock.gist.words for key, dock in made.docks.items() if dock.gist and dock.gist.is_nothing}
        assert words["searches"] == "Nothing searched up to step 1"
        assert words["attention"] == "Nothing needs you"
        assert words["find"] == "Nothing is looked for"
        assert words["remarks"] == "No remark yet"
        assert "terminals" not in words and "charts" not in words
        assert words["guidance"] == "This session has ended: guidance reaches it no more."
        place.cursor.move("")
        settle()
        assert made.docks["charts"].gist.is_nothing and made.docks["guidance"].gist.is_nothing


def test_a_click_opens_a_panel_that_has_nothing_and_f4_folds_one_that_has_something(qtbot, tmp_path):
    with shown_window(tmp_path, saved(), layout="read") as (made, place):
        place.cursor.move("s1", 1)
        settle()
        files = made.docks["files"]
        QTest.mouseClick(line_of(files), Qt.MouseButton.LeftButton, pos=QPoint(200, 10))
        settle()
        assert not files.is_thin
        place.cursor.to_step(6)
        settle()
        press(made, Qt.Key.Key_F4)
        settle()
        assert files.is_thin and line_of(files).accessibleName() == "Files · a.py  +2\u2007−0 · 2 changed so far · at 6"
        made.save_state()
    with shown_window(tmp_path, saved()) as (made, place):
        place.cursor.move("s1", 6)
        settle()
        assert made.docks["files"].is_thin, "what was folded by hand is folded after a restart"
        press(made, Qt.Key.Key_F4)
        settle()
        assert not made.docks["files"].is_thin
        press(made, Qt.Key.Key_F4)
        press(made, Qt.Key.Key_2, CTRL)
        settle()
        assert not made.docks["files"].is_thin, "the layout's own key puts everything where it is at first"


def test_a_press_at_the_edge_frees_the_line_for_the_drag(qtbot, tmp_path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        place.cursor.move("s1", 1)
        settle()
        files = made.docks["files"]
        assert files.is_thin
        edge = QPoint(files.geometry().center().x(), files.geometry().top() - 3)
        high = files.height()
        QTest.mousePress(made, Qt.MouseButton.LeftButton, pos=edge)
        for further in range(10, 210, 10):
            QTest.mouseMove(made, edge - QPoint(0, further))
            settle()
        QTest.mouseRelease(made, Qt.MouseButton.LeftButton, pos=edge - QPoint(0, 200))
        settle()
        assert not files.is_thin and files.height() > high + 100, "as high as it was dragged"


def test_a_small_window_has_the_files_as_a_line_below_the_step(qtbot, tmp_path):
    with shown_window(tmp_path, saved()) as (made, place):
        made.resize(1280, 720)
        made.lay_out("read")
        place.cursor.move("s1", 6)
        settle()
        files, step = made.docks["files"], made.docks["step"]
        assert files.is_thin and files.height() == theme.px(tokens.HEIGHTS["thin"])
        assert files.geometry().top() >= step.geometry().bottom()
        press(made, Qt.Key.Key_F4)
        settle()
        assert not files.is_thin and abs(files.height() - step.height()) < step.height() // 3, "half of the height"


def test_what_the_model_saw_has_room_while_it_is_open_and_a_layout_is_stored_without(qtbot, tmp_path):
    with shown_window(tmp_path, saved(), layout="read") as (made, place):
        made.resize(1440, 900)
        room = EyeRoom(place, made)
        made.lay_out("read")
        place.cursor.move("s1", 4)
        settle()
        steps, step, files, eye = *(made.docks[k] for k in ("trajectory", "step", "files")), place.actions["view.eye"]
        before = (steps.width(), step.width())
        high = step.height()
        assert not files.is_thin
        eye.setChecked(True)
        settle()
        assert step.width() > 1.2 * before[1] and step.height() > 1.2 * high and files.is_thin
        assert steps.width() >= theme.px(340), "number, tool and title can be read"
        made.resizeDocks([steps, step], [420, step.width() + steps.width() - 420], Qt.Orientation.Horizontal)
        dragged = steps.width()
        eye.setChecked(False)
        settle()
        near = lambda a, b: all(abs(x - y) <= 3 for x, y in zip(a, b, strict=True))  # noqa: E731
        assert near((steps.width(), step.width()), before) and abs(step.height() - high) <= 3 and not files.is_thin
        assert "files" not in made.thin.by_hand, "nobody opened them by hand"
        eye.setChecked(True)
        settle()
        assert abs(steps.width() - dragged) <= 3, "as it was dragged"
        made.layouts.show("live")
        settle()
        made.layouts.show("read")
        eye.setChecked(False)
        settle()
        assert near((steps.width(), step.width()), before)
        room.setParent(None)


def test_where_no_session_is_chosen_nothing_is_said_of_its_files(qtbot, tmp_path):
    with shown_window(tmp_path, saved(), layout="read") as (made, place):
        place.cursor.move("", None)
        settle()
        for name in ("files", "terminals", "searches"):
            assert made.docks[name].widget().findChild(Gist).words == "No session is chosen", name
