"""Charts: the numbers are the trajectory's, over steps and over time; a click moves, a brush marks steps."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QFontMetrics, QImage, QMouseEvent, QWheelEvent
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from support.logs import Maker
from support.panels import workplace

from app.charts.panel import ChartsController, build
from app.charts.series import Curves, Series, Times, idle_of, series_of, table_of, times_of
from app.kit import theme
from core.domain.context import ContextDelta
from core.domain.events import Placed, StepAdded, VerdictGiven
from core.domain.step import StepHead, Usage
from core.domain.steps import Steps
from core.domain.trajectory import Trajectory, fold
from core.domain.verdict import Author


def made(steps: int) -> Maker:
    maker = Maker(6)
    for _ in range(steps):
        maker.add_step()
    maker.finish(61.5)
    return maker


def shown(qtbot, place, width: int, height: int) -> QWidget:
    """The panel, so large."""
    panel = build(place, None)
    qtbot.addWidget(panel)
    panel.resize(width, height)
    panel.show()
    return panel


def folded(maker: Maker) -> Trajectory:
    return fold("s1", [Placed(session="s1", seq=i, body=b) for i, b in enumerate(maker.bodies, 1)])


def test_the_curves_tell_the_sessions_numbers():
    trajectory = folded(made(12))
    told = {s.key: s for s in series_of(trajectory)}
    assert (told["score"].steps.tolist(), told["score"].values.tolist()) == ([12], [61.5])
    assert told["cost"].values[-1] == pytest.approx(trajectory.row.cost_usd)
    assert told["context"].steps.tolist() == list(range(1, 13))
    assert told["context"].at(5) == trajectory.step(5).head.usage.input_tokens
    assert told["score"].at(3) is None


def test_idle_is_what_went_by_without_work():
    began = datetime(2026, 1, 1, tzinfo=UTC)
    steps = Steps()

    def add(number: int, start: float | None = None, end: float | None = None, *, waits: bool = False) -> None:
        at = {"started_at": start, "ended_at": end}
        head = StepHead(number=number, is_waiting=waits,
                        **{k: began + timedelta(seconds=v) for k, v in at.items() if v is not None})
        steps.add(number, StepAdded(head=head, body="b", context=ContextDelta()))

    add(1, 0, 10)
    add(2, 15, 20)
    add(3, 20, 80, waits=True)
    add(4)
    assert idle_of(steps).tolist()[:3] == [0.0, 5.0, 60.0]
    curves = Curves("s", "", (), np.array([1, 2, 3, 4]), times_of(steps))
    assert [curves.x(n, "time") for n in (1, 2, 3)] == [10.0, 20.0, 80.0]
    assert [curves.x(n, "work") for n in (1, 2, 3)] == [10.0, 15.0, 15.0], "idle time takes no room"
    assert curves.x(4, "time") is None, "a time that is not told is not invented"
    assert curves.step_at(79.0, "time") == 3 and curves.end("work") == 15.0


def test_verdicts_are_drawn_and_a_blind_reader_sees_no_others():
    maker = made(6)
    maker.say(VerdictGiven(step=2, value="mask"), Author(kind="person", name="li"))
    maker.say(VerdictGiven(step=3, value="keep"), Author(kind="person", name="li"))
    maker.say(VerdictGiven(step=3, value="unsure"), Author(kind="person", name="wu"))
    trajectory = folded(maker)

    def verdicts(reader: str = "") -> dict[int, float]:
        found = next((s for s in series_of(trajectory, reader) if s.key == "verdicts"), None)
        return dict(zip(found.steps.tolist(), found.values.tolist(), strict=True)) if found else {}

    assert verdicts() == {2: -1.0, 3: 0.0}, "the latest word counts"
    assert verdicts("person:wu") == {3: 0.0}
    assert verdicts("person:me") == {}


def test_a_click_moves_and_a_brush_marks(qtbot, tmp_path):
    with workplace(tmp_path, made(20)) as (place, _):
        panel = shown(qtbot, place, 500, 300)
        place.cursor.move("s1", 3)
        canvas, view = panel.canvas, panel.canvas.viewport()
        QApplication.processEvents()
        for over in ("steps", "time", "work"):
            panel.over.setCurrentIndex(panel.over.findData(over))
            at = {n: QPoint(round(canvas.x_of(n)), 20) for n in (5, 8, 12)}
            place.cursor.mark(())
            QTest.mouseClick(view, Qt.MouseButton.LeftButton, pos=at[8])
            assert place.cursor.step == 8
            QTest.mousePress(view, Qt.MouseButton.LeftButton, pos=at[5])
            QTest.mouseMove(view, at[8])
            _drag(view, at[12])
            QTest.mouseRelease(view, Qt.MouseButton.LeftButton, pos=at[12])
            assert place.cursor.marks == tuple(range(5, 13)), over
        gone = []
        for key in ("go.next_step", "go.previous_step"):
            place.actions[key].triggered.connect(lambda *_, key=key: gone.append(key))
        QTest.keyClick(canvas, Qt.Key.Key_Right)
        QTest.keyClick(canvas, Qt.Key.Key_Left)
        assert gone == ["go.next_step", "go.previous_step"]
        assert canvas.accessibleName()


def _drag(view, at: QPoint) -> None:
    """QTest moves the mouse without its button."""
    where = QPointF(at)
    QApplication.sendEvent(view, QMouseEvent(QEvent.Type.MouseMove, where, view.mapToGlobal(where),
                                             Qt.MouseButton.NoButton, Qt.MouseButton.LeftButton,
                                             Qt.KeyboardModifier.NoModifier))


def test_the_wheel_zooms_and_a_double_click_shows_all(qtbot, tmp_path):
    with workplace(tmp_path, made(40)) as (place, _):
        panel = shown(qtbot, place, 600, 400)
        place.cursor.move("s1", 3)
        canvas, view = panel.canvas, panel.canvas.viewport()
        QApplication.processEvents()
        far = canvas.x_of(40) - canvas.x_of(1)
        where = QPointF(canvas.x_of(20), 30)
        QApplication.sendEvent(view, QWheelEvent(where, view.mapToGlobal(where), QPoint(), QPoint(0, 480),
                                                 Qt.MouseButton.NoButton, Qt.KeyboardModifier.NoModifier,
                                                 Qt.ScrollPhase.NoScrollPhase, False))
        assert canvas.x_of(40) - canvas.x_of(1) > far * 1.2
        QTest.mouseDClick(view, Qt.MouseButton.LeftButton, pos=where.toPoint())
        assert abs(canvas.x_of(40) - canvas.x_of(1) - far) < 2


def test_a_quantity_can_be_put_away(qtbot, tmp_path):
    with workplace(tmp_path, made(6)) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s1", 1)
        before = panel.canvas.keys
        next(a for a in panel.shown.menu().actions() if a.data() == "cost").trigger()
        assert panel.canvas.keys == [key for key in before if key != "cost"]


def test_other_sessions_are_drawn_over_it_and_their_curves_clicked(qtbot, tmp_path):
    longer = made(30)
    with workplace(tmp_path, made(20), longer) as (place, _):
        panel = shown(qtbot, place, 500, 400)
        place.cursor.move("s1", 3)
        panel.others_asked.emit()
        (action,) = panel.others.menu().actions()
        action.trigger()
        qtbot.waitUntil(lambda: len(panel.canvas.curves) == 2)
        assert [c.last for c in panel.canvas.curves] == [20, 30]
        panel.canvas.hovered.emit(5)
        assert " | " in panel.reading.text()
        QApplication.processEvents()
        value = panel.canvas.curves[1].of("cost").at(28)
        at = QPoint(round(panel.canvas.x_of(28)), round(panel.canvas.y_of("cost", value)))
        QTest.mouseClick(panel.canvas.viewport(), Qt.MouseButton.LeftButton, pos=at)
        assert (place.cursor.session, place.cursor.step) == ("s2", 28)
        panel.others_asked.emit()
        assert [a.isChecked() for a in panel.others.menu().actions()] == [False], "s1 may be drawn over s2"


def curve_keys(panel) -> list[set[str]]:
    """The quantities of each session that is drawn."""
    return [{s.key for s in c.series} for c in panel.canvas.curves]


def test_blind_hides_the_verdicts_of_every_session_that_is_drawn(qtbot, tmp_path):
    makers = [made(6), made(7)]
    for maker in makers:
        maker.say(VerdictGiven(step=2, value="mask"), Author(kind="person", name="li"))
    with workplace(tmp_path, *makers) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s1", 3)
        panel.other_toggled.emit("s2", True)
        qtbot.waitUntil(lambda: len(panel.canvas.curves) == 2)
        assert all("verdicts" in keys for keys in curve_keys(panel))
        place.settings.set("review.blind", True)
        assert not any("verdicts" in keys for keys in curve_keys(panel)), "at once, not when they are read again"
        qtbot.waitUntil(lambda: len(panel.canvas.curves) == 2)
        assert not any("verdicts" in keys for keys in curve_keys(panel))


def test_the_newest_five_others_are_drawn(qtbot, tmp_path):
    with workplace(tmp_path, *(made(n) for n in range(3, 11))) as (place, _):
        panel = build(place, None)
        qtbot.addWidget(panel)
        panel.show()
        place.cursor.move("s1", 1)
        for number in range(2, 9):
            panel.other_toggled.emit(f"s{number}", True)
        qtbot.waitUntil(lambda: [c.session for c in panel.canvas.curves] == ["s1", "s4", "s5", "s6", "s7", "s8"])


def test_tokens_that_nobody_counted_make_no_curve():
    steps = Steps()
    trajectory = folded(made(3))
    for number, tokens in ((1, 70), (2, None), (3, 90)):
        usage = Usage(input_tokens=tokens)
        steps.add(number, StepAdded(head=StepHead(number=number, usage=usage), body="b", context=ContextDelta()))
    trajectory.steps = steps
    context = next(s for s in series_of(trajectory) if s.key == "context")
    assert (context.steps.tolist(), context.values.tolist()) == ([1, 3], [70.0, 90.0])


def test_curves_are_saved_as_picture_drawing_and_table(qtbot, tmp_path):
    maker = made(4)
    with workplace(tmp_path, maker) as (place, _):
        panel = shown(qtbot, place, 400, 300)
        place.cursor.move("s1", 1)
        controller = panel.findChild(ChartsController)
        for kind in ("png", "svg", "csv"):
            controller.save(kind, tmp_path / f"curves.{kind}")
        image = QImage(str(tmp_path / "curves.png"))
        assert image.width() == 2 * panel.canvas.width()
        assert len({image.pixel(x, y) for x in range(0, image.width(), 3) for y in range(0, image.height(), 3)}) > 3
        assert QSvgRenderer(str(tmp_path / "curves.svg")).isValid()
        rows = list(csv.DictReader((tmp_path / "curves.csv").read_text(encoding="utf-8-sig").splitlines()))
        assert {r["quantity"] for r in rows} >= {"score", "context", "cost", "duration", "idle"}
        assert [float(r["value"]) for r in rows if r["quantity"] == "score"] == [61.5]


def test_a_table_runs_no_formula():
    curve = Series("score", np.array([1]), np.array([2.0]))
    times = Times(np.array([np.nan]), np.array([0.0]))
    assert table_of([Curves("s", "=1+1", (curve,), np.array([1]), times)])[1] == ("s", "'=1+1", "score", 1, "", 2.0)


def test_the_words_of_verdicts_have_room_below_each_other_in_the_least_height(qtbot, tmp_path):
    maker = Maker(3)
    for number, value in enumerate(("keep", "unsure", "mask"), 1):
        maker.add_step("run_command", fails=False)
        maker.say(VerdictGiven(step=number, value=value), Author(kind="person", name="li"))
    with workplace(tmp_path, maker) as (place, _):
        panel = shown(qtbot, place, 600, 200)
        place.cursor.move("s1", 1)
        qtbot.waitUntil(lambda: panel.has_canvas and "verdicts" in panel.canvas.keys)
        places = [panel.canvas.y_of("verdicts", value) for value in (1.0, 0.0, -1.0)]
        least = QFontMetrics(theme.small_font(panel.canvas.font())).ascent()
        assert all(low - high >= least for high, low in pairwise(places)), (places, least)
        assert panel.reading.text(), "no empty line below the curves"
