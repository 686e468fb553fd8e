"""The start page: four ways to begin, what lies in the usual folders of this computer, and a place to drop files on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QRect, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from app.desk.actions import Actions
from app.kit import icons, theme, tokens
from app.kit.boxes import column, row
from app.kit.safe_text import PlainLabel
from app.window.drop_place import DropPlace
from app.window.found_list import FoundList
from app.window.start_card import StartCard

if TYPE_CHECKING:
    from app.window.window import Window

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
