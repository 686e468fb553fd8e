"""The window is never held for long: a session of 5,000 steps is opened, read, searched, filtered and grows.

What is counted is the work of the GUI thread between two looks at the event loop (`support.watchdog`). Sizes of
100,000 steps are measured by tests/benchmarks (view).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from benchmarks import stress
from PySide6.QtCore import QItemSelectionModel, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QHBoxLayout, QWidget
from support.logs import fill
from support.panels import told_session, workplace
from support.watchdog import HELD, MUCH, Watchdog

from app.step.panel import build as build_step
from app.terminals.panel import build as build_terminals
from app.trajectory.panel import build as build_trajectory
from core.client.replica import Replica
from core.domain.events import TerminalOutput, encode_event, make_event
from core.store import log
from core.store.schema import open_log
from core.store.sqlite import transaction

STEPS = 5_000
HUGE = int(STEPS * stress.HUGE_AT) + 1


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("stress") / "replica.db"
    stress._fill(path, STEPS)
    small = told_session()
    with closing(open_log(path)) as conn, transaction(conn):
        fill(conn, "small", small.bodies, small.blobs)
    return path


class Desk(QWidget):
    """The three panels side by side over the session."""

    def __init__(self, place, replica) -> None:
        super().__init__()
        self.place, self.replica = place, replica
        self.steps, self.step = build_trajectory(place, self), build_step(place, self)
        self.terminals = build_terminals(place, self)
        row = QHBoxLayout(self)
        for panel in (self.steps, self.step, self.terminals):
            row.addWidget(panel)
        self.resize(1600, 800)
        self.show()

    def open(self, qtbot) -> None:
        self.place.cursor.move(stress.SESSION)
        qtbot.waitUntil(lambda: self.place.desks.local.progress(stress.SESSION) == 1, timeout=100_000)

    def grow(self, bodies: list[bytes]) -> None:
        """Events come from the server."""
        head = self.replica.head(stress.SESSION)
        self.replica._writer.do_blocking(lambda conn: log.place(conn, stress.SESSION, head + 1, bodies))
        for listener in self.replica.events_added:
            listener(stress.SESSION, head + 1, head + len(bodies))


@pytest.fixture
def desk(qtbot, session: Path, tmp_path: Path) -> Iterator[Desk]:
    with workplace(tmp_path, replica=Replica(session)) as (place, replica):
        made = Desk(place, replica)
        qtbot.addWidget(made)
        qtbot.waitExposed(made)
        place.cursor.move("small", 3)  # a window that has shown something: its fonts are loaded
        made.grab()
        QApplication.processEvents()
        yield made
        place.desks.local.close()


def test_opening_jumping_filtering_and_choosing(qtbot, desk: Desk) -> None:
    desk.place.watermarks.mark(stress.SESSION, 10)
    with Watchdog() as opening:
        desk.open(qtbot)
    assert opening.longest < HELD, "opening"
    assert desk.steps.digest.isVisible(), "what came since the reader looked is told"
    model = desk.steps.list.model()
    assert len(desk.place.desks.local.trajectory(stress.SESSION).steps) == STEPS
    with Watchdog() as jumping:
        for number in range(7, STEPS, 487):
            desk.place.cursor.to_step(number)
            QApplication.processEvents()
            assert model.step_of_row(desk.steps.list.currentIndex().row()) == number
    assert jumping.longest < HELD, "jumping"
    with Watchdog() as filtering:
        desk.place.actions["go.filter"].trigger()
        QApplication.processEvents()
        box = desk.steps.filters.boxes["tool"]
        box.setFocus()
        QTest.keyClick(box, Qt.Key.Key_Down)
        QApplication.processEvents()
        desk.steps.facets.show_filter("errors")
        desk.steps.filter_chosen.emit("errors")
        QApplication.processEvents()
    assert filtering.longest < HELD, "filtering"
    assert 0 < model.rowCount() < STEPS / 10
    with Watchdog() as choosing:
        desk.steps.filters.reset()
        desk.steps.filter_chosen.emit("all")
        QApplication.processEvents()
        last = model.index(model.rowCount() - 1)
        desk.steps.list.setCurrentIndex(model.index(0))
        QApplication.processEvents()
        desk.steps.list.selectionModel().setCurrentIndex(last, QItemSelectionModel.SelectionFlag.NoUpdate)
        desk.steps.list.selectAll()
        QApplication.processEvents()
    assert choosing.longest < HELD, "choosing everything"
    assert len(desk.place.cursor.marks) == STEPS


def test_growing_in_bursts_while_it_is_followed(qtbot, desk: Desk) -> None:
    desk.open(qtbot)
    maker = stress.Maker(STEPS)
    number = desk.place.desks.local.trajectory(stress.SESSION).steps.numbers[-1]
    bursts = []
    for size in (300, 300, 8000, 300):
        made = []
        for _ in range(size):
            number += 1
            body, terminal, _ = maker._body(60 * number + 1)
            body = type(body)(number=number, actions=body.actions, observations=body.observations)
            made.append(encode_event(make_event(maker._added(number, body, terminal), stress.AGENT)))
        bursts.append(made)
    with Watchdog() as growing:
        for made in bursts:
            desk.grow(made)
            QApplication.processEvents()
        steps = desk.place.desks.local.trajectory(stress.SESSION).steps
        qtbot.waitUntil(lambda: steps.numbers[-1] == number, timeout=60_000)
        qtbot.waitUntil(lambda: desk.steps.list.rows_in_sight()[-1] == desk.steps.list.model().rowCount() - 1)
    assert growing.longest < HELD
    assert desk.steps.list.is_following


def test_finding_while_it_is_typed(qtbot, desk: Desk) -> None:
    desk.open(qtbot)
    desk.place.cursor.to_step(1)
    with Watchdog() as finding:
        desk.place.actions["go.find"].trigger()
        for key in "rareword":
            QTest.keyClick(desk.steps.find_box, key)
            QApplication.processEvents()
        qtbot.waitUntil(lambda: desk.steps.hits.text().startswith("1 of"), timeout=100_000)
        QTest.keyClick(desk.steps.find_box, Qt.Key.Key_Return)
        QApplication.processEvents()
    assert finding.longest < HELD
    assert desk.place.cursor.step in range(999, STEPS, 1000)


def test_an_observation_of_30_mb_and_a_line_of_2_mb(qtbot, desk: Desk) -> None:
    desk.open(qtbot)
    desk.place.cursor.to_step(3)
    QApplication.processEvents()
    document = desk.step.text.edit.document()
    with Watchdog(document) as opening:
        desk.place.cursor.to_step(HUGE)
        qtbot.waitUntil(lambda: document.blockCount() > 1000, timeout=60_000)
    assert opening.longest < HELD and 0 < opening.longest_text < MUCH
    with Watchdog(document) as one_line:
        desk.step.text.show_text("no end " * 300_000)
        QApplication.processEvents()
    assert one_line.longest < HELD and one_line.longest_text < 1_000_000, "the first part of the 2 MB"
    assert desk.step.text._bar.isVisible()


def test_ten_thousand_terminal_lines_a_second(qtbot, desk: Desk) -> None:
    desk.open(qtbot)
    line = "epoch {n} \x1b[32mloss\x1b[0m 0.1234 \x1b[1mstep\x1b[0m 100\r\n"
    offset = desk.place.desks.local.trajectory(stress.SESSION).terminals["main/t0"].length
    floods = []
    for burst in range(10):
        data = "".join(line.format(n=burst * 1000 + n) for n in range(1000)).encode()
        fact = TerminalOutput(host="main", terminal="t0", offset=offset, size=len(data), data=data)
        floods.append([encode_event(make_event(fact, stress.AGENT))])
        offset += len(data)
    desk.terminals.chosen.emit("main/t0")
    with Watchdog() as flooding:
        for made in floods:
            desk.grow(made)
            qtbot.wait(20)
        qtbot.waitUntil(lambda: "epoch 9999" in shown(desk), timeout=60_000)
    assert flooding.longest < HELD


def shown(desk: Desk) -> str:
    from app.kit.terminal_cells import row_text

    emulator = desk.terminals.terminal._emulator
    return "\n".join(map(row_text, emulator.screen_rows())) if emulator is not None else ""


def test_the_watchdog_bites(qtbot) -> None:
    def hold() -> None:
        for _ in range(HELD):  # each is entered and left
            abs(1)

    with Watchdog() as dog:
        QTimer.singleShot(0, hold)
        qtbot.waitUntil(lambda: dog.turns > 5)
    assert HELD < dog.longest < 3 * HELD
