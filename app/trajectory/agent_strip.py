"""The agent's state over the list, in one strip: what it works on, what it waits for, when it was heard, its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAction,
    QFont,
    QFontMetrics,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
)
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from app.kit import quantities, theme, tokens
from app.kit.action_button import ActionButton
from app.kit.boxes import column, row
from app.kit.safe_text import visible

MOST_LINES = 10
"""So many lines of a question are in sight; the rest is scrolled."""

CURVE = 150
"""Width of the score with its curve."""


@dataclass(frozen=True)
class StripText:
    """`meaning` gives the dot and the tint: live, attention, error, or muted for one that is paused."""

    head: str
    waits: str = ""
    """What it waits for, in the letters of code; `waits_word` stands before it."""
    waits_word: str = ""
    facts: tuple[str, ...] = ()
    meaning: str = "live"
    scores: tuple[float, ...] = field(default=())
    question: str | None = None
    """Of a question to a person, all that a yes would allow; None where nothing is asked."""

    @property
    def spoken(self) -> str:
        """All of it as one text."""
        waits = f"{self.waits_word} {self.waits}".strip()
        score = quantities.score(self.scores[-1]) if self.scores else ""
        return " · ".join(part for part in (self.head, waits, self.question, *self.facts, score) if part)


class AgentStrip(QWidget):
    """Hidden where nobody is at work. While it asks for leave there are all of what it asks, and yes and no."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.question = QPlainTextEdit(self, readOnly=True, tabChangesFocus=True)
        self.question.setAccessibleName(self.tr("What the agent asks leave for"))
        self.question.setFont(theme.mono_font())
        self.question.document().documentLayout().documentSizeChanged.connect(self._fit_question)
        self.question.hide()
        self.answers: list[ActionButton] = []
        self._upper, side = QWidget(self), theme.px(tokens.SIDE)
        self._upper.setFixedHeight(theme.px(tokens.HEIGHTS["strip"]))
        self._buttons = row(1, on=self._upper, spacing=theme.px(tokens.WITHIN), margin=0)
        column(self._upper, self.question, 1, on=self, spacing=0, margin=(side + theme.px(24), 0, side, 0))
        self.text = StripText("")
        self._faces: dict[str, tuple[QFont, QFontMetrics]] = {}
        self._drawn: tuple[tuple[object, ...], QPixmap] = ((), QPixmap())
        self.setFixedHeight(self._upper.height())
        self.hide()

    def offer(self, *answers: QAction) -> None:
        """What can be answered to a question."""
        self.answers = [ActionButton(action, "ink", self) for action in answers]
        for button in self.answers:
            button.hide()
            self._buttons.addWidget(button)

    def _fit_question(self, *_: object) -> None:
        """The two lines, and below them the question with as many lines as it needs in this width."""
        high, asked = self._upper.height(), self.question
        if self.text.question is not None:
            block, needed = asked.document().firstBlock(), 0.0  # a line is as high as the fonts of its letters
            while block.isValid():
                needed, block = needed + asked.blockBoundingRect(block).height(), block.next()
            around = round(asked.document().documentMargin()) + asked.frameWidth() + theme.px(2)
            asked.setFixedHeight(ceil(min(needed, MOST_LINES * asked.fontMetrics().lineSpacing())) + 2 * around)
            high += asked.height() + theme.px(tokens.BETWEEN)
        self.setFixedHeight(high)

    def minimumSizeHint(self) -> QSize:
        """It is cut before it holds the window open."""
        return QSize(theme.px(200), theme.px(tokens.HEIGHTS["strip"]))

    def show_text(self, text: StripText | None) -> None:
        """Say how the agent stands; None where nobody is at work."""
        self.setVisible(text is not None)
        if text is not None and text != self.text:
            self.text = text
            for widget in (self.question, *self.answers):
                widget.setVisible(text.question is not None)
            if self.question.toPlainText() != (text.question or ""):
                self.question.setPlainText(text.question or "")
            self._fit_question()
            self.setAccessibleName(text.spoken)
            self.setToolTip(visible(text.spoken)[:600])
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Dot, two lines, score."""
        text, painter = self.text, QPainter(self)
        tint = "window" if text.meaning == "muted" else f"{text.meaning}_tint"
        painter.fillRect(self.rect(), theme.colour(tint))
        painter.setPen(theme.colour("line"))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())
        side, room = theme.px(tokens.SIDE), QRect(0, 0, self.width(), self._upper.height())
        if theme.is_high_contrast():
            painter.fillRect(QRect(0, 0, theme.px(tokens.CURSOR), self.height()), theme.colour(text.meaning))
        self._dot(painter, QPointF(side + theme.px(6), room.height() / 2))
        left, width = side + theme.px(24), room.width() - 2 * side - theme.px(24)
        if text.question is not None and self.answers:
            width = self.answers[0].x() - theme.px(tokens.BETWEEN)  # which begins where the letters do
        if text.scores and width > theme.px(360):
            width -= theme.px(CURVE) + theme.px(tokens.READING)
            self._score(painter, QRect(room.right() - side - theme.px(CURVE), theme.px(8), theme.px(CURVE),
                                       room.height() - theme.px(16)))
        self._lines(painter, QRect(left, 0, width, room.height()))

    def changeEvent(self, event: QEvent) -> None:
        """Another font."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self._faces = {}

    def _face(self, style: str) -> tuple[QFont, QFontMetrics]:
        """The font of a style; finding one by its families takes as long as painting ten rows."""
        if style not in self._faces:
            bold = {"title": "title", "score": "row"}.get(style)
            font = theme.mono_font() if style == "code" else theme.font_of(bold or style)
            font = theme.bold_font(font) if bold else font
            self._faces[style] = font, QFontMetrics(font)
        return self._faces[style]

    def _dot(self, painter: QPainter, centre: QPointF) -> None:
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour(self.text.meaning))
        painter.drawEllipse(centre, theme.px(5), theme.px(5))

    def _lines(self, painter: QPainter, room: QRect) -> None:
        text, high = self.text, theme.px(22)
        upper = QRect(room.left(), room.center().y() - high + 1, room.width(), high)
        x = self._put(painter, upper, text.head, "title", "ink")
        upper.setLeft(x + theme.px(10))
        x = self._put(painter, upper, text.waits_word, "row", "muted")
        upper.setLeft(x + theme.px(6 if text.waits_word else 0))
        self._put(painter, upper, text.waits, "code", "ink")
        lower = QRect(room.left(), room.center().y() + 1, room.width(), high)
        self._put(painter, lower, " · ".join(text.facts), "fact", "muted")

    def _score(self, painter: QPainter, room: QRect) -> None:
        scores = self.text.scores
        line = QRect(room.left(), room.top(), room.width(), theme.px(18))
        self._put(painter, line, self.tr("score"), "caption", "muted")
        painter.setFont(self._face("score")[0])
        painter.setPen(theme.colour("ink"))
        painter.drawText(line, int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter),
                         quantities.score(scores[-1]))
        painter.drawPixmap(room.topLeft(), self._curve_of(scores, room.size()))

    def _curve_of(self, scores: tuple[float, ...], size: QSize) -> QPixmap:
        """The curve on a transparent ground, drawn again when there is a new score: a long one takes half a frame."""
        ratio = self.devicePixelRatioF()
        key = (scores, size, ratio, theme.colour("ink").rgba())
        if self._drawn[0] == key:
            return self._drawn[1]
        made = QPixmap(size * ratio)
        made.setDevicePixelRatio(ratio)
        made.fill(Qt.GlobalColor.transparent)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0, theme.px(22), size.width() - theme.px(4), size.height() - theme.px(26))
        curve = _curve(scores, box)
        painter.setPen(QPen(theme.colour("muted"), 1.5))
        painter.drawPolyline(curve)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.colour("ink"))
        painter.drawEllipse(curve.last(), theme.px(2.5), theme.px(2.5))
        painter.end()
        self._drawn = key, made
        return made

    def _put(self, painter: QPainter, room: QRect, words: str, style: str, meaning: str) -> int:
        """Draw words of a line, cut to the room; returns where they end."""
        font, metrics = self._face(style)
        painter.setFont(font)
        painter.setPen(theme.colour(meaning))
        cut = metrics.elidedText(visible(words), Qt.TextElideMode.ElideRight, max(0, room.width()))
        painter.drawText(room, int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
                         | int(Qt.TextFlag.TextSingleLine), cut)
        return room.left() + metrics.horizontalAdvance(cut)


def _curve(scores: Sequence[float], box: QRectF) -> QPolygonF:
    """From the first score to the last; a single one is a level line."""
    values = [scores[0], *scores] if len(scores) == 1 else list(scores)
    low, high = min(values), max(values)
    step = box.width() / (len(values) - 1)
    return QPolygonF([QPointF(box.left() + at * step,
                              box.bottom() - box.height() * ((value - low) / (high - low) if high > low else 0.5))
                      for at, value in enumerate(values)])
