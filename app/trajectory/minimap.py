"""The minimap: the whole trajectory as one strip of lanes (failures, masks, subagents) by density; a click goes there.

A cell is a step, or as many as fall on two pixels. How strongly a lane shows is the share of a cell's steps, in five
levels, so that a session is not red for some errors in a hundred.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from app.kit import theme
from app.kit.timers import single_shot
from app.trajectory.overview import Overview, Timeline, spans, strength

RENEW_MS = 250
"""While a session grows its cells are drawn again this often at most."""

WIDTH = 18
LANES = {"failed": (5, 7, "error"), "masked": (12, 5, "mask")}
"""Of each lane where it begins, how wide it is, and its colour."""

CALL = 2
"""The mark of a step that called a subagent, at the left edge; and a line over all lanes."""

IN_SIGHT = 0.12
"""How strongly the part is marked that the list shows."""


class Minimap(QWidget):
    """A narrow strip beside the list; mouse only, the keyboard has the list itself."""

    picked = Signal(int)
    """An item of the trajectory was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._overview = Overview()
        self._redraw = single_shot(self, RENEW_MS, self._renew)
        self._by_time = False
        self._line: Timeline | None = None
        self._drawn: QPixmap | None = None
        self._seen = (0.0, 0.0)
        self._at = -1
        self._calls: tuple[int, ...] = ()
        self.setAccessibleName(self.tr("Overview of the trajectory"))
        self.setToolTip(self.tr("The whole trajectory: errors at the left, masked steps at the right, the darker the "
                                "more of them; lines are people and scores. Click to go."))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        """As wide as its lanes."""
        return QSize(theme.px(WIDTH), 80)

    def show_calls(self, items: Sequence[int]) -> None:
        """Mark the steps that called subagents."""
        if tuple(items) != self._calls:
            self._calls = tuple(items)
            self._renew()

    def show_items(self, overview: Overview) -> None:
        """Show an overview at once, or what it has got since, now and then: drawing it takes as long as ten rows."""
        if overview is self._overview and self._drawn is not None:
            self._redraw.start_once()
            return
        self._overview = overview
        self._renew()

    def _renew(self) -> None:
        overview, self._drawn = self._overview, None
        line = Timeline(overview.trajectory) if self._by_time else None
        self._line = line if line is not None and line.length else None
        self.update()

    def set_by_time(self, on: bool) -> None:
        """Lay the cells out by time, pauses squeezed, instead of one for each step."""
        self._by_time = on
        self._renew()

    def show_place(self, item: int, first: int, last: int) -> None:
        """Mark the current item and the range that the list shows."""
        seen = (self._share(first), self._share(last + 1))
        if (item, seen) != (self._at, self._seen):
            self._at, self._seen = item, seen
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw cells, the range in sight, the place of the reader."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
        if not len(self._overview):
            return
        total = self._total()
        place = theme.colour("person")
        place.setAlphaF(IN_SIGHT)
        painter.fillRect(QRectF(0, self._seen[0] * total, self.width(), (self._seen[1] - self._seen[0]) * total), place)
        if self._drawn is None or self._drawn.deviceIndependentSize().toSize() != self.size():
            self._drawn = self._draw(total)
        painter.drawPixmap(0, 0, self._drawn)
        if self._at >= 0:
            painter.fillRect(QRectF(0, self._share(self._at) * total, self.width(), 2), theme.colour("ink"))

    def _share(self, item: int) -> float:
        """How far down an item stands: 0 to 1."""
        if self._line is None or self._overview.trajectory is None:
            return item / max(1, len(self._overview))
        items = self._overview.trajectory.items
        step = min(len(self._line.ends), item - len(items.others_in(0, item - 1)))
        return self._line.ends[step - 1] / self._line.length if step > 0 else 0.0

    def _item_at(self, share: float) -> int:
        count = len(self._overview)
        if self._line is None or self._overview.trajectory is None:
            return max(0, min(count - 1, int(share * count)))
        step = self._line.step_at(max(0.0, share) * self._line.length)
        return self._overview.trajectory.items.of_step(step)

    def _total(self) -> float:
        """How much of the height the cells take."""
        return float(self.height()) if self._line is not None else min(self.height(), 12.0 * len(self._overview))

    def _spans(self) -> list[tuple[int, int]]:
        """The items of each cell."""
        cells = max(1, self.height() // 2)
        if self._line is None or self._overview.trajectory is None:
            return spans(len(self._overview), cells)
        items, each = self._overview.trajectory.items, self._line.length / cells
        steps = (self._line.steps_between(i * each, (i + 1) * each) for i in range(cells))
        return [(items.of_step(a), items.of_step(max(a, b - 1)) + 1) for a, b in steps]

    def _draw(self, total: float) -> QPixmap:
        """Cells and notes on a transparent ground: they change less often than the place of the reader."""
        cells = self._spans()
        step = total / len(cells)
        made = QPixmap(self.size() * self.devicePixelRatioF())
        made.setDevicePixelRatio(self.devicePixelRatioF())
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        for name, (left, wide, meaning) in LANES.items():
            lane, ink = getattr(self._overview, name), theme.colour(meaning)
            left, wide = theme.px(left), theme.px(wide)
            for number, (start, stop) in enumerate(cells):
                if shown := strength(lane, start, stop):
                    ink.setAlphaF(shown)
                    painter.fillRect(QRectF(left, number * step, wide, max(2.0, step - 0.5)), ink)
        self._paint_lines(painter, total)
        self._paint_notes(painter, total)
        painter.end()
        return made

    def _paint_lines(self, painter: QPainter, total: float) -> None:
        """People and scores over all lanes, pauses, and at the left edge who called subagents."""
        line = self._line or Timeline()
        for place, _ in line.idle:
            painter.fillRect(QRectF(0, place / line.length * total, self.width(), 1), theme.colour("muted"))
        for meaning, rows in _rows_of((round(self._share(item) * total), ink) for item, ink in self._overview.lines):
            for y in rows:
                painter.fillRect(QRectF(0, y, self.width(), CALL), theme.colour(meaning))
        for y in {round(self._share(item) * total) for item in self._calls}:
            painter.fillRect(QRectF(0, y, CALL, max(4.0, total / max(1, len(self._overview)))), theme.colour("edge"))

    def _paint_notes(self, painter: QPainter, total: float) -> None:
        """A small wedge at the edge for each note; those that fall on one another are one."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("attention"))
        edge = self.width()
        for y in {round(self._share(item) * total) + 1 for item in self._overview.notes}:
            painter.drawPolygon(QPolygonF([QPointF(edge, y - 3), QPointF(edge, y + 3), QPointF(edge - 5, y)]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the item under the mouse."""
        self._pick(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Dragging scrubs."""
        self._pick(event)

    def _pick(self, event: QMouseEvent) -> None:
        count = len(self._overview)
        if not count or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        self.picked.emit(self._item_at(event.position().y() / self._total()))

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._drawn = None
            self.update()


def _rows_of(lines: Iterable[tuple[int, str]]) -> Iterable[tuple[str, set[int]]]:
    """Where lines of each colour stand, each once."""
    found: dict[str, set[int]] = {}
    for y, ink in lines:
        found.setdefault(ink, set()).add(y)
    return found.items()
