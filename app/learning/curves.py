"""The curves of a run, drawn with pyqtgraph: small plots over one axis of updates. A click chooses an update."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QFont, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QGraphicsSimpleTextItem, QSizePolicy, QWidget

from app.kit import theme
from app.kit.i18n import QT_TRANSLATE_NOOP, translate
from app.kit.plots import Plots, ValueAxis
from app.kit.quantities import short
from core.workers.reinforcement import RlMetric

Of = Callable[[RlMetric], float | None]

CURVES: tuple[tuple[str, str, str, tuple[tuple[Of, str], ...]], ...] = (
    ("reward", QT_TRANSLATE_NOOP("RunCurves", "reward"), QT_TRANSLATE_NOOP("RunCurves", "– – solved  ● held out"),
     ((lambda m: m.solved, "dash"), (lambda m: m.reward, "line"), (lambda m: m.test_reward, "dots"))),
    ("kl", QT_TRANSLATE_NOOP("RunCurves", "KL"), QT_TRANSLATE_NOOP("RunCurves", "– – to the first model"),
     ((lambda m: m.kl_reference, "dash"), (lambda m: m.kl, "line"))),
    ("entropy", QT_TRANSLATE_NOOP("RunCurves", "entropy"), "", ((lambda m: m.entropy, "line"),)),
    ("length", QT_TRANSLATE_NOOP("RunCurves", "tokens a session"), "", ((lambda m: m.length, "line"),)),
    ("clipped", QT_TRANSLATE_NOOP("RunCurves", "clipped"), "", ((lambda m: m.clipped, "line"),)),
    ("staleness", QT_TRANSLATE_NOOP("RunCurves", "staleness, in updates"), "", ((lambda m: m.staleness, "line"),)),
)
"""Key, name, what its other lines mean, and what each plot draws: of a metric, and how. The full line's value stands
at the right."""

PLOT_HEIGHT, WIDE = 92, 540
"""The least height of a plot; from which width on three stand side by side."""
_AXIS = 40
_HEADROOM = 1.45
"""A plot's name stands above its curves."""


class RunCurves(Plots):
    """`picked` is the update that the reader clicked."""

    picked = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.metrics: Sequence[RlMetric] = ()
        self._update = 0
        self._across = 0
        self._plots: dict[str, _Plot] = {}
        self.ci.setContentsMargins(0, 0, theme.GRID, 0)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.setAccessibleName(self.tr("Curves of the run"))
        self._arrange(3)

    def show_run(self, metrics: Sequence[RlMetric], update: int) -> None:
        """Draw these, with a line at an update."""
        self.metrics, self._update = metrics, update
        for plot in self._plots.values():
            plot.show(metrics, update)

    def value(self, key: str) -> str:
        """What stands at the right of a plot."""
        return self._plots[key].value.text()

    def sizeHint(self) -> QSize:
        """Two or three rows of plots."""
        return QSize(theme.px(WIDE), self.minimumHeight())

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Two plots side by side where three would be too narrow."""
        super().resizeEvent(event)
        if "_plots" in self.__dict__:
            self._arrange(3 if event.size().width() >= theme.px(WIDE) else 2)

    def follow_theme(self) -> None:
        super().follow_theme()
        self._lay_out()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Choose the update that was clicked."""
        plot = next(iter(self._plots.values()), None)
        scene = self.mapToScene(event.position().toPoint())
        hit = next((p for p in self._plots.values() if p.item.sceneBoundingRect().contains(scene)), plot)
        if hit is not None and self.metrics and event.button() == Qt.MouseButton.LeftButton:
            self.picked.emit(round(float(hit.item.vb.mapSceneToView(scene).x())))

    def _arrange(self, across: int) -> None:
        if across != self._across:
            self._across = across
            self._lay_out()

    def _lay_out(self) -> None:
        self.ci.clear()
        self._plots = {}
        font = theme.font_of("caption", self.font())
        for place, (key, name, legend, drawn) in enumerate(CURVES):
            item = self.add_plot(*divmod(place, self._across), ValueAxis(short), font, theme.px(_AXIS))
            item.setMinimumHeight(theme.px(PLOT_HEIGHT - 8))
            words = [translate("RunCurves", text) for text in (name, legend) if text]
            self._plots[key] = _Plot(item, words, drawn, font)
        self.setMinimumHeight(theme.px(PLOT_HEIGHT) * math.ceil(len(CURVES) / self._across))
        self.show_run(self.metrics, self._update)


class _Plot:
    """One small plot."""

    def __init__(self, item: pg.PlotItem, words: Sequence[str], drawn: Sequence[tuple[Of, str]], font: QFont) -> None:
        self.item, self._words, self._drawn = item, words, drawn
        item.setToolTip("\n".join(words))
        self.name, self.value = (QGraphicsSimpleTextItem("", item.vb) for _ in range(2))
        for label, ink in ((self.name, "muted"), (self.value, "ink")):
            label.setFont(font)
            label.setBrush(theme.colour(ink))
            label.setZValue(10)
        self.name.setPos(theme.GRID, 0)
        self._line = pg.InfiniteLine(angle=90, movable=False, pen=pg.mkPen(theme.colour("person"), width=1))
        item.addItem(self._line, ignoreBounds=True)
        item.vb.sigResized.connect(self._place_value)

    def show(self, metrics: Sequence[RlMetric], update: int) -> None:
        """Draw what the metrics say; the value is that of the update, else the last one before."""
        self.item.clearPlots()
        top = low = 0.0
        for of, how in self._drawn:
            points = [(m.update, v) for m in metrics if (v := of(m)) is not None and math.isfinite(v)]
            if points:
                self._draw(points, how)
                top, low = max(top, *(v for _, v in points)), min(low, *(v for _, v in points))
            if how == "line":
                near = [v for at, v in points if at <= update]
                self.value.setText(short(near[-1]) if near else "–")
        self.item.getAxis("left").roof = top or 1.0
        self.item.setYRange(low, low + ((top - low) or 1.0) * _HEADROOM, padding=0.02)
        last = max((m.update for m in metrics), default=1)
        self.item.setXRange(0, max(last, 2), padding=0.02)
        self._line.setValue(update)
        self._line.setVisible(update > 0)
        self._place_value()

    def _draw(self, points: Sequence[tuple[int, float]], how: str) -> None:
        x, y = np.array(points, dtype=float).T
        ink = theme.colour({"line": "ink", "dash": "muted", "dots": "keep"}[how])
        pen = None if how == "dots" else pg.mkPen(ink, width=1.5 if how == "line" else 1.2, style=(
            Qt.PenStyle.DashLine if how == "dash" else Qt.PenStyle.SolidLine))
        symbol = "o" if how == "dots" or len(points) == 1 else None
        curve = pg.PlotDataItem(x, y, pen=pen, symbol=symbol, symbolSize=5, symbolBrush=ink, symbolPen=ink)
        self.item.addItem(curve)
        if how != "dots":
            curve.setDownsampling(auto=True, method="peak")

    def _place_value(self, *_: object) -> None:
        room = self.item.vb.width() - self.value.boundingRect().width() - theme.GRID
        self.value.setPos(room, 0)
        self.name.setText("  ".join(self._words))
        if self.name.boundingRect().width() > room - 2 * theme.GRID:  # what the other lines mean is told by the tip
            self.name.setText(self._words[0])
