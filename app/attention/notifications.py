"""Messages of the computer's desktop; a click on one comes back as a signal, and on Linux says which it was."""

from __future__ import annotations

import html
import logging
import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor

from PySide6.QtCore import Q_ARG, Q_RETURN_ARG, SLOT, QMetaObject, QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QSystemTrayIcon

from app.kit import icons
from app.kit.background import courier
from app.kit.safe_text import visible

_log = logging.getLogger("ui")
SERVICE, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"
TIMEOUT_MS = 2_000
ON_ACTION = SLOT("on_action(uint,QString)")
CLICKABLE = 64
"""So many messages, the newest, can be clicked."""


class DbusNotifications(QObject):
    """All that waits for the service is done in a thread. Without a service `is_there` stays False."""

    clicked = Signal(object)
    """What the message was about that was clicked."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.is_there = False
        self._abouts: dict[int, object] = {}
        self._thread: ThreadPoolExecutor | None = None
        self._courier = courier()
        if sys.platform == "linux" and os.environ.get("DBUS_SESSION_BUS_ADDRESS"):
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="messages")
            self._thread.submit(self._reach).add_done_callback(_log_failure)

    def show(self, title: str, text: str, about: object, shown_ms: int) -> None:
        """Show a message. A desktop may take a text as markup, never a title."""
        if self._thread is not None:
            text = html.escape(visible(text), quote=False)
            self._thread.submit(self._send, visible(title), text, about, shown_ms).add_done_callback(_log_failure)

    # ---- in the thread ---------------------------------------------------------------------------

    def _reach(self) -> None:
        from PySide6.QtDBus import QDBusConnection

        bus = QDBusConnection.sessionBus()
        there = bus.isConnected() and bool(bus.interface().isServiceRegistered(SERVICE).value())
        self._courier.came.emit(self, DbusNotifications._on_reached, (there,))

    def _send(self, title: str, text: str, about: object, shown_ms: int) -> None:
        from PySide6.QtDBus import QDBusConnection, QDBusInterface

        service = QDBusInterface(SERVICE, PATH, SERVICE, QDBusConnection.sessionBus())
        service.setTimeout(TIMEOUT_MS)
        number = QMetaObject.invokeMethod(  # by its signature: a plain call would send a signed number for `replaces`
            service, "Notify", Qt.ConnectionType.DirectConnection, Q_RETURN_ARG("uint"), Q_ARG(str, "Tiphys"),
            Q_ARG("uint", 0), Q_ARG(str, ""), Q_ARG(str, title), Q_ARG(str, text),
            Q_ARG("QStringList", ["default", ""]), Q_ARG("QVariantMap", {"desktop-entry": "tiphys"}),
            Q_ARG(int, shown_ms))
        if number:
            self._courier.came.emit(self, DbusNotifications._on_sent, (number, about))

    # ---- back again ------------------------------------------------------------------------------

    def _on_reached(self, there: bool) -> None:
        from PySide6.QtDBus import QDBusConnection

        self.is_there = there and QDBusConnection.sessionBus().connect(  # waits for nothing; a slot's name in bytes,
            SERVICE, PATH, SERVICE, "ActionInvoked", self, ON_ACTION)  # type: ignore[call-overload] # is refused

    def _on_sent(self, number: int, about: object) -> None:
        self._abouts[number] = about
        while len(self._abouts) > CLICKABLE:
            del self._abouts[next(iter(self._abouts))]

    @Slot("uint", str)
    def on_action(self, number: int, action: str) -> None:
        """The service tells of a click, also on messages of other programs."""
        if number in self._abouts:
            self.clicked.emit(self._abouts.pop(number))


def _log_failure(done: Future[None]) -> None:
    if not done.cancelled() and (error := done.exception()) is not None:
        _log.warning("The desktop's messages do not work: %s", error)


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
