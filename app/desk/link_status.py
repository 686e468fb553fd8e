"""The connection to a server, as the window shows it."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from app.desk.notices import sentence_of
from app.kit import quantities
from app.kit.i18n import translate
from core.domain.errors import make_error

if TYPE_CHECKING:
    from core.client.client import Client
    from core.client.status import Status


class LinkStatus(msgspec.Struct, frozen=True):
    """The connection as the status bar shows it; `since` is when this state began."""

    state: str
    since: datetime
    server: str = ""
    latency_ms: float | None = None
    sentence: str = ""
    capabilities: tuple[str, ...] = ()
    program: str = ""
    """What the server calls itself, with its version."""


def link_status(client: Client | None, since: datetime) -> LinkStatus:
    """The connection now; without a client it is off, `since` the desk was made or the reader took it off."""
    if client is None:
        return LinkStatus("off", since)
    status = client.status
    return LinkStatus(status.state, status.since, status.server, status.latency_ms, _sentence(status),
                      status.capabilities, status.program)


def why_not_here(state: str) -> str:
    """Why a text does not come from a server, by the state of its connection, and what to do; "" where it comes."""
    if state == "off":
        return translate(
            "LinkStatus", "This text is not on this computer, and its server is switched off. Switch it on under "
            "File › Servers to fetch it.")
    if state != "online":
        return translate("LinkStatus", "This text is not on this computer. It comes as soon as the server is reached.")
    return ""


def away_since(link: LinkStatus) -> str:
    """Since when what is shown of a server may be old; "" while it is connected."""
    return "" if link.state == "online" else quantities.clock(link.since, seconds=True)


def _sentence(status: Status) -> str:
    """What stands in the way of a connection, in the reader's language; the code alone says which, and the server."""
    why = make_error("", status.code, status.sentence, {"server": status.server, "url": status.server})
    return sentence_of(why) if status.sentence else ""
