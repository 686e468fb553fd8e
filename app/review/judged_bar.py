"""How far a session is judged, as a bar: what was kept, masked, left unsure, and the rest."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.kit import theme, tokens


class JudgedBar(QWidget):
    """Parts of a whole; the words beside it say the same in numbers."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parts: tuple[tuple[str, int], ...] = ()
        self._whole = 1

    def show_parts(self, parts: tuple[tuple[str, int], ...], whole: int) -> None:
        """The parts as meaning and count, of a whole."""
        self._parts, self._whole = parts, max(1, whole)
        self.update()

    def sizeHint(self) -> QSize:
        """As drawn."""
        return QSize(theme.px(140), theme.px(9))

    def paintEvent(self, event: QPaintEvent) -> None:
        """The parts from the left; in high contrast framed, with gaps between them."""
        painter, high = QPainter(self), theme.is_high_contrast()
        tall = theme.px(9 if high else 6)
        box = QRectF(0, (self.height() - tall) / 2, self.width(), tall)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(theme.colour("line"))
        painter.setBrush(theme.colour("base" if high else "line"))
        painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), tokens.RADII["bar"], tokens.RADII["bar"])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)
        x, gap = box.left(), 2 if high else 0
        for meaning, count in self._parts:
            width = box.width() * count / self._whole
            painter.fillRect(QRectF(x, box.top(), max(0.0, width - gap), tall), theme.colour(meaning))
            x += width
