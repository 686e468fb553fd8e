"""The start page: four ways to begin, what lies in the usual folders of this computer, and a place to drop files on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QGridLayout, QPushButton, QWidget

from app.desk.actions import Actions
from app.kit import icons, key_cap, theme, tokens
from app.kit.action_button import key_of, tip_of
from app.kit.boxes import column, row
from app.kit.safe_text import PlainLabel
from app.window.found_list import FoundList

if TYPE_CHECKING:
    from app.window.window import Window


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


WIDTH = 816


class StartPage(QWidget):
    """Lies over the panels while there is no session at all; `folder_asked` wants a folder of `found` opened."""

    folder_asked = Signal(str)

    def __init__(self, actions: Actions, window: Window) -> None:
        super().__init__(window)
        self._window = window
        self.setAccessibleName(self.tr("Start"))
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.cards = self._cards(actions)
        self.found = FoundList(self)
        self.found.asked.connect(self.folder_asked)
        self._lay_out()
        window.installEventFilter(self)
        self.hide()

    def _cards(self, actions: Actions) -> list[StartCard]:
        return [
            StartCard(actions["file.import"], "folder-open", (self.tr("Open"), self.tr(
                "Saved runs of other programs: Claude Code, Codex, Inspect, SWE-agent, OpenHands … "
                "Files, folders or archives.")), self),
            StartCard(actions["file.demonstration"], "circle-play", (self.tr("Demonstration"), self.tr(
                "An agent works in a sandbox and soon makes a mistake. Guide it, judge it, export. "
                "Five minutes, no account.")), self, marked=True),
            StartCard(actions["file.new_session"], "plus", (self.tr("New session"), self.tr(
                "Give an agent a task, a model, a budget and its rights. It works in a sandbox, "
                "also when this window is closed.")), self),
            StartCard(actions["file.servers"], "plug", (self.tr("Connect to a server"), self.tr(
                "See your lab's sessions here: paste the address that tiphys serve printed.")), self),
        ]

    def _lay_out(self) -> None:
        self._column = QWidget(self)
        sign = PlainLabel("", self)
        sign.setPixmap(icons.icon("ship-wheel", "person").pixmap(theme.px(36), theme.px(36)))
        name = PlainLabel("Tiphys", self, font=theme.font_of("start"))
        about = PlainLabel(self.tr("Watch, steer and judge long runs of agents"), self, faint=True)
        head = row(sign, column(name, about, spacing=0), 1, spacing=theme.px(tokens.READING))
        grid = QGridLayout()
        grid.setSpacing(theme.px(tokens.SIDE))
        for place, card in enumerate(self.cards):
            grid.addWidget(card, place // 2, place % 2)
        drop = DropPlace(self.tr("or drop files and folders anywhere in this window"), self)
        column(head, grid, self.found, drop, 1, on=self._column, spacing=theme.px(tokens.GROUP),
               margin=(0, theme.px(80), 0, theme.px(tokens.PAGE)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """As large as the window between its menu and its status bar."""
        if watched is self._window and event.type() in (QEvent.Type.Resize, QEvent.Type.Show,
                                                        QEvent.Type.LayoutRequest):
            self.fit()
        return super().eventFilter(watched, event)

    def fit(self) -> None:
        """Take the room of the panels."""
        top = self._window.menuBar().height()
        bottom = self._window.statusBar().geometry().top()
        self.setGeometry(QRect(0, top, self._window.width(), max(0, bottom - top)))
        self.raise_()
        self._window.toasts.raise_()  # a notice is read also where nothing is open
        wide = min(theme.px(WIDTH), self.width() - 2 * theme.px(tokens.READING))
        self._column.setGeometry((self.width() - wide) // 2, 0, wide, self.height())

    def focusNextPrevChild(self, forward: bool) -> bool:
        """The keyboard stays on the page: what lies below it cannot be seen."""
        takers = [*self.cards, *(b for b in self._column.findChildren(QPushButton) if b.isVisible())]
        here = next((i for i, taker in enumerate(takers) if taker.hasFocus()), -1)
        takers[(here + (1 if forward else -1)) % len(takers)].setFocus()
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ground of what is read."""
        QPainter(self).fillRect(self.rect(), theme.colour("base"))
