"""Opening a WebSocket to a server: its certificate or fingerprint is judged before a token goes out."""

import ipaddress
import os
import ssl
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from core.client.certificate import pinned
from core.domain.errors import Denied, InvalidInput
from core.logs import silenced
from core.protocol.codec import MAX_TEXT_FRAME
from core.protocol.messages import SUBPROTOCOL

PLAIN_TEXT = "TIPHYS_PLAIN_TEXT"
"""The environment variable by which a person says that something else (a VPN, a tunnel) encrypts."""


def is_loopback(url: str) -> bool:
    """Whether an address names this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def dial(url: str, pin: str, token: str, *, program: str = "", headers: Mapping[str, str] | None = None
               ) -> ClientConnection:
    """A connection that was not greeted yet. `pin` is the fingerprint of the server's certificate, "" where an
    authority vouches for it.

    Raises InvalidInput (plain_text, bad_address), Denied (certificate, unknown_certificate), and what websockets
    raises: OSError, InvalidHandshake, InvalidURI, TimeoutError.
    """
    try:
        return await _open(url, pin, {"Authorization": f"Bearer {token}", **(headers or {})}, program)
    except ssl.SSLCertVerificationError as error:  # a ValueError, too
        raise Denied("unknown_certificate", f"This computer does not know the certificate of {url} "
                     f"({error.verify_message}). Add its fingerprint to the address: …#sha256=…; "
                     "“tiphys serve” prints it.", server=url) from error
    except ValueError as error:
        raise InvalidInput("bad_address", f"{url!r} is no address of a server: {error}") from error


def _open(url: str, pin: str, headers: Mapping[str, str], program: str) -> connect:
    if url.lower().startswith("ws:") and not is_loopback(url) and os.environ.get(PLAIN_TEXT) != "1":
        raise InvalidInput("plain_text", f"{url} would carry your token unencrypted; use wss://, or set "
                           f"{PLAIN_TEXT}=1 where something else encrypts.", url=url)
    options: dict[str, Any] = {
        "subprotocols": [Subprotocol(SUBPROTOCOL)], "compression": None, "max_size": MAX_TEXT_FRAME,
        "additional_headers": headers, "ping_interval": 20, "ping_timeout": 20, "open_timeout": 10,
        "close_timeout": 2, "proxy": None if is_loopback(url) else True, "user_agent_header": program or "tiphys",
        "logger": silenced("wire.websockets"),
    }
    if pin:
        return connect(url, **options, **pinned(pin))
    return connect(url, ssl=True if url.lower().startswith("wss:") else None, **options)
