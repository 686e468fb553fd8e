"""A run that was over when it was opened, and whose file grows: the reader stays at their step unless they follow."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from support.logs import Maker
from support.panels import told_session
from support.window import settle, shown_window

from app.trajectory.view import TrajectoryView
from core.domain.events import SessionCreated, SessionStateChanged, decode_event, encode_event
from core.store import blobs, log


def read_from_a_file(state: str = "finished") -> Maker:
    """Ten steps of another program's run."""
    maker = told_session()
    created = decode_event(maker.bodies[0])
    assert isinstance(created.fact, SessionCreated)
    maker.bodies[0] = encode_event(msgspec.structs.replace(
        created, fact=msgspec.structs.replace(created.fact, origin="claude-code")))
    if state:
        maker.say(SessionStateChanged(state=state))  # type: ignore[arg-type]
    return maker


def come(place, maker: Maker, steps: int) -> None:
    """The file was read again, and has so many steps more."""
    begun, replica = len(maker.bodies), place.desks.local.replica
    for _ in range(steps):
        maker.add_step("run_command", fails=False)

    def store(conn) -> int:
        for data in maker.blobs.values():
            blobs.put(conn, data)
        return log.append(conn, "s1", maker.bodies[begun:])

    head = replica._writer.do_blocking(store)
    place.desks.local._on_events("s1", begun + 1, head)


def last(place) -> int:
    return place.sight.trajectory.steps.numbers[-1]


def wait(qtbot, place, number: int) -> None:
    qtbot.waitUntil(lambda: last(place) == number)
    settle()


def test_who_stands_at_the_end_of_a_finished_import_stays_there(qtbot, tmp_path):
    maker = read_from_a_file()
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        steps = window.findChild(TrajectoryView)
        place.cursor.move("s1")
        qtbot.waitUntil(lambda: place.sight.trajectory is not None and len(place.sight.trajectory.steps) == 10)
        settle()
        assert place.sight.step is None
        come(place, maker, 60)
        wait(qtbot, place, 70)
        assert place.sight.step == 10 and not steps.list.is_following
        row = steps.list.currentIndex().row()
        assert steps.list.model().step_of_row(row) == 10 and row in steps.list.rows_in_sight()
        assert steps.chip.isVisible() and "60" in steps.chip.text(), "what came is said, and a click away"
        come(place, maker, 3)
        wait(qtbot, place, 73)
        assert place.sight.step == 10


def test_by_the_end_key_or_the_wheel_nobody_is_taken_along_either(qtbot, tmp_path):
    maker = read_from_a_file()
    with shown_window(tmp_path, maker, layout="read") as (window, place):
        steps = window.findChild(TrajectoryView)
        place.cursor.move("s1", 2)
        settle()
        QTest.keyClick(steps.list, Qt.Key.Key_End)
        settle()
        assert place.sight.step == 10
        come(place, maker, 60)
        wait(qtbot, place, 70)
        assert place.sight.step == 10 and not steps.list.is_following
        assert steps.list.currentIndex().row() in steps.list.rows_in_sight()


def test_who_chose_to_follow_goes_along_and_so_does_who_reads_a_run_that_goes_on(qtbot, tmp_path):
    for name, state, follow in (("a", "finished", True), ("b", "", False)):
        maker = read_from_a_file(state)
        with shown_window(tmp_path / name, maker, layout="read") as (window, place):
            steps = window.findChild(TrajectoryView)
            place.cursor.move("s1")
            settle()
            if follow:
                place.actions["go.follow"].trigger()
            come(place, maker, 60)
            wait(qtbot, place, 70)
            assert place.sight.step is None and steps.list.is_following, name
            come(place, maker, 5)
            wait(qtbot, place, 75)
            assert place.sight.step is None and 75 in (
                steps.list.model().step_of_row(row) for row in steps.list.rows_in_sight()), name
