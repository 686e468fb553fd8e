"""One lane of the charts: a pyqtgraph plot of one quantity, of one session or several over one another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtGui import QFont, QPen
from PySide6.QtWidgets import QGraphicsSimpleTextItem

from app.charts.series import Curves, Over, Series
from app.kit import theme
from app.kit.plots import ValueAxis, ink_axes
from app.kit.quantities import reading

MEANINGS = {"score": "ink", "context": "person", "cost": "attention", "duration": "live", "idle": "muted",
            "verdicts": "keep"}
OTHERS = ("ink", "error", "mask", "keep", "live")
DASHES = (Qt.PenStyle.DashLine, Qt.PenStyle.DotLine, Qt.PenStyle.DashDotLine, Qt.PenStyle.DashDotDotLine,
          Qt.PenStyle.DashLine)
VERDICTS = {1: "keep", 0: "attention", -1: "mask"}
_HEADROOM = 1.4
"""The lane's name stands above its curves."""


class Lane:
    """Draws what the sessions say of one quantity; `plot` is pyqtgraph's."""

    def __init__(self, plot: pg.PlotItem, key: str, name: str, font: QFont) -> None:
        self.plot, self.key = plot, key
        plot.setMouseEnabled(x=True, y=False)
        self._name = QGraphicsSimpleTextItem(name, plot.vb)  # plain text: pyqtgraph's own labels are HTML
        self._value = QGraphicsSimpleTextItem("", plot.vb)
        for text in (self._name, self._value):
            text.setFont(font)
            text.setZValue(10)
        self._name.setPos(theme.GRID, 0)
        self._band = pg.LinearRegionItem(movable=False)
        self._line = pg.InfiniteLine(angle=90, movable=False)
        self._items: list[pg.GraphicsObject] = []
        for item in (self._band, self._line):
            plot.addItem(item, ignoreBounds=True)
            item.hide()
        plot.vb.sigResized.connect(self._place_value)

    def show(self, curves: Sequence[Curves], over: Over, end: float) -> None:
        """Draw these, the first above all others; values that hold go on to `end`."""
        for item in self._items:
            self.plot.removeItem(item)
        self._items = []
        for place in reversed(range(len(curves))):
            series = curves[place].of(self.key)
            if series is not None:
                self._draw(curves[place], series, place, over, end)
        self._scale(curves)
        mine = curves[0].of(self.key) if curves else None
        self._value.setText(reading(self.key, float(mine.values[-1])) if mine is not None else "")
        self._restyle()

    def show_place(self, at: float | None, marked: tuple[float, float] | None) -> None:
        """Where the reader is, and what is marked."""
        self._line.setVisible(at is not None)
        if at is not None:
            self._line.setValue(at)
        self._band.setVisible(marked is not None)
        if marked is not None:
            self._band.setRegion(marked)

    def y_of(self, value: float) -> float:
        """The place of a value in the scene, in pixels."""
        return float(self.plot.vb.mapViewToScene(pg.Point(0, value)).y())

    def _draw(self, curves: Curves, series: Series, place: int, over: Over, end: float) -> None:
        x, y = curves.xs(series.steps, over), series.values
        known = np.isfinite(x)
        if not known.any():
            return
        x, y = x[known], y[known]
        if series.holds and not place:
            x, y = np.append(x, end), np.append(y, y[-1])
        if self.key == "verdicts":
            item = _symbols(x, y, place)
        else:
            item = pg.PlotDataItem(x, y, pen=pen_of(place, self.key), stepMode="right" if series.holds else None,
                                   symbol="o" if len(x) == 1 else None, symbolSize=4)
        self.plot.addItem(item)
        if self.key != "verdicts" and not series.holds:  # only now: before, the item has no view to be clipped to
            item.setDownsampling(auto=True, method="peak")
            item.setClipToView(True)
        self._items.append(item)

    def _scale(self, curves: Sequence[Curves]) -> None:
        if self.key == "verdicts":
            self.plot.setYRange(-1.6, 2.9, padding=0)  # above them stands the name
            return
        roof = max((s.top for c in curves if (s := c.of(self.key))), default=1.0)
        roof = max(100.0, roof) if self.key == "score" else roof
        self.plot.getAxis("left").roof = roof
        self.plot.setYRange(0, roof * _HEADROOM, padding=0.02)

    def _restyle(self) -> None:
        self._name.setBrush(theme.colour("muted"))
        self._value.setBrush(theme.colour(MEANINGS[self.key]))
        self._line.setPen(pg.mkPen(theme.colour("ink"), width=1))
        self._band.setBrush(theme.tint("person", 60))
        for line in self._band.lines:
            line.setPen(pg.mkPen(theme.colour("person"), width=1))
        ink_axes(self.plot)
        self._place_value()

    def _place_value(self, *_: object) -> None:
        self._value.setPos(self.plot.vb.width() - self._value.boundingRect().width() - theme.GRID, 0)


def _symbols(x: np.ndarray, y: np.ndarray, place: int) -> pg.ScatterPlotItem:
    """Verdicts: filled in their colour for the session that is looked at, hollow for others."""
    inks = [theme.colour(VERDICTS[round(v)]) for v in y]
    return pg.ScatterPlotItem(x, y, size=6 + 2 * place, symbol="s", pen=[pg.mkPen(ink) for ink in inks],
                              brush=[pg.mkBrush(ink) for ink in inks] if place == 0 else pg.mkBrush(None))


def pen_of(place: int, key: str) -> QPen:
    """Full lines for the session that is looked at, broken ones for the others."""
    if place == 0:
        return QPen(pg.mkPen(theme.colour(MEANINGS[key]), width=1.5))
    other = (place - 1) % len(OTHERS)
    return QPen(pg.mkPen(theme.colour(OTHERS[other]), width=1.25, style=DASHES[other]))


class VerdictAxis(ValueAxis):
    """Three words instead of values."""

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """The three."""
        return [(1.0, [-1.0, 0.0, 1.0])]
