"""Plots in the desktop's colours, and their axes: values with units, steps or times; nothing guesses at markup."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pyqtgraph as pg
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QLabel, QWidget

from app.kit import quantities, theme
from app.kit.timers import single_shot

_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400)
AXIS_WIDTH = 56


def ink_axes(plot: pg.PlotItem) -> None:
    """Give the axes the colours of now."""
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(theme.colour("line")))
        axis.setTextPen(pg.mkPen(theme.colour("muted")))


class Plots(pg.GraphicsLayoutWidget):  # type: ignore[misc]
    """Plots beside or below one another; where light and dark change, `follow_theme` is called soon."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._themed = single_shot(self, 0, self.follow_theme)
        self.setBackground(theme.colour("base"))
        self.ci.layout.setSpacing(0)

    def add_plot(self, row: int, column: int, values: ValueAxis, font: QFont, width: int = AXIS_WIDTH) -> pg.PlotItem:
        """A plot of values over steps that no mouse moves, without pyqtgraph's menu and buttons; `width` in pixels is
        that of the values' axis."""
        axes: dict[str, pg.AxisItem] = {"left": values, "bottom": StepAxis()}
        plot = self.ci.addPlot(row=row, col=column, axisItems=axes)
        plot.setMenuEnabled(False)
        plot.hideButtons()
        for part in vars(plot.ctrl).values():
            if isinstance(part, QLabel):  # of the menu, which exists all the same, and guesses at markup
                part.setTextFormat(Qt.TextFormat.PlainText)
        plot.setMouseEnabled(x=False, y=False)
        for axis in axes.values():
            axis.setStyle(tickFont=font)
        values.setWidth(width)
        ink_axes(plot)
        return plot

    def changeEvent(self, event: QEvent) -> None:
        """Follow light and dark."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange and "_themed" in self.__dict__:
            self._themed.start()  # not now: Qt is just telling the change to the very items that are made anew

    def follow_theme(self) -> None:
        """Take the colours of now."""
        self.setBackground(theme.colour("base"))


class ValueAxis(pg.AxisItem):  # type: ignore[misc]
    """Values with their unit; few ticks."""

    def __init__(self, label: Callable[[float], str]) -> None:
        super().__init__("left")
        self._label = label
        self.roof = math.inf
        self.setStyle(maxTickLevel=0, tickLength=-3)
        self.setTickDensity(0.6)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        """None above the highest value: that room is the name's."""
        ticks = super().tickValues(low, high, size)
        return [(spacing, [v for v in values if v <= self.roof * 1.01]) for spacing, values in ticks]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Each value with its unit; values too near for different words share the lowest one's."""
        names = [self._label(value) for value in values]
        return [name if names.index(name) == at else "" for at, name in enumerate(names)]


class StepAxis(pg.AxisItem):  # type: ignore[misc]
    """Whole steps, or a time since the beginning."""

    def __init__(self) -> None:
        super().__init__("bottom")
        self.over = "steps"
        """What lies along it: "steps", or any word for seconds since the beginning."""
        self.setStyle(maxTickLevel=0, tickLength=-3)

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        """Round numbers of steps, or of seconds, minutes and hours."""
        raw = max(1.0, (high - low) / max(2.0, size / 90))
        if self.over != "steps":
            return [(float(next((s for s in _SECONDS if s >= raw), 86400 * math.ceil(raw / 86400))), 0)]
        power = 10 ** math.floor(math.log10(raw))
        return [(float(next(m * power for m in (1, 2, 5, 10) if m * power >= raw)), 0)]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        """Steps, or durations."""
        return [quantities.number(round(v)) if self.over == "steps" else quantities.duration(v) for v in values]
