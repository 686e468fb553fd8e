"""A file's life across the session: where it was read (hollow) and written (filled), and the step that is read now."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit import theme, tokens
from app.kit.safe_text import set_tooltip

RADIUS = 4
"""Of a mark, in pixels at 10 pt."""


class LifeLine(QWidget):
    """A click goes to the nearest step; the keyboard walks the versions and the steps of the list."""

    picked = Signal(int)
    """The number of a step."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._written: tuple[int, ...] = ()
        self._read: tuple[int, ...] = ()
        self._last, self._here = 1, 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    @property
    def marks(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The steps that wrote the file, and those that read it."""
        return self._written, self._read

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(80, theme.px(3 * RADIUS))

    def show_life(self, written: Sequence[int], read: Sequence[int], last: int, here: int) -> None:
        """Show the steps that wrote and read a file, on a line of `last` steps; `here` is the one that is read."""
        self._written, self._read = tuple(dict.fromkeys(written)), tuple(dict.fromkeys(read))
        self._last, self._here = max(1, last), here
        words = self.tr("Written at step {written}; read at step {read}").format(
            written=_in_words(self._written), read=_in_words(self._read))
        self.setAccessibleName(words)
        set_tooltip(self, words)
        self.update()

    def _x(self, step: int) -> float:
        side = theme.px(tokens.SIDE)
        return side + (self.width() - 2 * side) * (step - 1) / max(1, self._last - 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The line, hollow marks below filled ones, and the place of the reader."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        middle, radius = self.height() / 2, theme.px(RADIUS)
        painter.setPen(QPen(theme.colour("edge"), 1))
        painter.drawLine(QPointF(self._x(1), middle), QPointF(self._x(self._last), middle))
        painter.setBrush(theme.colour("base"))
        for step in self._read:
            painter.drawEllipse(QPointF(self._x(step), middle), radius - 1, radius - 1)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("keep"))
        for step in self._written:
            painter.drawEllipse(QPointF(self._x(step), middle), radius, radius)
        if self._here:
            painter.fillRect(QRectF(self._x(self._here) - 0.5, 0, 1.5, self.height()), theme.colour("person"))
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Go to the step of the nearest mark."""
        at = event.position().x()
        marks = sorted({*self._written, *self._read}, key=lambda step: abs(self._x(step) - at))
        if marks:
            self.picked.emit(marks[0])


def _in_words(steps: Sequence[int]) -> str:
    shown = ", ".join(map(str, steps[:12]))
    return (shown + " …" if len(steps) > 12 else shown) or "–"
