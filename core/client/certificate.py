"""Trust in a server's certificate by its fingerprint, as SSH trusts a host's key: labs have no certificate authority.

The fingerprint is part of the address, `wss://host:7717#sha256=HEX`: one line that a person hands to another. What
stands behind `#` is never sent. The certificate is compared before the token, or anything else, goes out.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import ssl
from typing import TYPE_CHECKING, Any, cast

from core.domain.errors import Denied, InvalidInput

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_PIN = re.compile(r"sha256=([0-9a-f]{64})")
_SEPARATORS = str.maketrans("", "", ": ")


def split_address(url: str) -> tuple[str, str]:
    """An address and the fingerprint behind its `#` (64 hexadecimal digits; "" without one).

    Colons, spaces and capitals, as openssl prints them, are accepted. Raises InvalidInput (bad_fingerprint).
    """
    address, mark, pin = url.partition("#")
    if not mark:
        return address, ""
    found = _PIN.fullmatch(pin.translate(_SEPARATORS).lower())
    if found is None:
        raise InvalidInput("bad_fingerprint", f"What stands behind # in {address} is no fingerprint: sha256= and 64 "
                           "hexadecimal digits are expected.", address=address)
    if not address.lower().startswith("wss:"):
        raise InvalidInput("bad_fingerprint", f"{address} is not encrypted: only wss:// has a certificate.",
                           address=address)
    return address, found[1]


def with_pin(url: str, pin: str) -> str:
    """The address with its fingerprint."""
    return f"{url}#sha256={pin}" if pin else url


def fingerprint(certificate: bytes) -> str:
    """SHA-256 of a certificate (DER), 64 hexadecimal digits: what `openssl x509 -fingerprint -sha256` shows."""
    return hashlib.sha256(certificate).hexdigest()


def pinned(pin: str) -> dict[str, Any]:
    """What `websockets.connect` needs to go on only if the server's certificate has this fingerprint.

    Connecting raises Denied (certificate) otherwise, with the fingerprint that was shown in its params.
    """
    from websockets.asyncio.client import ClientConnection  # the window reads addresses before it connects anywhere

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # the fingerprint says more than any authority could

    class Pinned(ClientConnection):
        """Compares before the handshake, which carries the token."""

        async def handshake(self, *arguments: Any, **named: Any) -> None:
            """Compare, then greet."""
            _compare(self, pin)
            await super().handshake(*arguments, **named)

    return {"ssl": context, "create_connection": Pinned}


def _compare(connection: ClientConnection, pin: str) -> None:
    tls = cast(ssl.SSLObject, connection.transport.get_extra_info("ssl_object"))
    found = fingerprint(tls.getpeercert(binary_form=True) or b"")
    if not hmac.compare_digest(found, pin):
        connection.transport.abort()
        raise Denied("certificate", f"The server shows a certificate with the fingerprint {found}, not the one that it "
                     "should have. Nothing was sent. Ask its administrator before you go on.", fingerprint=found)
