"""The rows that never scroll away: the task, and the step that called the subagent whose steps are listed."""

from __future__ import annotations

import msgspec
from PySide6.QtCore import QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.desk.row_text import RowText
from app.kit import theme, tokens
from app.kit.safe_text import set_tooltip
from app.trajectory.step_row import StepRowDelegate

LOW = 320
"""A list that is lower than this, such as one over the guidance box in a small window, keeps the room for its steps."""


class PinnedRows(QWidget):
    """At most two rows above the list, painted as its rows are: what `key` stands for is told when one is clicked."""

    opened = Signal(str)
    """A row was clicked: task or caller."""

    def __init__(self, delegate: StepRowDelegate, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._delegate = delegate
        self.rows: list[tuple[str, RowText, str]] = []
        self._is_low = False
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_rows(self, rows: list[tuple[str, RowText, str]]) -> None:
        """Show these: the key of each, its row, and a second line ("" for none)."""
        if rows == self.rows:
            return
        self.rows = rows
        self.setVisible(bool(rows))
        self.setAccessibleName(". ".join(" ".join(filter(None, (row.spoken, below))) for _, row, below in rows))
        set_tooltip(self, self.tr("What was asked (0), and the step that called this subagent (Backspace)"))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """As high as its rows."""
        return QSize(120, sum(self._height(below) for _, _, below in self._drawn()) + tokens.HAIRLINE)

    minimumSizeHint = sizeHint

    def _drawn(self) -> list[tuple[str, RowText, str]]:
        """The rows as they fit: a title that is too long for its line goes on in the second. A low list has one."""
        if self._is_low:
            return [(key, row, "") for key, row, _ in self.rows]
        drawn = []
        for key, row, below in self.rows:
            first, rest = self._delegate.broken(row, self.width()) if row.face == "strong" else (row.title, "")
            drawn.append((key, msgspec.structs.replace(row, title=first), f"{rest} {below}".strip()))
        return drawn

    def fit(self, height: int) -> None:
        """The list is so high, in pixels, with what stands above it."""
        if self._is_low != (height < theme.px(LOW)):
            self._is_low = not self._is_low
            self.updateGeometry()
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another width: the title may need its second line, or no longer."""
        super().resizeEvent(event)
        self.updateGeometry()

    def _height(self, below: str) -> int:
        return self._delegate.ink.height + (theme.px(tokens.TYPE["row"][1]) if below else 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the rows on the ground of chrome, parted from what scrolls by one line."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
        top = 0
        for _, row, below in self._drawn():
            room = QRect(0, top, self.width(), self._delegate.ink.height)
            self._delegate.draw(painter, row, room)
            if below:
                self._delegate.draw_below(painter, below, room)
            top += self._height(below)
        painter.setPen(theme.colour("line"))
        painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        painter.end()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click opens what the row stands for."""
        top = 0
        for key, _, below in self._drawn():
            if top <= event.position().y() < top + self._height(below):
                self.opened.emit(key)
            top += self._height(below)

    def changeEvent(self, event: QEvent) -> None:
        """Another font: other heights."""
        super().changeEvent(event)
        self.updateGeometry()
