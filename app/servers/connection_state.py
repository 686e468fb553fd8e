"""How a connection stands, in words, sign and colour: for the status bar and the list of servers. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QCoreApplication

from app.kit import quantities

if TYPE_CHECKING:
    from app.desk.desk import LinkStatus


class ConnectionState(msgspec.Struct, frozen=True):
    """One server's connection as it is shown; `detail` is for the tooltip."""

    text: str
    meaning: str
    detail: str = ""


def state_of(link: LinkStatus, name: str = "") -> ConnectionState:
    """The words for a connection; `name` is the server's, "" where there is but one."""
    since = quantities.clock(link.since, seconds=True)
    if link.state == "online":
        ping = f" {link.latency_ms:.0f} ms" if link.latency_ms is not None else ""
        sign, meaning = "●", "attention" if link.sentence else "keep"
        words = QCoreApplication.translate("ConnectionState", "connected") + ping
        if link.sentence:
            words += " · " + QCoreApplication.translate("ConnectionState", "what you sent waits for a newer server")
    elif link.state == "denied":
        sign, meaning = "✗", "error"
        words = QCoreApplication.translate("ConnectionState", "refused by the server since {time}").format(time=since)
    elif link.state == "off" and name:
        sign, words, meaning = "○", QCoreApplication.translate("ConnectionState", "offline, as you chose"), "muted"
    else:
        sign, meaning = "◌", "attention"
        words = QCoreApplication.translate("ConnectionState", "not connected: stale since {time}").format(time=since)
    text = f"{sign} {name}: {words}" if name.strip() else f"{sign} {words}"
    return ConnectionState(text, meaning, "\n".join(t for t in (link.server, link.sentence) if t))
