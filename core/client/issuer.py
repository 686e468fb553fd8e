"""What an OpenID Connect provider says of itself, asked for over HTTP; both ends need it.

Only https is spoken, and http with this computer alone; the system's certificate authorities count. Redirections are
not followed: nothing that was sent to a provider is to end elsewhere.
"""

from __future__ import annotations

import http.client
import json
import urllib.error
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import msgspec

from core.client.dial import is_loopback
from core.domain.errors import InvalidInput, Unavailable

LONGEST = 1 << 20
TIMEOUT_S = 4.0


class Discovery(msgspec.Struct, frozen=True, kw_only=True):
    """The places of a provider that are used here (OpenID Connect Discovery 1.0; RFC 8628)."""

    issuer: str
    jwks_uri: str
    token_endpoint: str
    device_authorization_endpoint: str = ""
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None: what redirects has failed."""


def checked_place(url: str, what: str) -> str:
    """An address that may be asked. Raises InvalidInput (bad_issuer)."""
    try:
        parts = urlsplit(url)
        is_good = bool(parts.hostname) and not parts.username and parts.port != 0 and url.isprintable()
    except ValueError:
        is_good = False
    if not is_good or not (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url))):
        raise InvalidInput("bad_issuer", f"{what} {url[:200]!r} is no https address.", url=url[:200])
    return url


def discover(issuer: str) -> Discovery:
    """What a provider says of itself; waits for the network. Raises Unavailable (issuer_away), InvalidInput
    (bad_issuer) where it is another one, or no provider."""
    checked_place(issuer, "The issuer")
    answer = ask(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    try:
        found = msgspec.convert(answer, Discovery)
    except msgspec.ValidationError as error:
        raise InvalidInput("bad_issuer", f"{issuer} does not answer as an OpenID Connect provider: {error}",
                           url=issuer) from error
    if found.issuer.rstrip("/") != issuer.rstrip("/"):
        raise InvalidInput("bad_issuer", f"{issuer} says that it is {found.issuer[:200]!r}.", url=issuer)
    for place in (found.jwks_uri, found.token_endpoint, found.device_authorization_endpoint):
        if place:
            checked_place(place, f"{issuer} names a place that")
    return found


def ask(url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] = {}) -> dict[str, Any]:
    """The JSON object at an address; `form` is posted. An error's object is given too, as it is OAuth's way to say no.

    Raises Unavailable (issuer_away)."""
    try:
        try:
            found = json.loads(fetch(url, form, headers))
        except urllib.error.HTTPError as error:
            with error:
                found = json.loads(error.read(LONGEST))
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        raise Unavailable("issuer_away", f"{url} cannot be asked: {error}", url=url) from error
    if not isinstance(found, dict):
        raise Unavailable("issuer_away", f"{url} does not answer with an object.", url=url)
    return found


def fetch(url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] = {}) -> bytes:
    """What lies at an address, at most LONGEST bytes of it; `form` is posted. Raises OSError, ValueError and
    HTTPException as urllib does."""
    request = Request(url, urlencode(form).encode() if form is not None else None,
                      {"Accept": "application/json", **headers})
    direct = [ProxyHandler({})] if is_loopback(url) else []
    with build_opener(_NoRedirection, *direct).open(request, timeout=TIMEOUT_S) as response:
        return bytes(response.read(LONGEST))
