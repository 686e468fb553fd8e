"""Messages of the computer's desktop, where it has a place for them; a click on one comes back as a signal."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QSystemTrayIcon

from app.attention.dbus_notifications import DbusNotifications
from app.kit import icons
from app.kit.safe_text import visible

SHOWN_MS = 10_000


class DesktopNotifications(QObject):
    """By the desktop's own service, else by a tray icon, which exists only once something was shown."""

    clicked = Signal(object)
    """What the message was about that was clicked; of a tray's messages only the last stands."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._icon: QSystemTrayIcon | None = None
        self._about: object = None
        self._service = DbusNotifications(self)
        self._service.clicked.connect(self.clicked)

    @property
    def is_available(self) -> bool:
        """Whether this desktop shows messages."""
        tray = QSystemTrayIcon.isSystemTrayAvailable() and QSystemTrayIcon.supportsMessages()
        return self._service.is_there or tray

    def show(self, title: str, text: str, about: object) -> None:
        """Show a message; Qt shows it as plain text."""
        if self._service.is_there:
            self._service.show(title, text, about, SHOWN_MS)
            return
        if self._icon is None:
            self._icon = QSystemTrayIcon(icons.icon("ship-wheel", "person"), self)
            self._icon.messageClicked.connect(self._on_clicked)
            self._icon.show()
        self._about = about
        self._icon.showMessage(visible(title), visible(text), icons.icon("ship-wheel", "person"), SHOWN_MS)

    def _on_clicked(self) -> None:
        self.clicked.emit(self._about)
