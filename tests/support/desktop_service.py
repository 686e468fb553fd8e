"""The message service of a desktop, in a process of its own: prints each message, and clicks on what it is told to.

Input: one number a line, the message that a person clicks on. Started as `python desktop_service.py` on a bus.
"""

from __future__ import annotations

import json
import sys
import threading

from PySide6.QtCore import ClassInfo, QCoreApplication, QObject, Signal, Slot
from PySide6.QtDBus import QDBusConnection

NAME, PATH = "org.freedesktop.Notifications", "/org/freedesktop/Notifications"


@ClassInfo({"D-Bus Interface": NAME})
class Service(QObject):
    """Numbers the messages from 1."""

    ActionInvoked = Signal("uint", str)
    asked = Signal(int)

    def __init__(self) -> None:
        super().__init__()
        self._count = 0
        self.asked.connect(self._click)

    @Slot(str, "uint", str, str, str, "QStringList", "QVariantMap", int, result="uint")
    def Notify(self, program, replaces, icon, title, text, actions, hints, shown_ms):
        self._count += 1
        print(json.dumps([program, title, text]), flush=True)  # noqa: T201
        return self._count

    def _click(self, number: int) -> None:
        self.ActionInvoked.emit(number, "default")


def main() -> None:
    """Serve until the input ends."""
    app = QCoreApplication([])
    service = Service()
    bus = QDBusConnection.sessionBus()
    options = QDBusConnection.RegisterOption
    bus.registerObject(PATH, service, options.ExportAllSlots | options.ExportAllSignals)
    bus.registerService(NAME)
    print("ready", flush=True)  # noqa: T201

    def listen() -> None:
        for line in sys.stdin:
            service.asked.emit(int(line))
        app.quit()

    threading.Thread(target=listen, daemon=True).start()
    app.exec()


if __name__ == "__main__":
    main()
