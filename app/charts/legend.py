"""Says which curve is whose: one line for each session, drawn as plain text in the window and in files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit import theme
from app.kit.safe_text import one_line

if TYPE_CHECKING:
    from app.charts.series import Curves


class ChartLegend(QWidget):
    """Empty for a single session, which needs none."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._sessions: list[tuple[QPen, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setVisible(False)

    def show_sessions(self, curves: Sequence[Curves], pens: Sequence[QPen]) -> None:
        """Name these."""
        self._sessions = [(pen, one_line(c.title, 120)) for c, pen in zip(curves, pens, strict=True)]
        self.setVisible(len(curves) > 1)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line each."""
        return QSize(80, self._line() * len(self._sessions) + theme.GRID)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the lines."""
        self.draw(QPainter(self), QRectF(self.rect()))

    def draw(self, painter: QPainter, room: QRectF) -> None:
        """The lines, into a part of a picture."""
        painter.setFont(theme.small_font(self.font()))
        for number, (pen, title) in enumerate(self._sessions):
            top = room.top() + number * self._line()
            middle = top + self._line() / 2
            painter.setPen(pen)
            left = room.left() + 2 * theme.GRID
            painter.drawLine(QPointF(left, middle), QPointF(left + 6 * theme.GRID, middle))
            painter.setPen(theme.colour("ink"))
            words = QRectF(room.left() + 10 * theme.GRID, top, room.width() - 12 * theme.GRID, self._line())
            elided = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, int(words.width()))
            painter.drawText(words, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter), elided)

    def _line(self) -> int:
        return QFontMetrics(theme.small_font(self.font())).height() + 2
