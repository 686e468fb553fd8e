"""A key as a small cap: drawn on buttons, or as a label of its own."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from app.kit import theme, tokens


def width_of(key: str) -> int:
    """How wide the cap of a key is."""
    return max(theme.px(18), QFontMetrics(theme.font_of("caption")).horizontalAdvance(key) + theme.px(8))


def draw(painter: QPainter, left: QPoint, key: str, *, off: bool = False) -> None:
    """Draw a cap from the middle of its left side."""
    high = theme.px(18)
    box = QRect(left.x(), left.y() - high // 2, width_of(key), high)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(theme.colour("line"))
    painter.setBrush(theme.colour("window"))
    painter.drawRoundedRect(box.toRectF().adjusted(0.5, 0.5, -0.5, -0.5), tokens.RADII["chip"], tokens.RADII["chip"])
    painter.setFont(theme.font_of("caption"))
    painter.setPen(theme.colour("faint" if off else "muted"))
    painter.drawText(box, int(Qt.AlignmentFlag.AlignCenter), key)
    painter.restore()


class KeyCaps(QWidget):
    """The keys of a command side by side: "Ctrl+N" as two caps. Assistive technology hears of them from the command."""

    def __init__(self, keys: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._keys = [key for key in keys.replace("++", "+Plus").split("+") if key]
        self.setAccessibleName(keys)

    def sizeHint(self) -> QSize:
        gap = theme.px(tokens.WITHIN)
        return QSize(sum(width_of(key) + gap for key in self._keys), theme.px(18))

    minimumSizeHint = sizeHint

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, x = QPainter(self), 0
        for key in self._keys:
            draw(painter, QPoint(x, self.height() // 2), key)
            x += width_of(key) + theme.px(tokens.WITHIN)
