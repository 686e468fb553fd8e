"""Draws curves with pyqtgraph: one lane per quantity over one axis of steps or of time. The wheel zooms, a double click
shows all again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPen
from PySide6.QtWidgets import QWidget

from app.charts.lane import Lane, VerdictAxis, pen_of
from app.charts.series import KEYS, Curves, Over
from app.kit import theme
from app.kit.plots import Plots, ValueAxis
from app.kit.quantities import reading

pg.setConfigOption("exitCleanup", False)  # the application takes its widgets down itself
NEAR = 16
"""A click so many pixels from another session's curve, and nearer to it than to ours, is a click on that."""
_LANE = 52
"""The least height of a lane, in pixels."""


class ChartCanvas(Plots):
    """`picked` a session and step, `brushed` a range of steps, `moved` by the arrow keys, `hovered` a step."""

    picked = Signal(str, int)
    brushed = Signal(int, int)
    moved = Signal(int)
    hovered = Signal(int)

    def __init__(self, names: Mapping[str, str], verdicts: Mapping[int, str], parent: QWidget) -> None:
        super().__init__(parent)
        self.curves: list[Curves] = []
        self.over: Over = "steps"
        self.hidden: frozenset[str] = frozenset()
        self._names, self._verdicts = names, verdicts
        self._lanes: list[Lane] = []
        self._step: int | None = None
        self._marks: tuple[int, ...] = ()
        self._from: int | None = None
        self._zoomed = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMinimumHeight(120)
        self.ci.setContentsMargins(0, 0, 0, 0)

    @property
    def keys(self) -> list[str]:
        """The lanes: what any session has and nobody put away."""
        return [key for key in KEYS if key not in self.hidden and any(curves.of(key) for curves in self.curves)]

    def show_curves(self, curves: Sequence[Curves]) -> None:
        """Draw other curves: the first are those of the session that is looked at."""
        self.curves = list(curves)
        self._draw()

    def show_over(self, over: Over) -> None:
        """Let the curves run over the steps, or over the time."""
        self.over, self._zoomed = over, False
        self._draw()

    def follow_theme(self) -> None:
        super().follow_theme()
        self._draw()

    def hide_keys(self, hidden: frozenset[str]) -> None:
        """Put some quantities away."""
        self.hidden = hidden
        self._draw()

    def show_place(self, step: int | None, marks: tuple[int, ...]) -> None:
        """Show where the reader is and what is marked."""
        self._step, self._marks = step, marks
        mine = self.curves[0] if self.curves else None
        at = mine.x(step, self.over) if mine is not None and step is not None else None
        ends = [mine.x(n, self.over) for n in (min(marks), max(marks))] if mine is not None and len(marks) > 1 else []
        band = (ends[0], ends[1]) if len(ends) == 2 and ends[0] is not None and ends[1] is not None else None
        for lane in self._lanes:
            lane.show_place(at, band)

    def pens(self) -> list[QPen]:
        """One for each session, as the first lane draws them."""
        return [pen_of(place, self.keys[0]) for place in range(len(self.curves))] if self.keys else []

    def x_of(self, step: int) -> float:
        """Where a step of the session that is looked at lies, in pixels of the view."""
        at = self.curves[0].x(step, self.over) or 0.0
        return float(self.mapFromScene(self._lanes[0].plot.vb.mapViewToScene(pg.Point(at, 0))).x())

    def y_of(self, key: str, value: float) -> float:
        """Where a value lies, in pixels of the view."""
        lane = next(lane for lane in self._lanes if lane.key == key)
        return float(self.mapFromScene(QPointF(0, lane.y_of(value))).y())

    # ---- drawing ---------------------------------------------------------------------------------

    def _draw(self) -> None:
        if [lane.key for lane in self._lanes] != self.keys:
            self._lay_out()
        end = self._end()
        for lane in self._lanes:
            lane.show(self.curves, self.over, end)
        if self._lanes:
            self._lanes[-1].plot.getAxis("bottom").over = self.over
            vb = self._lanes[0].plot.vb
            vb.setLimits(xMin=-end * 0.02, xMax=end * 1.02, minXRange=min(end, 2.0))
            if not self._zoomed:
                vb.setXRange(1.0 if self.over == "steps" else 0.0, end, padding=0.01)
        self.show_place(self._step, self._marks)

    def _lay_out(self) -> None:
        self.ci.clear()
        self._lanes = []
        font = theme.small_font(self.font())
        for row, key in enumerate(self.keys):
            plot = self.add_plot(row, 0, self._value_axis(key), font)
            plot.setMinimumHeight(_least_height(key))
            plot.getAxis("bottom").setStyle(showValues=row == len(self.keys) - 1)
            lane = Lane(plot, key, self._names[key], font)
            if self._lanes:
                plot.setXLink(self._lanes[0].plot)
            self._lanes.append(lane)
            plot.vb.sigRangeChangedManually.connect(self._on_zoomed)
        self.setMinimumHeight(sum(map(_least_height, self.keys)) + 24)

    def _value_axis(self, key: str) -> ValueAxis:
        if key == "verdicts":
            return VerdictAxis(lambda value: self._verdicts.get(round(value), ""))
        return ValueAxis(lambda value: reading(key, value))

    def _end(self) -> float:
        """The last step, or second, of all sessions."""
        return max((c.end(self.over) for c in self.curves), default=0.0) or 2.0

    def _on_zoomed(self, *_: object) -> None:
        self._zoomed = True

    # ---- mouse and keys --------------------------------------------------------------------------

    def _step_at(self, point: QPointF) -> int:
        at = self._lanes[0].plot.vb.mapSceneToView(self.mapToScene(point.toPoint())).x()
        return self.curves[0].step_at(float(at), self.over)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click goes to a step, a drag marks some."""
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        if self._lanes and event.button() == Qt.MouseButton.LeftButton:
            self._from = self._step_at(event.position())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Tell what is under the mouse; mark while it drags."""
        if not self._lanes:
            return
        step = self._step_at(event.position())
        self.hovered.emit(step)
        if self._from is not None and event.buttons() & Qt.MouseButton.LeftButton and step != self._from:
            self.brushed.emit(min(step, self._from), max(step, self._from))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """The click is over."""
        if self._from is not None and self._step_at(event.position()) == self._from:
            self._pick(event.position(), self._from)
        self._from = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Show all again."""
        self._zoomed = False
        self._draw()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Left and Right move by one step."""
        by = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if by is None:
            event.ignore()
        else:
            self.moved.emit(by)

    def _pick(self, point: QPointF, step: int) -> None:
        chosen = self.curves[self._nearest(point)]
        if chosen is not self.curves[0]:
            at = self._lanes[0].plot.vb.mapSceneToView(self.mapToScene(point.toPoint())).x()
            step = chosen.step_at(float(at), self.over)
        self.picked.emit(chosen.session, step)

    def _nearest(self, point: QPointF) -> int:
        """Whose curve is clicked: ours unless another is near and nearer."""
        scene = self.mapToScene(point.toPoint())
        lane = next((one for one in self._lanes if one.plot.sceneBoundingRect().contains(scene)), None)
        if lane is None:
            return 0
        at = float(lane.plot.vb.mapSceneToView(scene).x())
        far: list[tuple[float, int]] = []
        for place, curves in enumerate(self.curves):
            series, step = curves.of(lane.key), curves.step_at(at, self.over)
            value = series.at(step) if series is not None and at <= curves.end(self.over) + 0.5 else None
            far.append((abs(lane.y_of(value) - scene.y()) if value is not None else float("inf"), place))
        distance, place = min(far)
        return place if distance <= NEAR else 0


def _least_height(key: str) -> int:
    """The three words of verdicts stand below each other."""
    return _LANE * 7 // 4 if key == "verdicts" else _LANE
