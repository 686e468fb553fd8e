"""The agent's state over the list, in one strip: what it works on, what it waits for, when it was heard, its score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from app.kit import icons, quantities, theme, tokens
from app.kit.safe_text import set_tooltip, visible

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
    asks: bool = False
    """Whether it waits for a person's yes or no."""

    @property
    def spoken(self) -> str:
        """All of it as one text."""
        waits = f"{self.waits_word} {self.waits}".strip()
        score = quantities.score(self.scores[-1]) if self.scores else ""
        return " · ".join(part for part in (self.head, waits, *self.facts, score) if part)


class AgentStrip(QWidget):
    """Hidden where nobody is at work. `allow` and `refuse` are there while it asks for leave."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.allow = QPushButton(icons.icon("check"), self.tr("Allow"), self)
        self.refuse = QPushButton(icons.icon("x"), self.tr("Refuse"), self)
        set_tooltip(self.allow, self.tr("Allow this, once."))
        set_tooltip(self.refuse, self.tr("Refuse this; advice refuses it too, and tells the agent why."))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, theme.px(tokens.SIDE), 0)
        row.setSpacing(theme.px(tokens.WITHIN))
        row.addStretch(1)
        for button in (self.allow, self.refuse):
            button.hide()
            row.addWidget(button)
        self.text = StripText("")
        self._faces: dict[str, tuple[QFont, QFontMetrics]] = {}
        self._drawn: tuple[tuple[object, ...], QPixmap] = ((), QPixmap())
        self.setFixedHeight(theme.px(tokens.HEIGHTS["strip"]))
        self.hide()

    def minimumSizeHint(self) -> QSize:
        """It is cut before it holds the window open."""
        return QSize(theme.px(200), theme.px(tokens.HEIGHTS["strip"]))

    def show_text(self, text: StripText | None) -> None:
        """Say how the agent stands; None where nobody is at work."""
        self.setVisible(text is not None)
        if text is not None and text != self.text:
            self.text = text
            self.allow.setVisible(text.asks)
            self.refuse.setVisible(text.asks)
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
        side, room = theme.px(tokens.SIDE), self.rect()
        if theme.is_high_contrast():
            painter.fillRect(QRect(0, 0, theme.px(tokens.CURSOR), room.height()), theme.colour(text.meaning))
        self._dot(painter, QPointF(side + theme.px(6), room.height() / 2))
        left, width = side + theme.px(24), room.width() - 2 * side - theme.px(24)
        if text.asks:
            width = self.allow.x() - left - theme.px(tokens.BETWEEN)
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
