"""What is listed is chosen by chips with counts: several at once; an empty list says why and leads back."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from support.logs import PERSON, Maker
from support.window import press, shown_window

from app.desk.desk import Desk
from app.trajectory.filters import FILTERS, counts_of
from app.trajectory.view import TrajectoryView
from core.domain.events import ScoreGiven, VerdictGiven
from core.domain.verdict import Author
from core.store import log


@pytest.fixture
def listed(qtbot, tmp_path):
    maker = Maker(3)
    for number in range(1, 9):
        maker.add_step("run_command", fails=number in (2, 5))
    for number in (1, 3, 4):
        maker.say(VerdictGiven(step=number, value="unsure" if number == 3 else "keep"), PERSON)
    with shown_window(tmp_path, maker, layout="read") as (made, place):
        place.cursor.move("s1", 4)
        made.activateWindow()
        QApplication.processEvents()
        yield made, made.findChild(TrajectoryView), place


def numbers(view) -> list[str]:
    model = view.list.model()
    return [model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) or "" for row in range(model.rowCount())]


def test_the_chips_count_and_several_hold_together(listed):
    _made, view, place = listed
    trajectory = place.sight.trajectory
    assert counts_of(trajectory) | {"changes": 0} == {
        "all": 8, "undecided": 5, "errors": 2, "changes": 0, "guidance": 0, "verdicts": 3, "scores": 0}
    view.facets.show_counts(counts_of(trajectory))
    assert view.facets.chips["undecided"].text() == "Undecided 5"
    view.facets.chips["errors"].click()
    assert view.facets.filter == "errors" and view.list.model().rowCount() == 2
    view.facets.chips["undecided"].click()
    assert view.facets.filter == "undecided+errors" and view.list.model().rowCount() == 2
    assert view.facets.chips["errors"].isChecked() and not view.facets.chips["all"].isChecked()
    view.facets.chips["undecided"].click()
    view.facets.chips["errors"].click()
    assert view.facets.filter == "all" and view.list.model().rowCount() == 8


def test_people_are_those_who_wrote_to_the_agent_and_no_summary_of_its_own(tmp_path):
    maker = Maker(4)
    maker.add_step("run_command", fails=False)
    maker.summarise()
    with shown_window(tmp_path, maker, layout="read") as (made, place):
        place.cursor.move("s1", 1)
        assert counts_of(place.sight.trajectory)["guidance"] == 0
        view = made.findChild(TrajectoryView)
        view.facets.chips["guidance"].click()
        assert view.list.model().rowCount() == 0


def test_an_empty_list_says_why_and_esc_shows_all_again(listed):
    made, view, _place = listed
    view.facets.chips["guidance"].click()
    assert view.nothing.isVisible() and view.nothing.label.text() == "Nobody wrote to the agent"
    view.facets.chips["errors"].click()
    assert view.facets.filter == "errors" and not view.nothing.isVisible()
    view.facets._on_clicked("verdicts")
    assert view.nothing.isVisible() and view.nothing.label.text() == "No step is both an error and judged"
    view.list.setFocus()
    press(made, Qt.Key.Key_Escape)
    assert view.facets.filter == "all" and view.list.model().rowCount() == 8 and not view.nothing.isVisible()


def test_what_has_no_room_stands_in_the_menu(listed):
    _made, view, _place = listed
    view.facets.setFixedWidth(view.facets.minimumSizeHint().width())  # which the list's own layout does not take back
    QTest.qWait(0)
    assert sum(chip.isVisible() for chip in view.facets.chips.values()) < 3
    assert [action.text().split()[0] for action in view.facets.more.menu().actions()] == [
        view.facets.words[key] for key in FILTERS]


def test_filters_are_told_in_links_and_taken_from_them(listed):
    _made, view, _place = listed
    view.show_filters({"show": "undecided+errors"})
    assert view.shown_filters() == {"show": "undecided+errors"} and view.list.model().rowCount() == 2
    view.show_filters({"show": "what nobody knows"})
    assert view.shown_filters() == {} and view.list.model().rowCount() == 8


def test_what_is_new_is_counted_in_steps_as_the_list_of_sessions_counts(qtbot, tmp_path):
    maker = Maker(3)
    maker.add_step("run_command")
    with shown_window(tmp_path, maker, layout="live") as (made, place):
        place.cursor.move("s1", 1)
        view, held = made.findChild(TrajectoryView), len(maker.bodies)
        for _ in range(2):
            maker.add_step("run_command")
        maker.say(ScoreGiven(ordinal=1, step=3, total=66.0), Author(kind="server", name="server"))
        writer = place.desks.local.replica._writer
        head = writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[held:]))
        place.desks.local._on_events("s1", held + 1, head)
        qtbot.waitUntil(view.chip.isVisible)
        assert view.chip.text() == "↓ 2 new", "a score is no step"
        place.cursor.move("s1", None)
        assert not view.chip.isVisible()


def test_what_comes_in_one_lot_while_somebody_reads_an_older_step_stays_new(qtbot, tmp_path, monkeypatch):
    """For a moment the fold is behind the log: that is not a session that is read for the first time."""
    maker = Maker(3)
    for _ in range(3):
        maker.add_step("run_command")
    with shown_window(tmp_path, maker, layout="live") as (made, place):
        place.cursor.move("s1", 1)
        view, held = made.findChild(TrajectoryView), len(maker.bodies)
        share = [0.9]
        monkeypatch.setattr(Desk, "progress", lambda self, session: share[0])
        for _ in range(2):
            maker.add_step("run_command")
        writer = place.desks.local.replica._writer
        head = writer.do_blocking(lambda conn: log.append(conn, "s1", maker.bodies[held:]))
        place.desks.local._on_events("s1", held + 1, head)
        qtbot.waitUntil(view.chip.isVisible)
        for share[0] in (0.9, 1.0):
            place.sight.grew.emit()
        assert view.chip.text() == "↓ 2 new"
