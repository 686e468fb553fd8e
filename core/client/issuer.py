"""What an OpenID Connect provider says of itself, asked for over HTTP; both ends need it.

Only https is spoken, and http with this computer alone; the system's certificate authorities count. Redirections are
not followed: nothing that was sent to a provider is to end elsewhere.
"""

import contextlib
import http.client
import json
import socket
import threading
import time
import urllib.error
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPHandler, HTTPRedirectHandler, HTTPSHandler, ProxyHandler, Request, build_opener

import msgspec

from core.client.dial import is_loopback
from core.domain.errors import InvalidInput, Unavailable

LONGEST = 1 << 20
TIMEOUT_S = 4.0
"""For each word of an answer."""

WHOLE_S = 20.0
"""For all of it: one that comes byte by byte has an end too."""


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
            check_named(issuer, place)
    return found


def check_named(issuer: str, place: str) -> None:
    """Whether a provider may send this computer, or a person here, to a place: never from elsewhere to what listens on
    this computer alone. Raises InvalidInput (bad_issuer)."""
    checked_place(place, f"{issuer} names a place that")
    if is_loopback(place) and not is_loopback(issuer):
        raise InvalidInput("bad_issuer", f"{issuer[:200]} names a place on this computer: {place[:200]!r}.",
                           url=place[:200])


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


class _Watched(HTTPHandler, HTTPSHandler):
    """Opens connections whose sockets are known from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.opened: list[socket.socket] = []

    def http_open(self, req: Request) -> http.client.HTTPResponse:
        """As the base's."""
        return self.do_open(self._watched(http.client.HTTPConnection), req)

    def https_open(self, req: Request) -> http.client.HTTPResponse:
        """As the base's; the system's certificate authorities count."""
        return self.do_open(self._watched(http.client.HTTPSConnection), req)

    def _watched(self, kind: type[http.client.HTTPConnection]) -> type[http.client.HTTPConnection]:
        opened = self.opened

        class Watched(kind):  # type: ignore[valid-type,misc]
            def connect(self) -> None:
                super().connect()
                opened.append(self.sock)

        return Watched

    def shut(self) -> None:
        """Whoever waits for them waits no longer."""
        for one in self.opened:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def fetch(url: str, form: Mapping[str, str] | None = None, headers: Mapping[str, str] = {}) -> bytes:
    """What lies at an address, at most LONGEST bytes of it, within WHOLE_S; `form` is posted. Raises OSError,
    ValueError and HTTPException as urllib does."""
    request = Request(url, urlencode(form).encode() if form is not None else None,
                      {"Accept": "application/json", **headers})
    direct = [ProxyHandler({})] if is_loopback(url) else []
    watched, until = _Watched(), time.monotonic() + WHOLE_S
    clock = threading.Timer(WHOLE_S, watched.shut)
    clock.daemon = True
    clock.start()
    try:
        with build_opener(_NoRedirection, watched, *direct).open(request, timeout=TIMEOUT_S) as response:
            found = bytes(response.read(LONGEST))
    finally:
        clock.cancel()
    if time.monotonic() >= until:
        raise TimeoutError(f"it did not answer within {WHOLE_S:g} s")
    return found
