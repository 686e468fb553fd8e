"""Logging in by the lab's own provider with a code that is entered in any browser (RFC 8628), for a token of our own.

The server says which provider; this computer speaks with that, or, where the provider wants a secret that the server
alone has, has the server ask it; the ID token that comes of it is exchanged at the server's own door, as an invitation
is (`core.client.invitation`).
"""

import asyncio
from typing import Any, Protocol

import msgspec

from core.client.certificate import split_address
from core.client.invitation import OWN_TOKEN, Joined, exchange, page, patiently, refusal_of
from core.client.issuer import ask, check_named, discover
from core.domain.bounds import Seconds
from core.domain.errors import Denied, InvalidInput, ProtocolMismatch, Unavailable

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
SLOWER_S = 5.0
"""What `slow_down` adds to the pause between two questions (RFC 8628, 3.5)."""

LONGEST = 7_900
"""Characters of an ID token: a header's line has an end."""


class LogInOffer(msgspec.Struct, frozen=True, kw_only=True):
    """By whom a server lets people log in, and as which client of theirs. `by_server`: the provider is asked by the
    server, which has the client's secret."""

    issuer: str
    client: str
    scope: str
    by_server: bool = False


class Provider(Protocol):
    """How a provider is asked. Both raise Unavailable (issuer_away, server_away)."""

    async def code(self) -> dict[str, Any]:
        """What it answers to who begins."""

    async def answer(self, device_code: str) -> dict[str, Any]:
        """Whether the person has agreed by now."""


class DirectProvider:
    """By this computer, as a client without a secret."""

    def __init__(self, offer: LogInOffer) -> None:
        self._offer = offer

    async def code(self) -> dict[str, Any]:
        """As the protocol's. Raises InvalidInput (bad_issuer) as well."""
        return await asyncio.to_thread(ask, await asyncio.to_thread(self._endpoint),
                                       {"client_id": self._offer.client, "scope": self._offer.scope})

    def _endpoint(self) -> str:
        self._found = discover(self._offer.issuer)
        return device_endpoint(self._offer.issuer, self._found.device_authorization_endpoint)

    async def answer(self, device_code: str) -> dict[str, Any]:
        """As the protocol's."""
        return await asyncio.to_thread(ask, self._found.token_endpoint, {
            "grant_type": GRANT, "device_code": device_code, "client_id": self._offer.client})


class ServersProvider:
    """By the server."""

    def __init__(self, url: str, pin: str) -> None:
        self._url, self._pin = url, pin

    async def code(self) -> dict[str, Any]:
        """As the protocol's. Raises Denied (login_often)."""
        return await self._page("/log-in/code", "")

    async def answer(self, device_code: str) -> dict[str, Any]:
        """As the protocol's."""
        return await self._page("/log-in/answer", device_code)

    async def _page(self, path: str, secret: str) -> dict[str, Any]:
        response = await page(self._url, self._pin, path, secret)
        if response.status_code != 200:
            raise refusal_of(response, self._url)
        try:
            found = msgspec.json.decode(bytes(response.body or b""))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise Unavailable("issuer_away", f"{self._url} does not answer with an object.", url=self._url)
        return found


class DeviceCode(msgspec.Struct, frozen=True, kw_only=True):
    """What a person enters where; `verification_uri_complete` has the code in it. Times in seconds."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str = ""
    expires_in: Seconds = 600.0
    interval: Seconds = 5.0


class DeviceLogIn:
    """One log-in, from the offer to the token. `pace` scales the pauses (for tests)."""

    def __init__(self, offer: LogInOffer, provider: Provider, code: DeviceCode, pace: float = 1.0) -> None:
        self.offer, self.code = offer, code
        self._provider, self._pace = provider, pace

    async def id_token(self) -> str:
        """Wait until the person has agreed in the browser.

        Raises Denied: login_refused, login_too_late, login_failed; Unavailable (issuer_away).
        """
        pause = self.code.interval
        try:
            async with asyncio.timeout(self.code.expires_in):
                while True:
                    await asyncio.sleep(pause * self._pace)
                    answer = await patiently(lambda: self._provider.answer(self.code.device_code),
                                             self.code.interval * self._pace, 2.0)  # it may be away for a moment
                    if answer.get("error") == "slow_down":
                        pause += SLOWER_S
                    elif answer.get("error") != "authorization_pending":
                        return self._token_of(answer)
        except TimeoutError as error:
            raise _too_late() from error

    def _token_of(self, answer: dict[str, Any]) -> str:
        error, token = answer.get("error"), answer.get("id_token")
        if error == "access_denied":
            raise Denied("login_refused", "The log-in was refused in the browser.")
        if error == "expired_token":
            raise _too_late()
        if error is not None or not isinstance(token, str):
            why = str(answer.get("error_description") or error or "it gave no ID token (is the scope openid allowed?)")
            raise Denied("login_failed", f"{self.offer.issuer} did not log you in: {why[:300]}", why=why[:300])
        if len(token) > LONGEST:
            raise Denied("login_failed", f"The ID token of {self.offer.issuer} is too long: {len(token)} characters.",
                         why=f"{len(token)} characters")
        return token


async def begin(address: str, pace: float = 1.0) -> DeviceLogIn:
    """Ask a server for its provider, and that for a code.

    Raises Denied (no_log_in) where the server has none, Unavailable (issuer_away, server_away), InvalidInput
    (bad_issuer) and what `dial` raises.
    """
    url, pin = split_address(address)
    response = await page(url, pin, "/log-in", "")
    try:
        offer = msgspec.json.decode(bytes(response.body or b""), type=LogInOffer)
    except (ValueError, RecursionError) as error:
        raise ProtocolMismatch("no_log_in", f"{url} offers no log-in by the lab's accounts: ask its administrator for "
                               "an invitation.", server=url) from error
    provider = ServersProvider(url, pin) if offer.by_server else DirectProvider(offer)
    return DeviceLogIn(offer, provider, _code_of(offer, await provider.code()), pace)


def device_endpoint(issuer: str, endpoint: str) -> str:
    """The place that gives codes. Raises InvalidInput (bad_issuer) where a provider has none."""
    if not endpoint:
        raise InvalidInput("bad_issuer", f"{issuer} does not log in by a code (RFC 8628).", url=issuer)
    return endpoint


async def log_in(address: str, id_token: str, token: str) -> Joined:
    """Have the server take this token for the person of the ID token. Raises Denied with the server's code
    (login_…, id_token_…), Unavailable (server_away)."""
    url, pin = split_address(address)
    return await exchange(url, pin, "/log-in/token", id_token, {OWN_TOKEN: token})


def _code_of(offer: LogInOffer, answer: dict[str, Any]) -> DeviceCode:
    if "error" in answer:
        why = str(answer.get("error_description") or answer["error"])[:300]
        raise Denied("login_failed", f"{offer.issuer} gave no code: {why}", why=why)
    try:
        code = msgspec.convert(answer, DeviceCode, strict=False)
    except msgspec.ValidationError as error:
        raise Unavailable("issuer_away", f"{offer.issuer} gave no code: {error}", url=offer.issuer) from error
    for place in (code.verification_uri, code.verification_uri_complete or code.verification_uri):
        check_named(offer.issuer, place)
    return msgspec.structs.replace(code, interval=max(1.0, code.interval))


def _too_late() -> Denied:
    return Denied("login_too_late", "The code was not entered in time. Begin again.")
