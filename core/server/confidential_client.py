"""This server as a client with a secret of the lab's OpenID Connect provider.

Such a provider answers nobody who lacks the secret, and desktops must not have it: they have the server ask. The
secret stands in a file, is read when it is needed, so that a renewed one counts at once, and goes to the provider
alone.
"""

import base64
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

from core.client.device_login import GRANT, LogInOffer, device_endpoint
from core.client.issuer import Discovery, ask, discover
from core.domain.errors import Denied, InvalidInput, Unavailable
from core.logs import redactor

LONGEST = 4096
OF_THE_FLOW = ("", "authorization_pending", "slow_down", "access_denied", "expired_token")
"""Errors that tell how a log-in goes (RFC 8628, 3.5); any other refuses the code or this server."""

OF_A_CODE = ("device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval",
             "error", "error_description")
OF_AN_ANSWER = ("id_token", "error", "error_description")
"""What is passed on: a provider's access and refresh tokens are nobody's business here."""


class ConfidentialClient:
    """Asks in the name of whoever logs in; its methods wait for the network and raise Denied (login_failed),
    Unavailable (issuer_away) and InvalidInput (bad_issuer, bad_client_secret)."""

    def __init__(self, offer: LogInOffer, secret_file: Path) -> None:
        self._offer, self._file = offer, secret_file
        self._found: Discovery | None = None

    def code(self) -> dict[str, Any]:
        """A code for somebody who begins."""
        place = self._provider()
        endpoint = device_endpoint(self._offer.issuer, place.device_authorization_endpoint)
        return self._asked(endpoint, {"scope": self._offer.scope}, OF_A_CODE)

    def answer(self, device_code: str) -> dict[str, Any]:
        """Whether the person of a code has agreed by now."""
        return self._asked(self._provider().token_endpoint, {"grant_type": GRANT, "device_code": device_code},
                           OF_AN_ANSWER)

    def _provider(self) -> Discovery:
        if self._found is None:
            self._found = discover(self._offer.issuer)
        return self._found

    def _asked(self, url: str, form: Mapping[str, str], fields: tuple[str, ...]) -> dict[str, Any]:
        secret, name = read_secret(self._file), self._offer.client
        form, headers = {**form, "client_id": name}, {}
        if "client_secret_post" in self._provider().token_endpoint_auth_methods_supported:
            form["client_secret"] = secret  # providers differ in whether they decode what RFC 6749 has encoded below
        else:
            both = f"{quote_plus(name)}:{quote_plus(secret)}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(both).decode()}"
        try:
            found = ask(url, form, headers)
        except Unavailable:
            self._found = None  # its places may be others when it is back
            raise
        if found.get("error", "") not in OF_THE_FLOW:
            why = str(found.get("error_description") or found["error"])[:300]
            raise Denied("login_failed", f"{self._offer.issuer} refused: {why}", why=why)
        return {key: value for key, value in found.items() if key in fields}


def read_secret(path: Path) -> str:
    """The secret of a file's one line; hidden in every log from then on. Raises InvalidInput (bad_client_secret)."""
    def refused(why: str) -> InvalidInput:
        return InvalidInput("bad_client_secret", f"oidc_secret_file: {path} {why}.", path=str(path))

    try:
        with path.open("rb") as file:
            if stat.S_IMODE(os.fstat(file.fileno()).st_mode) & stat.S_IRWXO:
                raise refused("is open to everybody on this computer (chmod 640)")
            secret = file.read(LONGEST + 1).decode("ascii").strip()
    except OSError as error:
        raise refused(f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError:
        raise refused("holds more than ASCII") from None
    if not secret.isprintable() or not 6 <= len(secret) <= LONGEST:
        raise refused(f"does not hold one line of 6 to {LONGEST} characters")
    redactor.add(secret)
    return secret
