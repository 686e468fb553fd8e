"""Accepting an invitation: the one-time token is exchanged for a token that this computer made itself.

It is asked for at the server's own door, so fingerprint, proxy and encryption are judged as for every connection.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import msgspec
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI
from websockets.http11 import Response

from core.client.certificate import split_address
from core.client.connection import shut, words_of_failure
from core.client.dial import dial
from core.domain.errors import Denied, InvalidInput, ProtocolMismatch, ReportableError, Unavailable
from core.domain.invitation import LONGEST, Invitation, parse_invitation

ATTEMPTS = 3
"""An answer that was lost is asked for again, with the same token."""

PAUSE_S = 1.0
OWN_TOKEN = "Tiphys-Token"
CODE = "Tiphys-Code"

T = TypeVar("T")


class Joined(msgspec.Struct, frozen=True, kw_only=True):
    """What the server said: the account's name and what it may."""

    name: str
    scopes: tuple[str, ...]


def read_invitation(path: Path) -> Invitation:
    """The invitation in a file. Raises InvalidInput (bad_invitation), Unavailable where it cannot be read."""
    try:
        with path.open("rb") as file:
            text = file.read(LONGEST + 100).decode("ascii", "replace")
    except OSError as error:
        raise Unavailable("invitation_unreadable", f"{path} cannot be read: {error.strerror}.",
                          path=str(path)) from error
    return parse_invitation(text)


async def accept(invitation: Invitation, token: str) -> Joined:
    """Have the account made, with this token from then on.

    Raises Denied: invitation_unknown, invitation_used, invitation_expired, and what `dial` raises; Unavailable
    (server_away) after a few attempts.
    """
    url, pin = split_address(invitation.server)
    return await patiently(lambda: exchange(url, pin, "/invitation", invitation.token, {OWN_TOKEN: token}), PAUSE_S)


async def patiently(ask: Callable[[], Awaitable[T]], pause_s: float, factor: float = 1.0) -> T:
    """What an attempt gives; where the other side was away, another one follows after a pause, so often at most."""
    for pause in (pause_s * factor ** attempt for attempt in range(ATTEMPTS - 1)):
        try:
            return await ask()
        except Unavailable:
            await asyncio.sleep(pause)
    return await ask()


async def exchange(url: str, pin: str, path: str, secret: str, headers: Mapping[str, str]) -> Joined:
    """What a page of the server's that takes a secret says. Raises Denied with the server's code, Unavailable
    (server_away), ProtocolMismatch (no_invitations)."""
    response = await page(url, pin, path, secret, headers)
    if response.status_code != 200:
        raise refusal_of(response, url)
    try:
        return msgspec.json.decode(bytes(response.body or b""), type=Joined)
    except (ValueError, RecursionError) as error:
        raise ProtocolMismatch("no_invitations", f"{url} does not answer as a Tiphys server.", server=url) from error


async def page(url: str, pin: str, path: str, secret: str, headers: Mapping[str, str] = {}) -> Response:
    """A page of the server's, asked for as a connection is, so that fingerprint, proxy and encryption are judged alike.

    Raises Unavailable (server_away), InvalidInput (bad_address), ProtocolMismatch (no_invitations) where it knows no
    such pages.
    """
    try:
        socket = await dial(url.rstrip("/") + path, pin, secret, headers=headers)
    except InvalidStatus as answer:
        return answer.response
    except InvalidURI as error:
        raise InvalidInput("bad_address", f"{url} is no address of a server: wss://HOST:PORT is expected.",
                           address=url) from error
    except (OSError, InvalidHandshake, TimeoutError, EOFError) as error:
        raise Unavailable("server_away", f"{url} cannot be reached: {words_of_failure(error)}.", server=url) from error
    await shut(socket)
    raise ProtocolMismatch("no_invitations", f"{url} knows no invitations: it is older than this program.", server=url)


def refusal_of(response: Response, url: str) -> ReportableError:
    """What a page that says no means, by the server's code."""
    code = response.headers.get(CODE, "")
    sentence = bytes(response.body or b"").decode(errors="replace").strip()[:500]
    if response.status_code >= 500:
        return Unavailable("server_away", f"{url} cannot be reached: status {response.status_code}.", server=url)
    if response.status_code == 401 and not code:
        return ProtocolMismatch("no_invitations", f"{url} knows no invitations: it is older than this program.",
                                server=url)
    if not code:
        return InvalidInput("bad_invitation", sentence or f"{url} refused the invitation ({response.status_code}).")
    return Denied(code, sentence, server=url, why=sentence)
