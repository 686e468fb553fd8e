"""The head of the queue's table: whose queue it is, what it asks for, how far it is; and the names of the columns."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractItemView, QMenu, QSizePolicy, QWidget

from app.kit import quantities, theme, tokens
from app.kit.boxes import column, row
from app.kit.safe_text import PlainLabel, set_tooltip
from app.kit.tool_button import tool_button
from app.queue.delegate import draw_progress, places
from core.domain.progress import Judged
from core.domain.queue import QueueSum


class QueueHead(QWidget):
    """Two lines: name and what is asked; the bar with its numbers. A filter has its name and its count alone."""

    def __init__(self, menu: QMenu, parent: QWidget) -> None:
        super().__init__(parent)
        self.title = PlainLabel("", self, font=theme.font_of("title"))
        self.facts = PlainLabel("", self, elide=True, faint=True)
        self.bar = _Bar(self)
        self.numbers = [PlainLabel("", self, faint=faint, elide=at == 4)
                        for at, faint in enumerate((False, True, False, False, True))]
        for label in (self.facts, *self.numbers):
            label.setFont(theme.font_of("fact"))
        self.numbers[0].setFont(theme.bold_font(theme.font_of("fact")))
        for label, meaning in zip(self.numbers[2:4], ("mask", "attention"), strict=True):
            label.set_meaning(meaning)
        more = tool_button(self, "ellipsis", self.tr("What can be done with the queue"))
        more.setMenu(menu)
        more.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        more.setPopupMode(more.ToolButtonPopupMode.InstantPopup)
        gap = theme.px(10)
        first = row(self.title, (self.facts, 1), more, spacing=gap)
        second = row(self.bar, *self.numbers[:4], (self.numbers[4], 1), spacing=gap)
        side = theme.px(tokens.READING)
        column(first, second, on=self, spacing=theme.px(4),
               margin=(side, theme.px(8), theme.px(tokens.SIDE), theme.px(10)))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_filter(self, title: str, facts: str) -> None:
        """A filter's list."""
        self._say(title, facts, "")
        for widget in (self.bar, *self.numbers):
            widget.hide()

    def show_queue(self, title: str, facts: str, rubric: str, total: QueueSum, agreement: str) -> None:
        """A queue: `agreement` is "" where none may or can be told."""
        self._say(title, facts, rubric)
        self.bar.setVisible(bool(total.sessions))
        if not total.sessions:  # who is blind is told of their own alone
            for label in self.numbers[:4]:
                label.hide()
            self.numbers[4].setText(self.tr("No session of it is with you yet: Q takes one"))
            self.numbers[4].show()
            return
        self.bar.show_parts(total.judged, total.asked)
        done = self.tr("{done} of {total} sessions done").format(done=quantities.number(total.done),
                                                                total=quantities.number(total.sessions))
        texts = (f"{quantities.number(total.judged.total)}/{quantities.number(total.asked)}", self.tr("steps judged"),
                 self._count(self.tr("{count} masked"), total.judged.mask),
                 self._count(self.tr("{count} unsure"), total.judged.unsure),
                 " · ".join(part for part in (done, agreement) if part))
        for label, text in zip(self.numbers, texts, strict=True):
            label.setText(text)
            label.setVisible(bool(text))

    def _say(self, title: str, facts: str, rubric: str) -> None:
        self.title.setText(title)
        self.facts.setText(facts)
        set_tooltip(self.facts, rubric)

    def _count(self, words: str, count: int) -> str:
        return words.format(count=quantities.number(count)) if count else ""

    def minimumSizeHint(self) -> QSize:
        """The head holds no window open."""
        return QSize(theme.px(200), super().minimumSizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """A line below."""
        painter = QPainter(self)
        painter.setPen(theme.colour("line"))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())


class _Bar(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self._judged, self._asked = Judged(), 0
        self.setFixedSize(theme.px(300), theme.px(8))

    def show_parts(self, judged: Judged, asked: int) -> None:
        """What was judged of what is asked."""
        self._judged, self._asked = judged, asked
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The bar in the middle."""
        one = self._judged
        box = QRectF(0, (self.height() - theme.px(6)) / 2, self.width(), theme.px(6))
        draw_progress(QPainter(self), box, ((one.keep, "keep"), (one.mask, "mask"), (one.unsure, "attention")),
                      self._asked)


class ColumnNames(QWidget):
    """The names over the columns, as wide as the rows: a scroll bar beside these takes no column's room."""

    def __init__(self, rows: QAbstractItemView, parent: QWidget) -> None:
        super().__init__(parent)
        self._rows = rows
        rows.verticalScrollBar().rangeChanged.connect(self.update)
        self._names = {"title": self.tr("Session"), "started": self.tr("Started"), "steps": self.tr("Steps"),
                       "judged": self.tr("Judged"), "score": self.tr("Score"), "who": self.tr("Who"),
                       "word": self.tr("Attention")}
        self.setFixedHeight(theme.px(26))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Each where its column is."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("base"))
        painter.setFont(theme.font_of("caption"))
        painter.setPen(theme.colour("muted"))
        shown = QRect(0, 0, self._rows.viewport().width() if self._rows.isVisible() else self.width(), self.height())
        for name, room in places(shown).items():
            side = Qt.AlignmentFlag.AlignRight if name in ("steps", "score") else Qt.AlignmentFlag.AlignLeft
            painter.drawText(room, int(side | Qt.AlignmentFlag.AlignVCenter), self._names.get(name, ""))
        painter.setPen(theme.colour("line"))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())
