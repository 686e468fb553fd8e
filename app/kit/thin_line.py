"""A panel as one line: name, sentence, link and the key that opens it, while it has nothing or is folded."""

from __future__ import annotations

from PySide6.QtCore import QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QPushButton, QSizePolicy, QWidget

from app.kit import icons, theme, tokens
from app.kit.boxes import row
from app.kit.key_cap import KeyCaps
from app.kit.safe_text import PlainLabel


class Gist(QObject):
    """What a panel says of itself in one line; a panel's view that has one offers it as its `gist`."""

    changed = Signal()
    followed = Signal()
    """The reader chose a link that leads to no step."""
    step_asked = Signal(int)
    """The reader chose the link to a step."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.words = self.link = ""
        self.is_nothing = True
        """Whether the panel has nothing to show."""
        self._step: int | None = None

    def say(self, words: str, link: str = "", *, step: int | None = None, is_nothing: bool = True) -> None:
        """The sentence, and the words of a link behind it, with the step that it leads to."""
        self._step = step
        if (words, link, is_nothing) != (self.words, self.link, self.is_nothing):
            self.words, self.link, self.is_nothing = words, link, is_nothing
            self.changed.emit()

    def follow(self) -> None:
        """The reader chose the link."""
        if self._step is not None:
            self.step_asked.emit(self._step)
        else:
            self.followed.emit()


class ThinLine(QWidget):
    """Draws a Gist at the height of a thin line; a click or Enter asks for the whole panel."""

    asked = Signal()

    def __init__(self, name: str, gist: Gist, key: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name, self._gist = name, gist
        self._label, self._words = PlainLabel(name, self), PlainLabel("", self, elide=True)
        self._label.setFont(theme.bold_font(theme.font_of("fact")))
        self._words.setFont(theme.font_of("fact"))
        self._words.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._words.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.link = QPushButton("", self, flat=True)
        self.link.setObjectName("link")
        self.link.setFont(theme.font_of("fact"))
        self.link.setCursor(Qt.CursorShape.PointingHandCursor)
        self.link.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.link.clicked.connect(gist.follow)
        arrow = PlainLabel("", self)
        arrow.setPixmap(icons.icon("chevron-right", "muted").pixmap(*(theme.px(12),) * 2))
        row(arrow, self._label, self._words, self.link, 1, *([KeyCaps(key, self)] if key else []), on=self,
            spacing=theme.px(tokens.BETWEEN), margin=(theme.px(tokens.SIDE), 0, theme.px(tokens.SIDE), 0))
        self.setFixedHeight(theme.px(tokens.HEIGHTS["thin"]))
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(self.tr("Open {panel} (Enter, a click, or drag its edge)").format(panel=name))
        gist.changed.connect(self._show_gist)
        self._show_gist()

    def sizeHint(self) -> QSize:
        """As high as a thin line."""
        return QSize(theme.px(200), theme.px(tokens.HEIGHTS["thin"]))

    def minimumSizeHint(self) -> QSize:
        """The sentence is cut before it holds the window open."""
        return QSize(theme.px(120), theme.px(tokens.HEIGHTS["thin"]))

    def _show_gist(self) -> None:
        self._words.setText(self._gist.words)
        self.link.setText(self._gist.link)
        self.link.setToolTip(self._gist.link or self.toolTip())
        self.link.setAccessibleName(self._gist.link or self._name)
        self.link.setVisible(bool(self._gist.link))
        self.setAccessibleName(" · ".join(part for part in (self._name, self._gist.words, self._gist.link) if part))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """A click opens; a drag was the dock's."""
        if event.button() == Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self.asked.emit()
        super().mouseReleaseEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Enter and Space open."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self.asked.emit()
            return
        super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground of the window and the frame of the focus; the line above is the one that parts panels."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), theme.colour("window"))
        if self.hasFocus():
            painter.setPen(theme.colour("person"))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
