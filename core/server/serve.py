"""`tiphys serve`: one server on one home folder."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any

import msgspec
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from core.aio import TaskScope
from core.client.certificate import with_pin
from core.domain.errors import InvalidInput, ReportableError
from core.domain.version import named
from core.logs import silenced
from core.protocol.codec import MAX_TEXT_FRAME
from core.protocol.messages import SUBPROTOCOL, Hello
from core.server.address import addresses_of, bind, host_of, url_of
from core.server.connection import ConnectedClient
from core.server.counts import Pulse
from core.server.end_rules import EndRules
from core.server.entrance import Entrance, can_wait_outside
from core.server.gate import Gate
from core.server.high_water import write_mark, write_marks
from core.server.http_pages import COMMIT_S, HttpPages
from core.server.hub import MOST_OF_ACCOUNT, Hub
from core.server.idle import identity, until_deleted, until_idle
from core.server.leftovers import Leftovers
from core.server.lifecycle import settle_imports
from core.server.logins import Logins
from core.server.lookups import lookups_of
from core.server.notify import AttentionNotifier
from core.server.ownership import hold, own
from core.server.plain_entrance import PlainEntrance
from core.server.pool import HostPool
from core.server.recall import mend_log
from core.server.retention import Retention
from core.server.runners import Supervisor
from core.server.search import LogSearch
from core.server.service_manager import keep_alive, notify
from core.server.sweep import Removal, prune_images_daily, remove_orphans, sweep_regularly
from core.store import judged, log
from core.store.accounts import Principal
from core.store.endpoint import write_endpoint
from core.store.home import Home
from core.store.sqlite import Connection as Database
from core.store.sqlite import connect
from core.store.writer import Writer

if TYPE_CHECKING:
    from core.server.certificate import CertificateFiles
    from core.server.id_tokens import IdTokens, LogInRules

_log = logging.getLogger("wire")

CHECK_TOKENS_EVERY_S = 1.0
PING_S = 20.0


class ServeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How to serve. `private`: for this computer alone, on a free port that stays the same from then on.

    `address` is the one that people use where it is not the server's own. `names` are further host names under which
    clients address this server; `certificate` and `key` (PEM files) turn TLS on, which every address but loopback
    needs unless `plain_text` says that something else encrypts;
    `self_signed` turns it on with a certificate of the server's own making, kept in the home folder.
    `trusted_proxies` are addresses or networks of reverse proxies, whose X-Forwarded-For is believed.
    `idle_s`: so long without anybody connected and any session at work, and it ends; 0: never.
    `connections_of_account`: so many connections one account may have at once.
    `log_in` says by whom people may log in.
    `runner` is how the program is called to start a runner (for tests).
    """

    home: Home
    host: str = "127.0.0.1"
    port: int | None = None
    private: bool = False
    names: tuple[str, ...] = ()
    address: str = ""
    certificate: str = ""
    key: str = ""
    self_signed: bool = False
    plain_text: bool = False
    trusted_proxies: tuple[str, ...] = ()
    supervise: bool = True
    runner: tuple[str, ...] = ()
    program: str = named("tiphys")
    idle_s: float = 0.0
    connections_of_account: int = MOST_OF_ACCOUNT
    log_in: LogInRules | None = None


class Server:
    """A running server, as an async context manager; `url` is where it is reached on this computer,
    `addresses` under the further names; with TLS they end with the certificate's fingerprint.

    Entering raises Conflict (server_running) when another process serves this home, Unavailable for the address.
    """

    def __init__(self, settings: ServeSettings) -> None:
        self.settings = settings
        self.home = settings.home
        self.url = ""
        self.addresses: list[str] = []
        self._supervisor: Supervisor | None = None
        self._certificate: CertificateFiles | None = None
        self.over = asyncio.Event()
        """Whether it is time to end: nobody needs the server any more, or somebody said so."""
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Server:
        async with AsyncExitStack() as stack:
            await self._open(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        await self._stack.aclose()

    async def stores(self) -> bool:
        """Whether the writer answers, be it that the disk is full: nothing hangs."""
        try:
            async with asyncio.timeout(COMMIT_S):
                await self.hub.store(lambda conn: None)
        except TimeoutError:
            return False
        except ReportableError:
            return True
        return True

    def reload(self) -> None:
        """Read the certificate's files again; connections that stand go on."""
        if self._certificate is not None:
            self._certificate.reload()

    async def _open(self, stack: AsyncExitStack) -> None:
        lock = hold(self.home)
        stack.callback(lock.release)
        certificate = self._certificate = _certificate(self.settings)
        writer = stack.enter_context(Writer(self.home.server_db))
        database = identity(self.home.server_db)
        await writer.do(lambda conn: own(conn, self.home))
        await mend_log(writer, self.home)
        await writer.do(settle_imports)
        reader = connect(self.home.server_db, readonly=True)
        stack.callback(reader.close)
        stack.callback(write_mark, reader, self.home)
        hub = self.hub = Hub(writer, reader)
        stack.callback(hub.close)
        hub.lookups = lookups_of(self.home, hub.is_connected, hub.readers)
        hub.search = LogSearch(self.home)
        stack.push_async_callback(hub.search.close)
        rules = EndRules(hub, self.home)
        stack.push_async_callback(rules.close)
        pulse = Pulse()
        entrance = await self._listen(stack, hub, certificate, pulse)
        scope = await stack.enter_async_context(TaskScope("server"))
        if entrance is not None:
            scope.spawn(entrance.run(), name="entrance")
        scope.spawn(_check_tokens(hub), name="tokens")
        scope.spawn(pulse.run(), name="pulse")
        scope.spawn(_count_judged(hub), name="count judged")
        if certificate is not None:
            scope.spawn(certificate.watch(), name="certificate")
        scope.spawn(write_marks(reader, self.home), name="high water")
        scope.spawn(sweep_regularly(hub), name="sweep")
        scope.spawn(Removal(hub, self.home).run(), name="removal")
        scope.spawn(Retention(hub, self.home).run(), name="retention")
        scope.spawn(self._until_over(lambda: until_deleted(self.home.server_db, database)), name="home")
        if self.settings.idle_s:
            scope.spawn(self._until_over(lambda: until_idle(hub, self.settings.idle_s)), name="idle")
        AttentionNotifier(hub, self.home.path / "notify.txt", scope)
        if self.settings.supervise:
            self._supervise(stack, hub, scope)
            scope.spawn(rules.run(hub.on_changed, hub.on_deleted), name="rules")

    def _supervise(self, stack: AsyncExitStack, hub: Hub, scope: TaskScope) -> None:
        """Start runners, and remove what those that ended left."""
        pool = HostPool(hub, self.home)
        stack.callback(pool.close)
        scope.spawn(pool.watch(), name="host pool")
        command = list(self.settings.runner) or None
        supervisor = self._supervisor = Supervisor(hub, self.home, self.url, command, pool)
        stack.callback(supervisor.let_go)
        scope.spawn(supervisor.run(), name="runners")
        scope.spawn(remove_orphans(self.home, hub.reader), name="orphans")
        scope.spawn(prune_images_daily(self.home), name="images")
        scope.spawn(Leftovers(hub, self.home).run(), name="leftovers")

    async def _until_over(self, cause: Callable[[], Coroutine[Any, Any, None]]) -> None:
        await cause()
        self.over.set()

    async def _listen(self, stack: AsyncExitStack, hub: Hub, certificate: CertificateFiles | None, pulse: Pulse
                      ) -> Entrance | None:
        settings = self.settings
        gate = Gate(hub.reader, [*settings.names, host_of(settings.address)], settings.trusted_proxies, hub.counts)
        pages = HttpPages(hub, gate, self.home, pulse, certificate, _id_tokens(settings))
        listener = bind(self.home, settings.host, settings.port, settings.private)
        hub.most_of_account = settings.connections_of_account
        entrance = (Entrance(listener, hub.counts, gate.is_proxy) if can_wait_outside(asyncio.get_running_loop())
                    else None)
        plain = PlainEntrance() if entrance is None else None
        self._name_addresses(listener, certificate)
        logins = Logins(hub, await stack.enter_async_context(TaskScope("logins")))

        def greeted(socket: ServerConnection, principal: Principal, hello: Hello) -> None:
            (entrance or plain).greeted(socket.remote_address)  # type: ignore[union-attr]
            logins.note(principal, gate.note_greeted(socket, principal, hello.program))

        async def handle(socket: ServerConnection) -> None:
            principal, token = gate.holder(socket.request)
            await ConnectedClient(hub, socket, principal, token, settings.program,
                                  on_greeted=lambda hello: greeted(socket, principal, hello)).serve()

        await stack.enter_async_context(serve(
            handle, sock=entrance.door if entrance else listener, ssl=certificate.context if certificate else None,
            process_request=pages.answer,
            subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, max_size=MAX_TEXT_FRAME, ping_interval=PING_S,
            create_connection=plain.connections() if plain else None, ping_timeout=PING_S,
            open_timeout=10, close_timeout=2, server_header=None, logger=silenced("wire.websockets")))
        if entrance is not None:
            entrance.open()
            stack.push_async_callback(entrance.close)
        write_endpoint(self.home, self.url, self.addresses)
        if certificate is not None:
            certificate.on_changed.append(lambda: self._renew_addresses(listener, certificate))
        _log.info("serving %s at %s", self.home.path, self.url)
        return entrance

    def _name_addresses(self, listener: socket.socket, certificate: CertificateFiles | None) -> None:
        tls, pin = certificate is not None, certificate.pin if certificate else ""
        self.url = with_pin(url_of(listener, tls), pin)
        own = [with_pin(address, pin) for address in addresses_of(listener, tls, self.settings.names)]
        self.addresses = [self.settings.address, *own] if self.settings.address else own

    def _renew_addresses(self, listener: socket.socket, certificate: CertificateFiles) -> None:
        """Another certificate has another fingerprint."""
        self._name_addresses(listener, certificate)
        write_endpoint(self.home, self.url, self.addresses)
        if self._supervisor is not None:
            self._supervisor.url = self.url


def run(settings: ServeSettings, on_ready: Callable[[Server], None] = lambda _: None) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` is told when it listens. Raises what entering a Server raises."""
    asyncio.run(_run(settings, on_ready))


async def _run(settings: ServeSettings, on_ready: Callable[[Server], None]) -> None:
    loop = asyncio.get_running_loop()
    async with Server(settings) as server:
        for one in (signal.SIGINT, signal.SIGTERM):
            try:
                loop.add_signal_handler(one, server.over.set)
            except NotImplementedError:  # Windows: Ctrl+C raises KeyboardInterrupt instead
                continue
        if hasattr(signal, "SIGHUP"):
            loop.add_signal_handler(signal.SIGHUP, server.reload)
        on_ready(server)
        notify("READY=1", f"STATUS=Serving at {server.url.partition('#')[0]}")
        gc.freeze()  # what is loaded by now stays: a collection need not look through it again
        async with TaskScope("service") as scope:
            scope.spawn(keep_alive(server.stores), name="watchdog")
            await server.over.wait()
            notify("STOPPING=1")


async def _count_judged(hub: Hub) -> None:
    """Sum up what was judged before this program kept a sum, one session at a time."""
    for session in judged.uncounted(hub.reader):
        await hub.do(session, partial(_count_one, session=session))


def _count_one(conn: Database, session: str) -> None:
    if log.knows(conn, session):
        log.count_judged(conn, session)
    else:
        judged.forget(conn, session)


async def _check_tokens(hub: Hub) -> None:
    while True:
        hub.check_tokens()
        await asyncio.sleep(CHECK_TOKENS_EVERY_S)


def _id_tokens(settings: ServeSettings) -> IdTokens | None:
    if settings.log_in is None:
        return None
    from core.server.id_tokens import IdTokens  # it takes a tenth of a second to load

    return IdTokens(settings.log_in)


def _certificate(settings: ServeSettings) -> CertificateFiles | None:
    """What encrypts; None where nothing does. Raises InvalidInput (tls_needed, bad_certificate)."""
    if not (settings.certificate or settings.self_signed):
        if settings.host not in ("127.0.0.1", "::1", "localhost") and not settings.plain_text:
            raise InvalidInput(
                "tls_needed", f"Listening on {settings.host} needs a certificate (--self-signed makes one), "
                "or the explicit statement that something else encrypts (plain text).", host=settings.host)
        return None
    from core.server.certificate import CertificateFiles, own_certificate  # it takes a tenth of a second to load

    if settings.certificate:
        return CertificateFiles(settings.certificate, settings.key)
    return CertificateFiles(*own_certificate(settings.home, [settings.host, *settings.names]))
