"""Who may come in: token, Host and Origin of the opening handshake."""

import ipaddress
import logging
import socket
import time
from collections import OrderedDict
from collections.abc import Iterable
from http import HTTPStatus

from websockets.asyncio.server import ServerConnection
from websockets.http11 import Request, Response

from core.domain.errors import Denied, InvalidInput, ReportableError
from core.logs import Thinned
from core.protocol.server_state import Bucket
from core.server.counts import Counts
from core.server.entrance import neighbourhood
from core.store import accounts
from core.store.accounts import Principal
from core.store.sqlite import Connection as Database

FAILURES_PER_S, FAILURES_AT_ONCE = 0.5, 20.0
LOG_INS_PER_S, LOG_INS_AT_ONCE = 0.1, 20.0
"""How often a neighbourhood may have the server begin a log-in at the lab's provider."""

_ADDRESSES = 1024


class Gate:
    """Judges handshakes. `names` are the host names under which this server may be addressed, `proxies` the addresses
    or networks of reverse proxies, whose word (X-Forwarded-For) on who speaks through them is believed.

    Raises InvalidInput (bad_proxy) for what is no address.
    """

    def __init__(self, reader: Database, names: Iterable[str] = (), proxies: Iterable[str] = (),
                 counts: Counts | None = None) -> None:
        self._reader, self._counts = reader, counts or Counts()
        self._names = frozenset(n.lower() for n in ("localhost", socket.gethostname(), *names) if n)
        self._proxies = [_network(proxy) for proxy in proxies]
        self._log = Thinned(logging.getLogger("wire"))
        self._failures: OrderedDict[str, Bucket] = OrderedDict()
        self._log_ins: OrderedDict[str, Bucket] = OrderedDict()

    def refuse_place(self, connection: ServerConnection, request: Request) -> Response | None:
        """The refusal (403) of a handshake under a foreign Host or of a web page, or None."""
        if not self._is_our_name(request.headers.get_all("Host")):
            self._refused(connection, request, "bad_host")
            return connection.respond(HTTPStatus.FORBIDDEN, "This server is not known by that name.\n")
        if request.headers.get_all("Origin"):
            self._refused(connection, request, "web_page")
            return connection.respond(HTTPStatus.FORBIDDEN, "Web pages may not connect.\n")
        return None

    def refuse_token(self, connection: ServerConnection, request: Request) -> Response | None:
        """The refusal of a handshake without a good token (401; 429 after many failures), or None."""
        try:
            self.holder(request)
        except Denied as error:
            return self.refuse(connection, request, error)
        return None

    def refuse(self, connection: ServerConnection, request: Request, error: ReportableError,
               status: HTTPStatus = HTTPStatus.UNAUTHORIZED) -> Response:
        """The answer to who showed a secret that is none; who does so often is slowed down."""
        self._refused(connection, request, error.code)
        if _is_too_often(self._failures, self._near(connection, request), FAILURES_PER_S, FAILURES_AT_ONCE):
            return connection.respond(HTTPStatus.TOO_MANY_REQUESTS, "Too many refused tokens.\n")
        return connection.respond(status, error.sentence + "\n")

    def require_patience(self, connection: ServerConnection, request: Request) -> None:
        """Raises Denied (login_often) where too many log-ins were begun from near there."""
        if _is_too_often(self._log_ins, self._near(connection, request), LOG_INS_PER_S, LOG_INS_AT_ONCE):
            raise Denied("login_often", "Too many log-ins were begun from here: wait a moment.")

    def note_greeted(self, connection: ServerConnection, principal: Principal, program: str) -> str:
        """Who came in, from where and with what: once a minute, however often they come. Gives the address."""
        address = self.address(connection, connection.request)
        self._log.say(logging.INFO, f"in {principal.name} {address}", "%s (%s) came in from %s with %r", principal.name,
                      " ".join(principal.scopes), address, program[:80])
        return address

    def is_proxy(self, address: str) -> bool:
        """Whether an address, or its neighbourhood, is of the proxies."""
        try:
            known = ipaddress.ip_network(address, strict=False)
        except ValueError:
            return False
        return any(known.version == network.version and known.overlaps(network) for network in self._proxies)

    def address(self, connection: ServerConnection, request: Request | None) -> str:
        """Where somebody speaks from: the last address that no proxy of ours gave its own."""
        remote = connection.remote_address
        address = str(remote[0]) if remote else ""
        named = ",".join(request.headers.get_all("X-Forwarded-For") if request else []).split(",")
        while named and self.is_proxy(address):
            address = named.pop().strip() or address
        return address[:60]

    def _refused(self, connection: ServerConnection, request: Request, code: str) -> None:
        self._counts.refusals[code] += 1
        address = self.address(connection, request)
        self._log.say(logging.WARNING, f"{code} {neighbourhood(address)}", "refused a connection from %r: %s", address,
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

    def _near(self, connection: ServerConnection, request: Request) -> str:
        return neighbourhood(self.address(connection, request))


def _is_too_often(buckets: OrderedDict[str, Bucket], address: str, per_s: float, at_once: float) -> bool:
    bucket = buckets.pop(address, None) or Bucket(per_s, at_once)
    buckets[address] = bucket
    if len(buckets) > _ADDRESSES:
        buckets.popitem(last=False)
    return bucket.wait(time.monotonic()) > 0


def _network(text: str) -> ipaddress.IPv4Network | ipaddress.IPv6Network:
    try:
        return ipaddress.ip_network(text, strict=False)
    except ValueError as error:
        raise InvalidInput("bad_proxy", f"{text[:80]!r} is no address or network of a proxy: {error}") from error
