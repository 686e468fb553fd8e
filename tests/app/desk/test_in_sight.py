"""What is in sight: which signals a move and what comes give, in which order, and what is read meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.logs import Maker
from support.panels import told_session, workplace

from app.desk.desk import Desk
from app.desk.workplace import Workplace
from core.client.replica import Replica
from core.store import log


class Witness:
    """Writes down each signal with what was in sight then; a second one shows that all hear of one before the next."""

    def __init__(self, place: Workplace, heard: list[tuple[str, str, int | None]]) -> None:
        self.place, self.heard = place, heard
        for name in ("left", "opened", "stepped", "grew", "replaced"):
            getattr(place.sight, name).connect(getattr(self, name))

    def _note(self, name: str) -> None:
        self.heard.append((name, self.place.sight.session, self.place.sight.step))

    def left(self) -> None:
        self._note("left")

    def opened(self) -> None:
        self._note("opened")

    def stepped(self) -> None:
        self._note("stepped")

    def grew(self) -> None:
        self._note("grew")

    def replaced(self) -> None:
        self._note("replaced")


@pytest.fixture
def seen(qapp, tmp_path: Path) -> Iterator[tuple[Workplace, Replica, list[tuple[str, str, int | None]]]]:
    """A workplace with two sessions, none of them in sight, and what is heard of it."""
    with workplace(tmp_path, told_session(), told_session()) as (place, replica):
        heard: list[tuple[str, str, int | None]] = []
        witness = Witness(place, heard)
        yield place, replica, heard
        del witness


def test_a_move_gives_each_signal_once_and_in_order(seen) -> None:
    place, _, heard = seen
    second: list[str] = []
    for name in ("left", "opened", "stepped"):
        getattr(place.sight, name).connect(lambda name=name: second.append((name, len(heard))))
    place.cursor.move("s1", 2)
    assert heard == [("opened", "s1", 2), ("stepped", "s1", 2)], "nothing was in sight that could be left"
    assert second == [("opened", 1), ("stepped", 2)], "everybody hears of one before anybody hears of the next"
    heard.clear()
    place.cursor.to_step(3)
    place.cursor.to_step(3)
    place.cursor.follow()
    assert heard == [("stepped", "s1", 3), ("stepped", "s1", None)]
    heard.clear()
    place.cursor.move("s2", 4)
    assert heard == [("left", "s1", None), ("opened", "s2", 4), ("stepped", "s2", 4)]
    heard.clear()
    place.cursor.move("")
    assert heard == [("left", "s2", 4), ("opened", "", None), ("stepped", "", None)]


def add_step(place: Workplace, replica: Replica, session: str, maker: Maker) -> None:
    held = len(maker.bodies)
    maker.add_step()
    bodies = maker.bodies[held:]
    replica._writer.do_blocking(lambda conn: log.append(conn, session, bodies))
    for call in replica.events_added:
        call(session, held + 1, len(maker.bodies))


def test_only_what_is_in_sight_grows(qtbot, seen) -> None:
    place, replica, heard = seen
    for session in ("s1", "s2"):
        place.desks.of(session).trajectory(session)
    place.cursor.move("s1")
    heard.clear()
    changed: list[str] = []
    place.desks.trajectory_changed.connect(changed.append)
    for session in ("s2", "s1"):
        add_step(place, replica, session, told_session())
        qtbot.waitUntil(lambda session=session: session in changed)
    assert heard == [("grew", "s1", None)]
    assert len(place.sight.trajectory.steps) == 11


def test_another_log_is_another_trajectory_and_then_there_is_news(seen) -> None:
    place, replica, heard = seen
    place.cursor.move("s1")
    before, _ = place.sight.trajectory, place.desks.local.trajectory("s2")
    heard.clear()
    for call in replica.copies_dropped:
        call("s2")
    assert heard == []
    for call in replica.copies_dropped:
        call("s1")
    assert heard == [("replaced", "s1", None), ("grew", "s1", None)]
    assert place.sight.trajectory is not before


def test_it_says_what_is_there_and_reads_nothing_before_it_is_asked(monkeypatch, seen) -> None:
    place, _, _ = seen
    read: list[str] = []
    real = Desk.trajectory
    monkeypatch.setattr(Desk, "trajectory", lambda self, session: read.append(session) or real(self, session))
    assert (place.sight.session, place.sight.step, place.sight.row, place.sight.trajectory) == ("", None, None, None)
    place.cursor.move("s1", 2)
    assert not read
    assert place.sight.row.session == place.sight.trajectory.session == "s1"
    assert read == ["s1"]
    place.cursor.move("not here yet")
    assert place.sight.row is None
