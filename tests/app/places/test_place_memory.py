"""The place in each session is found again: over switching, over a restart; a link says itself where to go."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from support.logs import Maker
from support.panels import told_session
from support.window import settle, shown_window

from app.desk.watermarks import Watermarks
from app.places import memory as places
from app.places.memory import PlaceMemory
from app.trajectory.view import TrajectoryView


def reader(place, made) -> PlaceMemory:
    return PlaceMemory(place, made)


def test_step_filters_and_words_are_found_again(tmp_path: Path):
    other = Maker(5)
    for _ in range(4):
        other.add_step()
    with shown_window(tmp_path, told_session(), other, layout="read") as (made, place):
        assert place.sight.session == "", "the focus alone opens no session"
        memory = reader(place, made)
        steps = made.docks["trajectory"].widget()
        place.cursor.move("s1", 4)
        steps.show_filters({"find": "line"})
        place.cursor.move("s2")
        assert place.sight.step is None and steps.shown_filters() == {}
        place.cursor.move("s1")
        assert place.sight.step == 4 and steps.shown_filters() == {"find": "line"}
        place.cursor.move("s2", 2)
        place.cursor.move("s1", 7)
        assert place.sight.step == 7, "who says where to go goes there"
        place.cursor.move("")
        memory.setParent(None)
    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / "read.json", tmp_path / "again")
    with shown_window(tmp_path / "again", told_session(), other, layout="read") as (made, place):
        memory = reader(place, made)
        place.cursor.move("s2")
        assert place.sight.step == 2
        place.cursor.move("s1")
        assert place.sight.step == 7
        memory.setParent(None)


def test_a_file_that_is_none_is_passed_over(tmp_path: Path):
    with shown_window(tmp_path, told_session(), layout="read") as (made, place):
        (place.home.path / "read.json").write_text("rubbish")
        memory = reader(place, made)
        place.cursor.move("s1")
        assert place.sight.step is None
        memory.setParent(None)


def test_scrolling_and_folds_are_found_again(tmp_path: Path):
    long = Maker(7)
    for number in range(80):
        for _ in range(1 + 4 * (number % 8 == 3)):
            long.add_step("sleep" if number % 8 == 3 else "run_command", fails=False)
    with shown_window(tmp_path, long, told_session(), layout="read") as (made, place):
        memory = reader(place, made)
        steps = made.docks["trajectory"].widget()
        place.cursor.move("s1", 2)
        model = steps.list.model()
        fold = next(row for row in range(model.rowCount()) if model.rows[row].kind == "fold" and row > 12)
        model.toggle(fold)
        steps.list.scroll_to(30, -7)
        before = steps.shown_place()
        assert (before.item > 20, before.offset, before.unfolded) == (True, -7, {"s1": [model.rows[fold].first]})
        place.cursor.move("s2", 2)
        place.cursor.move("s1")
        assert place.sight.step == 2 and steps.shown_place() == before
        place.cursor.move("")
        memory.setParent(None)
    (tmp_path / "again").mkdir()
    shutil.copy(tmp_path / "read.json", tmp_path / "again")
    with shown_window(tmp_path / "again", long, told_session(), layout="read") as (made, place):
        memory = reader(place, made)
        place.cursor.move("s1")
        after = made.docks["trajectory"].widget().shown_place()
        assert (after.item, after.offset, after.unfolded) == (before.item, before.offset, before.unfolded)
        memory.setParent(None)


def test_a_session_that_is_opened_again_stays_where_it_is(tmp_path: Path):
    """Enter on it in the list, or `tiphys open --session` while it is shown: the reader's step was lost to the tail."""
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        place.cursor.move("s1", 4)
        sessions = made.docks["sessions"].widget()
        sessions.opened.emit("s1")
        assert place.sight.step == 4
        place.cursor.open("s1", 6)
        assert place.sight.step == 6, "who names a step goes there"


def test_a_window_that_is_killed_loses_no_place(tmp_path: Path):
    """Nothing is left and nothing closes: what rested is in the file, what still moves is not waited for."""
    with shown_window(tmp_path, told_session(), layout="read") as (made, place):
        memory = reader(place, made)
        place.cursor.move("s1", 4)
        steps = made.docks["trajectory"].widget()
        steps.show_filters({"find": "line"})
        memory.store_moved()
        assert not (tmp_path / "read.json").exists()
        memory.store_moved()
        (tmp_path / "killed").mkdir()
        shutil.copy(tmp_path / "read.json", tmp_path / "killed")
        written = (tmp_path / "read.json").stat().st_mtime_ns
        for _ in range(3):
            memory.store_moved()
        assert (tmp_path / "read.json").stat().st_mtime_ns == written, "who rests writes nothing"
        memory.setParent(None)
    with shown_window(tmp_path / "killed", told_session(), layout="read") as (made, place):
        memory = reader(place, made)
        place.cursor.move("s1")
        assert place.sight.step == 4 and made.docks["trajectory"].widget().shown_filters() == {"find": "line"}
        memory.setParent(None)


def test_a_place_is_stored_while_the_window_stays_open(tmp_path: Path, monkeypatch):
    """Nobody leaves, closes or asks for it."""
    monkeypatch.setattr(places, "SOON_MS", 10)
    with shown_window(tmp_path, told_session(), layout="read") as (made, place):
        memory = reader(place, made)
        place.cursor.move("s1", 4)
        while not (tmp_path / "read.json").exists():  # ended by the suite's own limit
            QTest.qWait(10)
        assert memory.place_in("s1")[0] == 4
        memory.setParent(None)


@pytest.mark.parametrize("filled", [False, True])
def test_what_is_new_stays_new_over_a_restart_and_is_one_number(qtbot, tmp_path: Path, filled):
    session = Maker(5)
    for _ in range(6):
        session.add_step("run_command", fails=False)
    (tmp_path / "looked.json").write_text('{"s1": 3}')
    (tmp_path / "read.json").write_text('{"s1": {"step": 2}}')
    with shown_window(tmp_path, session, told_session(), layout="live", filled=filled) as (made, place):
        memory = reader(place, made)
        place.cursor.move("s1")
        qtbot.waitUntil(lambda: made.findChild(TrajectoryView) is not None)
        made.filling.fill()
        settle()
        chip = made.findChild(TrajectoryView).chip
        assert place.sight.step == 2 and place.watermarks.steps("s1") == 3
        qtbot.waitUntil(lambda: chip.text() == "↓ 3 new" and chip.isVisible())
        place.cursor.move("s2", 1)
        place.cursor.move("s1")
        settle()
        assert chip.text() == "↓ 3 new" and place.watermarks.steps("s1") == 3
        place.cursor.to_step(6)
        assert place.watermarks.steps("s1") == 6, "who reads the last step has seen all"
        memory.setParent(None)


def test_what_was_followed_is_no_news_after_a_crash(tmp_path: Path):
    with shown_window(tmp_path, told_session(), layout="live") as (made, place):
        memory = reader(place, made)
        place.cursor.move("s1")
        place.watermarks.mark("s1", 12)  # as when steps came
        memory.store_moved()
        assert Watermarks(tmp_path / "looked.json").steps("s1") == 12
        memory.setParent(None)
