"""The plan at the foot of the outline: what the agent had done, was at, and had before it at the step that is read."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QWidget

from app.kit import icons, theme, tokens
from app.kit.row_paint import write
from app.kit.safe_text import one_line, set_tooltip
from core.domain.plan import PlanItem

SIGNS = {"done": ("check", "keep"), "working": ("circle-dot", "attention"), "open": ("circle", "muted")}
"""The icon of each state and its colour."""

MOST_SHARE = 0.4
"""The plan takes at most this share of the panel's height; the rest of it scrolls."""


class PlanRows(QWidget):
    """The title and the items, one line each."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.title = ""
        self.items: tuple[PlanItem, ...] = ()

    def sizeHint(self) -> QSize:
        """As high as its lines."""
        return QSize(80, (len(self.items) + 1) * theme.px(tokens.HEIGHTS["outline"]) + theme.px(tokens.WITHIN))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
        done = sum(item.state == "done" for item in self.items)
        self._line(painter, 0, "list-todo", "muted", self.title, "muted", f"{done}/{len(self.items)}")
        for number, item in enumerate(self.items, 1):
            sign, meaning = SIGNS[item.state]
            self._line(painter, number, sign, meaning, item.words, "ink" if item.state != "done" else "muted", "")
        painter.end()

    def _line(self, painter: QPainter, number: int, sign: str, meaning: str, words: str, ink: str, right: str) -> None:
        high, side, gap = theme.px(tokens.HEIGHTS["outline"]), theme.px(icons.SIDE), theme.px(tokens.BETWEEN)
        room = QRect(gap, number * high, self.width() - 2 * gap, high)
        icons.draw(painter, sign, QRectF(room.left(), room.center().y() - side / 2 + 1, side, side),
                   theme.colour(meaning))
        width = write(painter, room, right, ink, theme.font_of("fact", self.font()), right=True)
        room.adjust(side + theme.px(6), 0, -(width + gap) if right else 0, 0)
        write(painter, room, one_line(words, 300), ink)


class PlanView(QScrollArea):
    """Hidden while no plan is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows = PlanRows(self)
        self.setWidget(self.rows)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()

    def sizeHint(self) -> QSize:
        """As high as the plan, within its share of the panel."""
        whole = self.rows.sizeHint()
        above = self.parentWidget()
        most = round(above.height() * MOST_SHARE) if above is not None else whole.height()
        return QSize(whole.width(), min(whole.height(), most))

    def show_plan(self, title: str, items: Sequence[PlanItem]) -> None:
        """Show a plan; none hides it."""
        self.rows.title, self.rows.items = title, tuple(items)
        self.setVisible(bool(items))
        words = "\n".join([title, *(f"{_MARKS[item.state]} {one_line(item.words, 200)}" for item in items)])
        self.setAccessibleName(words)
        set_tooltip(self.rows, words)
        self.rows.updateGeometry()
        self.updateGeometry()
        self.rows.update()


_MARKS = {"done": "✓", "working": "▸", "open": "○"}
