"""The status bar: how the connection to each server stands, what waits to be delivered, where the reader is."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QStatusBar, QWidget

from app.kit import theme, tokens
from app.kit.boxes import named, row
from app.kit.safe_text import PlainLabel, set_tooltip
from app.servers.connection_state import ConnectionState


class LinkWords(QWidget):
    """How one connection stands: its sign in the colour of what that means, and the words; quiet while all is well."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        font = theme.font_of("fact")
        self._sign, self._words = PlainLabel("", self, font=font), PlainLabel("", self, font=font)
        row(self._sign, self._words, on=self, spacing=theme.px(tokens.WITHIN), margin=0)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def text(self) -> str:
        """Sign and words."""
        return f"{self._sign.text()} {self._words.text()}"

    def show_state(self, state: ConnectionState) -> None:
        """Tell it, also to who hears it read out."""
        sign, _, words = state.text.partition(" ")
        self._sign.setText(sign)
        self._words.setText(words)
        self._sign.set_meaning(state.meaning)
        self._words.set_meaning("muted" if state.meaning == "keep" else state.meaning)
        set_tooltip(self, state.detail)


class StatusBar(QStatusBar):
    """One text per server, each with a sign and a colour, and two more."""

    servers_asked = Signal()
    """The reader clicked on a connection."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._links = QWidget(self)
        self._row = row(on=self._links, spacing=4 * theme.GRID, margin=0)
        self.links: list[LinkWords] = []
        self.waiting = PlainLabel("", self)
        self.place = PlainLabel("", self)
        self.keys = PlainLabel("", self)
        for label in (self.waiting, self.place, self.keys):
            label.setFont(theme.font_of("fact"))
        self.setSizeGripEnabled(False)
        self.setContentsMargins(2 * theme.GRID, 0, 2 * theme.GRID, 0)
        self.setFixedHeight(theme.px(tokens.HEIGHTS["status"]))
        self.addWidget(self._links)
        self.addWidget(self.waiting)
        self.addPermanentWidget(self.place)
        self.addPermanentWidget(self.keys)

    @property
    def links_text(self) -> str:
        """What is said of the connections, as one text."""
        return " · ".join(label.text() for label in self.links if not label.isHidden())

    def show_links(self, states: Sequence[ConnectionState]) -> None:
        """Tell how the connections stand."""
        while len(self.links) < len(states):
            self.links.append(self._label())
        for label in self.links[len(states):]:
            label.hide()
        for label, state in zip(self.links, states, strict=False):
            label.show_state(state)
            label.show()

    def _label(self) -> LinkWords:
        label = named(LinkWords(self._links), self.tr("Connection"))
        label.installEventFilter(self)
        self._row.addWidget(label)
        return label

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click on a connection asks for the servers."""
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease and watched in self.links:
            self.servers_asked.emit()
        return super().eventFilter(watched, event)

    def show_waiting(self, text: str) -> None:
        """Tell how much waits to be delivered."""
        self.waiting.setText(text)
        self.waiting.setVisible(bool(text))
