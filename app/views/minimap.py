"""The minimap: the whole trajectory as one strip, a cell per step (binned above its height); a click goes there."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from app import theme
from app.models.overview import WEIGHT, Overview, binned


class Minimap(QWidget):
    """A narrow strip beside the list; mouse only, the keyboard has the list itself."""

    picked = Signal(int)
    """An item of the trajectory was clicked."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._told = Overview()
        self._cells: tuple[int, int, bytes] = (-1, -1, b"")
        self._drawn: QPixmap | None = None
        self._seen = (0.0, 0.0)
        self._at = -1
        self.setAccessibleName(self.tr("Overview of the trajectory"))
        self.setToolTip(self.tr("The whole trajectory: errors, guidance, summaries, scores, verdicts, notes. "
                                "Click to go."))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        """As wide as a scroll bar."""
        return QSize(14, 80)

    def show_items(self, told: Overview) -> None:
        """Show an overview, or what it has got since."""
        self._told, self._cells, self._drawn = told, (-1, -1, b""), None
        self.update()

    def show_place(self, item: int, first: int, last: int) -> None:
        """Mark the current item and the range that the list shows."""
        count = max(1, len(self._told.codes))
        seen = (first / count, (last + 1) / count)
        if (item, seen) != (self._at, self._seen):
            self._at, self._seen = item, seen
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw cells, the range in sight, the place of the reader."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("alternate"))
        count = len(self._told.codes)
        if not count:
            return
        cells = self._binned(max(1, self.height() // 2))
        total = min(self.height() / len(cells), 12.0) * len(cells)
        painter.fillRect(QRectF(0, self._seen[0] * total, self.width(), (self._seen[1] - self._seen[0]) * total),
                         theme.colour("selected"))
        if self._drawn is None or self._drawn.deviceIndependentSize().toSize() != self.size():
            self._drawn = self._draw(cells, total / len(cells), total / count)
        painter.drawPixmap(0, 0, self._drawn)
        if self._at >= 0:
            painter.fillRect(QRectF(0, self._at / count * total, self.width(), 2), theme.colour("text"))

    def _draw(self, cells: bytes, step: float, each: float) -> QPixmap:
        """Cells and notes on a transparent ground: they change less often than the place of the reader."""
        made = QPixmap(self.size() * self.devicePixelRatioF())
        made.setDevicePixelRatio(self.devicePixelRatioF())
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        inks = [theme.colour(meaning) if meaning else None for meaning in WEIGHT]
        for number, code in enumerate(cells):
            if (ink := inks[code]) is not None:
                painter.fillRect(QRectF(3, number * step, self.width() - 6, max(2.0, step - 0.5)), ink)
        self._paint_notes(painter, each)
        painter.end()
        return made

    def _binned(self, cells: int) -> bytes:
        key = (cells, len(self._told.codes))
        if self._cells[:2] != key:
            self._cells = (*key, binned(self._told.codes, cells))
        return self._cells[2]

    def _paint_notes(self, painter: QPainter, each: float) -> None:
        """A small wedge at the edge for each note; those that fall on one another are one."""
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("attention"))
        edge = self.width()
        for y in {round((item + 0.5) * each) for item in self._told.notes}:
            painter.drawPolygon(QPolygonF([QPointF(edge, y - 3), QPointF(edge, y + 3), QPointF(edge - 5, y)]))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the item under the mouse."""
        self._pick(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Dragging scrubs."""
        self._pick(event)

    def _pick(self, event: QMouseEvent) -> None:
        count = len(self._told.codes)
        if not count or not event.buttons() & Qt.MouseButton.LeftButton:
            return
        cells = min(count, max(1, self.height() // 2))
        total = min(self.height() / cells, 12.0) * cells
        self.picked.emit(max(0, min(count - 1, int(event.position().y() / total * count))))

    def changeEvent(self, event: QEvent) -> None:
        """Other colours."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self._drawn = None
            self.update()
