"""Axes of plots in the desktop's colours: values with units, steps or times; nothing that guesses at markup."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import pyqtgraph as pg
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.kit import quantities, theme

_SECONDS = (1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 28800, 86400)
AXIS_WIDTH = 56


def ink_axes(plot: pg.PlotItem) -> None:
    """Give the axes the colours of now."""
    for side in ("left", "bottom"):
        axis = plot.getAxis(side)
        axis.setPen(pg.mkPen(theme.colour("line")))
        axis.setTextPen(pg.mkPen(theme.colour("muted")))


def make_plain(plot: pg.PlotItem) -> None:
    """Take pyqtgraph's own menu and buttons away; the menu's labels exist all the same, and guess at markup."""
    plot.setMenuEnabled(False)
    plot.hideButtons()
    for part in vars(plot.ctrl).values():
        if isinstance(part, QLabel):
            part.setTextFormat(Qt.TextFormat.PlainText)


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
