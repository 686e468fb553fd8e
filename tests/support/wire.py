"""Real servers on real loopback sockets, a raw peer that speaks frames, and logs to serve."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from core.aio import TaskScope
from core.client.client import Client
from core.client.connection import shut
from core.client.replica import Replica
from core.domain.events import NoteAdded, encode_event, make_event
from core.domain.verdict import Author
from core.protocol.codec import MAX_TEXT_FRAME, decode_from_server, encode
from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Hello, Wire
from core.server.serve import Server, ServeSettings
from core.store import accounts, log
from core.store.home import Home
from core.store.sqlite import connect as open_database
from core.store.sqlite import transaction

AGENT = Author(kind="agent", name="runner")


def settings(folder: Path, **more: object) -> ServeSettings:
    """A private server of a fresh home that starts no runners."""
    return ServeSettings(home=Home(folder), **{"private": True, "supervise": False, **more})  # type: ignore[arg-type]


@contextlib.asynccontextmanager
async def serving(folder: Path, **more: object) -> AsyncIterator[Server]:
    """A running server."""
    async with Server(settings(folder, **more)) as server:
        yield server


def admin_token(folder: Path) -> str:
    """The administrator's token of a home."""
    return Home(folder).admin_token.read_text()


def account(folder: Path, name: str, *scopes: str) -> str:
    """Make an account beside a running server; its token."""
    conn = open_database(Home(folder).server_db)
    with contextlib.closing(conn), transaction(conn):
        return accounts.add_account(conn, name, scopes)


def bodies_of(count: int, size: int = 10) -> list[bytes]:
    """Event bodies as a runner would make them."""
    return [encode_event(make_event(NoteAdded(step=0, text=f"{n} " + "x" * size), AGENT)) for n in range(count)]


def raw(bodies: Sequence[bytes]) -> tuple[msgspec.Raw, ...]:
    """Bodies as messages carry them."""
    return tuple(msgspec.Raw(b) for b in bodies)


async def fill(server: Server, session: str, bodies: Sequence[bytes]) -> None:
    """Append events as the server itself does."""
    def work(conn: object) -> None:
        log.create(conn, session)  # type: ignore[arg-type]
        log.append(conn, session, bodies)  # type: ignore[arg-type]

    await server.hub.do(session, work)


def log_of(folder: Path, session: str) -> list[bytes]:
    """The bodies of a log as they rest."""
    with contextlib.closing(open_database(folder, readonly=True)) as conn:
        return [p.body for p in log.read_all(conn, session)]


class RawPeer:
    """A peer without manners: sends what it is told, reads when it is told."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def say(self, message: Wire | str | bytes) -> None:
        """Send one frame."""
        await self.socket.send(encode(message) if isinstance(message, Wire) else message)

    async def hear(self, kind: type[Wire] | None = None) -> Wire:
        """The next text frame, of a kind if one is named (others are skipped)."""
        while True:
            frame = await asyncio.wait_for(self.socket.recv(), 60)
            if isinstance(frame, bytes):
                continue
            message = decode_from_server(frame)
            if kind is None or isinstance(message, kind):
                return message

    async def ask(self, message: Wire, kind: type[Wire] | None = None) -> Wire:
        """Send, then the next frame."""
        await self.say(message)
        return await self.hear(kind)

    async def closed(self) -> int:
        """Read until the server closes; its close code."""
        with contextlib.suppress(Exception):
            async with asyncio.timeout(60):
                while True:
                    await self.socket.recv()
        return self.socket.close_code or 0


@contextlib.asynccontextmanager
async def raw_peer(server_url: str, token: str, *, client: str = "raw", hello: bool = True) -> AsyncIterator[RawPeer]:
    """A connected peer, greeted unless told otherwise."""
    socket = await connect(
        server_url, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None, max_size=MAX_TEXT_FRAME, proxy=None,
        close_timeout=0.5, additional_headers={"Authorization": f"Bearer {token}"})
    try:
        peer = RawPeer(socket)
        if hello:
            peer.welcome = await peer.ask(Hello(protocol=PROTOCOL, client=client))  # type: ignore[attr-defined]
        yield peer
    finally:
        await shut(socket)


@contextlib.asynccontextmanager
async def running_client(folder: Path, url: str, token: str, *watched: str) -> AsyncIterator[Client]:
    """A client with a replica in `folder`, running."""
    replica = Replica(folder)
    client = Client(replica, url, token)
    for session in watched:
        client.watch(session)
    try:
        async with TaskScope("test") as scope:
            scope.spawn(client.run(), name="client")
            yield client
    finally:
        replica.close()


async def until(condition: Callable[[], bool], what: str = "", seconds: float = 60.0) -> None:
    """Wait for something that another task brings about; looks again at every turn of the loop."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.005)
