"""Messages of the computer's desktop, where it has a place for them; a click on one comes back as a signal."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSystemTrayIcon

from app.attention.messages import DesktopMessages
from app.kit import theme
from app.kit.safe_text import visible

SHOWN_MS = 10_000


class Notifier(QObject):
    """By the desktop's own service, else by a tray icon, which exists only once something was told."""

    clicked = Signal(object)
    """What the message was about that was clicked; of a tray's messages only the last stands."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icon: QSystemTrayIcon | None = None
        self._about: object = None
        self._messages = DesktopMessages(self)
        self._messages.clicked.connect(self.clicked)

    @property
    def is_available(self) -> bool:
        """Whether this desktop shows messages."""
        tray = QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()
        return self._messages.is_there or tray

    def tell(self, title: str, text: str, about: object) -> None:
        """Show a message; Qt shows it as plain text."""
        if self._messages.is_there:
            self._messages.tell(title, text, about, SHOWN_MS)
            return
        if self._icon is None:
            self._icon = QSystemTrayIcon(theme.icon("helm", "accent"), self)
            self._icon.messageClicked.connect(self._on_clicked)
            self._icon.show()
        self._about = about
        self._icon.showMessage(visible(title), visible(text), theme.icon("helm", "accent"), SHOWN_MS)

    def _on_clicked(self) -> None:
        self.clicked.emit(self._about)
