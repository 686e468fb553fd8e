"""The frame that tells that files can be dropped; the whole window takes them."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QWidget

from app.kit import icons, theme, tokens
from app.kit.boxes import row
from app.kit.safe_text import PlainLabel

HIGH = 56


class DropPlace(QWidget):
    """A sentence in a dashed frame."""

    def __init__(self, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.setFixedHeight(theme.px(HIGH))
        sign = PlainLabel("", self)
        sign.setPixmap(icons.icon("download").pixmap(theme.px(14), theme.px(14)))
        row(1, sign, PlainLabel(words, self, faint=True), 1, on=self, spacing=theme.px(tokens.BETWEEN), margin=0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The frame: no control, so that its edge may be dashed."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(theme.colour("edge"), tokens.HAIRLINE, Qt.PenStyle.DashLine))
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.drawRoundedRect(frame, tokens.RADII["control"], tokens.RADII["control"])
