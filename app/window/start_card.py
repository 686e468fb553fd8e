"""One way to begin: icon, title, what it is, its keys. A button as large as a card."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from app.kit import icons, key_cap, theme, tokens
from app.kit.action_button import key_of, tip_of

WRAP = int(Qt.TextFlag.TextWordWrap | Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)


class StartCard(QAbstractButton):
    """Does an action of the window. The one that is `marked` needs nothing that the reader may lack."""

    def __init__(self, action: QAction, icon: str, words: tuple[str, str], parent: QWidget, *, marked: bool = False
                 ) -> None:
        super().__init__(parent)
        self._action, self._icon, self._marked = action, icon, marked
        self._caps = key_of(action).split("+")
        self._title, self._about = words
        self.setText(self._title)
        self.setAccessibleName(self._title)
        self.setAccessibleDescription(self._about)
        self.setToolTip(tip_of(action))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._follow_action)

    def _follow_action(self) -> None:
        self._caps = key_of(self._action).split("+")
        self.update()

    def sizeHint(self) -> QSize:
        """Three lines of text below the title."""
        return QSize(theme.px(402), theme.px(110))

    def minimumSizeHint(self) -> QSize:
        """Narrower it wraps more."""
        return QSize(theme.px(280), theme.px(110))

    def paintEvent(self, event: QPaintEvent) -> None:
        """Card, icon, words, keys."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        edge = "person" if self._marked or self.hasFocus() else "line"
        painter.setPen(QPen(theme.colour(edge), tokens.BORDER if self.hasFocus() else tokens.HAIRLINE))
        lit = "person_tint" if self._marked else "hover" if self.underMouse() else "base"
        painter.setBrush(theme.colour(lit))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), tokens.RADII["card"], tokens.RADII["card"])
        side = theme.px(24)
        icons.draw(painter, self._icon, QRectF(theme.px(16), theme.px(18), side, side),
                   theme.colour("person" if self._marked else "muted"))
        self._words(painter)
        self._keys(painter)

    def _words(self, painter: QPainter) -> None:
        left, font = theme.px(54), theme.font_of("title")
        painter.setFont(font)
        painter.setPen(theme.colour("ink"))
        high = QFontMetrics(font).height()
        painter.drawText(QRect(left, theme.px(16), self.width() - left, high), WRAP, self._title)
        painter.setFont(self.font())
        painter.setPen(theme.colour("muted"))
        top = theme.px(16) + high + theme.px(2)
        painter.drawText(QRect(left, top, self.width() - left - theme.px(16), self.height() - top), WRAP, self._about)

    def _keys(self, painter: QPainter) -> None:
        x = self.width() - theme.px(16)
        for key in reversed(self._caps):
            x -= key_cap.width_of(key)
            key_cap.draw(painter, QPoint(x, theme.px(26)), key)
            x -= theme.px(tokens.WITHIN)
