"""The hub: the one writer, the one reader, and who must be told of what was committed."""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from core.domain.errors import Denied, LimitReached
from core.logs import Thinned
from core.protocol.messages import Close, Live
from core.protocol.server_state import Bucket
from core.server.counts import Counts
from core.server.event_frames import EventFrames
from core.server.lookups import Lookups
from core.server.queues import readers_of
from core.server.search import LogSearch
from core.store import accounts, tombstones
from core.store.accounts import Principal
from core.store.sqlite import Connection as Database
from core.store.sqlite import scalar
from core.store.writer import Writer

T = TypeVar("T")

AGAIN_PER_S, AGAIN_AT_ONCE = 1.0, 5_000.0
"""How often one account may send commands again without waiting: more than most people give in the seven days that
outboxes keep. Beyond it the limit of the connection holds."""

MOST_OF_ACCOUNT = 64
"""Connections that one account may have at once, unless whoever runs the server says otherwise: some windows and
commands on each of a person's computers."""


class Peer(Protocol):
    """A connection, as the hub knows it."""

    principal: Principal
    token: str
    leases: dict[str, int]
    reading: str

    @property
    def followed(self) -> Iterable[tuple[str, int]]:
        """The sessions that it follows, each with the last event that was sent."""

    def changed(self, session: str) -> None:
        """Something of a session was committed."""

    def deleted(self, session: str) -> None:
        """A session was deleted; what comes of one with its id is another's."""

    def show(self, live: Live) -> None:
        """Text that is being made came."""

    def readers_changed(self) -> None:
        """Another one reads, or reads something else."""

    def drop(self, code: int, reason: str) -> None:
        """Close the connection soon."""


class Hub:
    """Shared by all connections of a server. Made on the event loop that it tells its peers on."""

    def __init__(self, writer: Writer, reader: Database) -> None:
        self.writer, self.reader = writer, reader
        self.counts = Counts()
        self.frames = EventFrames(reader)
        self.lookups: Lookups
        self.search: LogSearch
        self.refusals = Thinned(logging.getLogger("wire"))
        """Where it is written down who asked for what their token is not worth."""
        self.on_changed: list[Callable[[str], None]] = []
        """Called with a session after each commit that touched it."""
        self.most_of_account = MOST_OF_ACCOUNT
        self._peers: dict[Peer, tuple[str, int]] = {}  # whose outbox or journal it is, and which of all it was
        self._greeted = 0
        self._again: dict[str, Bucket] = {}
        self._touched: list[str] = []  # of the transaction that is open; the writer's thread alone has it
        self._doomed: set[str] = set()  # of which the same transaction may delete what there is
        self.on_deleted: list[Callable[[str], None]] = []
        """Called with a session after the commit that deleted it."""
        self._loop = asyncio.get_running_loop()
        self._data_version = -1
        self._next_expiry: datetime | None = None
        writer.on_commit.append(self._committed)

    def close(self) -> None:
        """Tell nobody any more."""
        self.writer.on_commit.remove(self._committed)

    async def do(self, session: str, work: Callable[[Database], T]) -> T:
        """The result of work on a session once it is committed; whoever follows the session is then told."""
        began = self._loop.time()
        result = await self.writer.do(lambda conn: self._touch(session, work(conn)))
        self.counts.commit.note(self._loop.time() - began)
        return result

    async def delete(self, session: str, work: Callable[[Database], T]) -> T:
        """The same for work that may delete the session; then nobody is sent anything more of it."""
        def doom(conn: Database) -> T:
            self._doomed.add(session)
            return work(conn)

        return await self.do(session, doom)

    async def store(self, work: Callable[[Database], T]) -> T:
        """The result of work that changes no session's log."""
        return await self.writer.do(work)

    def may_tell_again(self, principal: Principal) -> bool:
        """Whether an account may send one more command again now; takes that turn."""
        bucket = self._again.setdefault(principal.name, Bucket(AGAIN_PER_S, AGAIN_AT_ONCE))
        return bucket.take(self._loop.time())

    def join(self, peer: Peer, client: str = "") -> None:
        """A connection of an outbox or journal was greeted. Raises LimitReached (too_many_connections)."""
        name = peer.principal.name
        if sum(p.principal.name == name for p in self._peers) >= self.most_of_account:
            raise LimitReached("too_many_connections", f"The account {name} has {self.most_of_account} connections "
                               "already, which is as many as one may have.", most=self.most_of_account)
        self._greeted += 1
        self._peers[peer] = client, self._greeted

    def leave(self, peer: Peer) -> None:
        """A connection is gone."""
        self._peers.pop(peer, None)
        if peer.reading:
            self._tell_readers()

    @property
    def peers(self) -> tuple[Peer, ...]:
        """Whoever is connected and greeted."""
        return tuple(self._peers)

    def is_connected(self, session: str) -> bool:
        """Whether a runner of the session is connected."""
        return any(session in peer.leases for peer in list(self._peers))

    def is_former(self, session: str, peer: Peer) -> bool:
        """Whether the very journal that holds a session does so on a connection that was greeted later than this one.

        Then this one was given up, and only its last bytes come late: the runner must not be fenced for them.
        """
        client, place = self._peers.get(peer, ("", 0))
        return any(session in p.leases and c == client and n > place for p, (c, n) in self._peers.items())

    def fence(self, session: str, holder: Peer) -> None:
        """A newer runner holds a session: the older ones go."""
        for peer in [p for p in self._peers if p is not holder and session in p.leases]:
            del peer.leases[session]
            peer.drop(Close.FENCED, "a newer runner holds the session")

    def readers(self) -> dict[str, list[str]]:
        """Who has which session open now."""
        return readers_of((peer.reading, peer.principal.name) for peer in list(self._peers))

    def note_reading(self, peer: Peer, session: str) -> None:
        """A person has a session open, or ("") none."""
        if peer.reading != session:
            peer.reading = session
            self._tell_readers()

    def _tell_readers(self) -> None:
        for peer in list(self._peers):
            peer.readers_changed()

    def relay(self, live: Live) -> None:
        """Pass live text on; it is never stored."""
        for peer in self._peers:
            peer.show(live)

    def check_tokens(self) -> None:
        """Close the connections whose token was revoked, has expired or whose scopes changed."""
        version, now = scalar(self.reader, "PRAGMA data_version"), datetime.now(UTC)
        if version == self._data_version and (self._next_expiry is None or now < self._next_expiry):
            return
        self._data_version, self._next_expiry = version, accounts.next_expiry(self.reader, now)
        for peer in list(self._peers):
            try:
                if accounts.principal(self.reader, peer.token) != peer.principal:
                    peer.drop(Close.TOKEN, "the scopes of the token changed")
            except Denied as error:
                peer.drop(Close.TOKEN, error.code)

    def _touch(self, session: str, result: T) -> T:
        self._touched.append(session)
        return result

    def _committed(self) -> None:
        touched, self._touched = self._touched, []
        doomed, self._doomed = self._doomed, set()
        self._loop.call_soon_threadsafe(self._publish, touched, doomed)

    def _publish(self, touched: list[str], doomed: set[str]) -> None:
        for session in doomed:
            if tombstones.is_deleted(self.reader, session):
                self._publish_deletion(session)
        for session in dict.fromkeys(touched):
            self.frames.changed(session)
            for peer in self._peers:
                peer.changed(session)
            for call in self.on_changed:
                call(session)

    def _publish_deletion(self, session: str) -> None:
        self.frames.forget(session)
        for peer in list(self._peers):
            peer.deleted(session)
        for call in self.on_deleted:
            call(session)
