"""Training as it goes, drawn with pyqtgraph: loss, speed and memory over the updates. The pointer reads off."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QPointF, QSize, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QWidget

from app.kit import theme
from app.kit.plots import Plots, ValueAxis
from app.kit.quantities import number
from core.workers.training import Metric

Points = list[tuple[int, float]]


class LossChart(Plots):
    """Stacked plots with one axis of updates; a lane shows when something was reported for it."""

    reading = Signal(str)
    """What the pointer reads off; "" when it left."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points: Sequence[Metric] = ()
        self._plots: dict[str, pg.PlotItem] = {}
        self._line = pg.InfiniteLine(angle=90, movable=False)
        self.setMouseTracking(True)
        self.setMinimumHeight(150)
        self.setAccessibleName(self.tr("Loss and speed"))

    def sizeHint(self) -> QSize:
        """Room for all lanes."""
        return QSize(320, 260)

    @property
    def lanes(self) -> list[str]:
        """What is drawn, from top to bottom."""
        return list(self._plots)

    def show_points(self, points: Sequence[Metric]) -> None:
        """Draw these."""
        self._points = points
        lanes = {"loss": values(points, lambda m: m.loss), "speed": values(points, lambda m: m.tokens_per_s),
                 "memory": values(points, lambda m: m.memory_mb)}
        keys = [key for key, found in lanes.items() if found]
        if keys != list(self._plots):
            self._lay_out(keys)
        for key in keys:
            self._plots[key].clearPlots()
            self._draw(key, lanes[key], {"loss": "live", "speed": "person", "memory": "muted"}[key])
        held = values(points, lambda m: m.eval_loss)
        if held and "loss" in self._plots:
            self._draw("loss", held, "attention", symbol="o")
        for key in keys:
            shown = [v for _, v in lanes[key]] + ([v for _, v in held] if key == "loss" else [])
            low, high = min(shown), max(shown)
            self._plots[key].setYRange(low, high + 0.3 * ((high - low) or abs(high) or 1.0), padding=0.05)
        if points:
            self.setAccessibleDescription(f"{points[-1].step}: {points[-1].loss}")
            last = max(points[-1].step, points[-1].steps, points[0].step + 1)
            for plot in self._plots.values():
                plot.setXRange(points[0].step, last, padding=0.02)

    def _lay_out(self, keys: list[str]) -> None:
        names = {"loss": self.tr("loss, and ● on data held out"), "speed": self.tr("tokens/s"),
                 "memory": self.tr("memory (MB)")}
        self.ci.clear()
        self._plots = {}
        font = theme.small_font(self.font())
        for row, key in enumerate(keys):
            plot = self.add_plot(row, 0, ValueAxis(short), font)
            plot.getAxis("bottom").setStyle(showValues=row == len(keys) - 1)
            name = QGraphicsSimpleTextItem(names[key], plot.vb)
            name.setFont(font)
            name.setBrush(theme.colour("muted"))
            name.setPos(theme.GRID, 0)
            self.ci.layout.setRowStretchFactor(row, 2 if key == "loss" else 1)
            self._plots[key] = plot
        if keys:
            self._line = pg.InfiniteLine(angle=90, movable=False, pen=pg.mkPen(theme.colour("muted")))
            self._plots[keys[0]].addItem(self._line, ignoreBounds=True)
            self._line.hide()

    def _draw(self, key: str, points: Points, meaning: str, symbol: str | None = None) -> None:
        x, y = np.array(points, dtype=float).T
        ink = theme.colour(meaning)
        self._plots[key].addItem(pg.PlotDataItem(
            x, y, pen=None if symbol else pg.mkPen(ink, width=1.6),
            symbol=symbol or ("o" if len(points) == 1 else None), symbolSize=5, symbolBrush=ink, symbolPen=ink))

    def follow_theme(self) -> None:
        super().follow_theme()
        self._lay_out(list(self._plots))
        self.show_points(self._points)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Read off at the pointer."""
        if self._points and self._plots:
            self.read_off(event.position())

    def leaveEvent(self, event: object) -> None:
        """No reading."""
        self._line.hide()
        self.reading.emit("")

    def read_off(self, at: QPointF) -> None:
        """Tell the values of the update that is nearest to a place of the view."""
        plot = next(iter(self._plots.values()))
        x = float(plot.vb.mapSceneToView(self.mapToScene(at.toPoint())).x())
        near = min(self._points, key=lambda m: abs(m.step - x))
        self._line.setValue(near.step)
        self._line.show()
        parts = [self.tr("step {step}").format(step=number(near.step))]
        if near.loss is not None:
            parts.append(self.tr("loss {loss}").format(loss=f"{near.loss:.4f}"))
        if near.tokens_per_s is not None:
            parts.append(self.tr("{rate} tokens/s").format(rate=short(near.tokens_per_s)))
        if near.memory_mb is not None:
            parts.append(self.tr("{size} MB").format(size=number(round(near.memory_mb))))
        self.reading.emit(" · ".join(parts))


def values(points: Sequence[Metric], of: Callable[[Metric], float | None]) -> Points:
    """Step and value wherever there is a finite one."""
    return [(m.step, v) for m in points if (v := of(m)) is not None and math.isfinite(v)]


def short(value: float) -> str:
    """A number of an axis: 0.25, 1.5, 12k."""
    if abs(value) >= 1e6:
        return f"{value / 1e6:.3g}M"
    if abs(value) >= 1e4:
        return f"{value / 1e3:.3g}k"
    return f"{value:.4g}"
