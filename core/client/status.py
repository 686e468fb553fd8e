"""How a connection stands, as the status bar says it."""

from datetime import UTC, datetime
from typing import Literal

import msgspec

LinkState = Literal["connecting", "online", "offline", "denied"]


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a link and since when (UTC).

    `latency_ms` is the last measured round trip, None when offline. `sentence` and `code` say why it is
    offline or denied, or what holds commands up while it is online; `scopes` and `name` are what the server knows the
    token as, `capabilities` what an older server does not know.
    """

    state: LinkState = "connecting"
    since: datetime = msgspec.field(default_factory=lambda: datetime.now(UTC))
    server: str = ""
    latency_ms: float | None = None
    code: str = ""
    sentence: str = ""
    name: str = ""
    scopes: tuple[str, ...] = ()
    capabilities: tuple[str, ...] = ()
    program: str = ""
    """What the server calls itself, with its version."""
