"""Who may come in: token, Host and Origin of the opening handshake."""

from __future__ import annotations

import ipaddress
import logging
import socket
import time
from collections import OrderedDict
from collections.abc import Iterable
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from core.domain.errors import Denied
from core.logs import Thinned
from core.protocol.server_state import Bucket
from core.server.entrance import neighbourhood
from core.store import accounts
from core.store.accounts import Principal
from core.store.sqlite import Connection as Database

FAILURES_PER_S, FAILURES_AT_ONCE = 0.5, 20.0
_ADDRESSES = 1024


class Gate:
    """Judges handshakes. `names` are the host names under which this server may be addressed."""

    def __init__(self, reader: Database, names: Iterable[str] = ()) -> None:
        self._reader = reader
        self._names = frozenset(n.lower() for n in ("localhost", socket.gethostname(), *names) if n)
        self._log = Thinned(logging.getLogger("wire"))
        self._failures: OrderedDict[str, Bucket] = OrderedDict()

    def judge(self, connection: ServerConnection, request: Request) -> Response | None:
        """The refusal, or None: Host and Origin first (403), then the token (401; 429 after many failures)."""
        if not self._is_our_name(request.headers.get_all("Host")):
            self._refused(connection, "bad_host")
            return connection.respond(HTTPStatus.FORBIDDEN, "This server is not known by that name.\n")
        if request.headers.get_all("Origin"):
            self._refused(connection, "web_page")
            return connection.respond(HTTPStatus.FORBIDDEN, "Web pages may not connect.\n")
        try:
            self.holder(request)
        except Denied as error:
            self._refused(connection, error.code)
            if self._is_knocking(neighbourhood(_address(connection))):
                return connection.respond(HTTPStatus.TOO_MANY_REQUESTS, "Too many refused tokens.\n")
            return connection.respond(HTTPStatus.UNAUTHORIZED, error.sentence + "\n")
        return None

    def note_greeted(self, connection: ServerConnection, principal: Principal, program: str) -> None:
        """Who came in, from where and with what: once a minute, however often they come."""
        address = _address(connection)
        self._log.say(logging.INFO, f"in {principal.name} {address}", "%s (%s) came in from %s with %r", principal.name,
                 " ".join(principal.scopes), address, program[:80])

    def _refused(self, connection: ServerConnection, code: str) -> None:
        address = _address(connection)
        self._log.say(logging.WARNING, f"{code} {neighbourhood(address)}", "refused a connection from %s: %s", address,
                      code)

    def holder(self, request: Request | None) -> tuple[Principal, str]:
        """The principal of a handshake and its token. Raises Denied."""
        headers = request.headers.get_all("Authorization") if request else []
        kind, _, token = (headers[0] if len(headers) == 1 else "").partition(" ")
        if kind.lower() != "bearer" or not token:
            raise Denied("no_token", "A bearer token is needed.")
        return accounts.principal(self._reader, token), token

    def _is_our_name(self, hosts: list[str]) -> bool:
        """A page that rebinds a name of its own to our address shows that name here; addresses cannot be rebound."""
        if len(hosts) != 1:
            return False
        name = hosts[0].rsplit(":", 1)[0] if not hosts[0].endswith("]") else hosts[0]
        name = name.strip("[]").lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True

    def _is_knocking(self, address: str) -> bool:
        bucket = self._failures.pop(address, None) or Bucket(FAILURES_PER_S, FAILURES_AT_ONCE)
        self._failures[address] = bucket
        if len(self._failures) > _ADDRESSES:
            self._failures.popitem(last=False)
        return bucket.wait(time.monotonic()) > 0


def _address(connection: ServerConnection) -> str:
    address = connection.remote_address
    return str(address[0]) if address else ""
