"""One bar for a whole context: instructions, task, earlier steps, what entered; its numbers as a legend below."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.kit import quantities, theme, tokens

INKS = {"system": "edge", "task": "person", "steps": "muted", "entered": "keep"}
GAP = 2


class ShareBar(QWidget):
    """What a context is made of."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shares: dict[str, int] = {}
        self._sum = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_shares(self, shares: dict[str, int], total: str) -> None:
        """Show tokens by kind, and their sum in words."""
        self._shares, self._sum = {name: count for name, count in shares.items() if count}, total
        self.setVisible(bool(self._shares))
        self.setAccessibleName(", ".join([*map(self._words, self._shares), total]))
        self.update()

    def sizeHint(self) -> QSize:
        """The bar and its legend."""
        return QSize(200, theme.px(14) + tokens.BETWEEN + self.fontMetrics().height())

    def _words(self, name: str) -> str:
        word = {"system": self.tr("instructions"), "task": self.tr("task"), "steps": self.tr("earlier steps"),
                "entered": self.tr("entered")}[name]
        return f"{word} {quantities.tokens(self._shares[name])}"

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw bar and legend."""
        painter = QPainter(self)
        whole, height, x = sum(self._shares.values()) or 1, theme.px(14), 0
        painter.setFont(theme.small_font(self.font()))
        metrics = painter.fontMetrics()
        base, at = height + tokens.BETWEEN + metrics.ascent(), 0
        for name, count in self._shares.items():
            ink = theme.colour(INKS[name])
            width = max(2, round(self.width() * count / whole) - GAP)
            painter.fillRect(QRect(x, 0, width, height), ink)
            x += width + GAP
            painter.fillRect(QRect(at, base - metrics.ascent() // 2 - 4, 8, 8), ink)
            painter.setPen(theme.colour("muted"))
            painter.drawText(at + 13, base, self._words(name))
            at += 13 + metrics.horizontalAdvance(self._words(name)) + tokens.READING
        painter.setPen(theme.colour("muted"))
        room = metrics.horizontalAdvance(self._sum)
        if at + room < self.width():
            painter.drawText(self.width() - room, base, self._sum)
        painter.end()
