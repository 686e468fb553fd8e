"""Whoever connects is a stranger until they introduced themselves: few at once, soon over, and cheap.

A connection that says nothing costs a socket and no more: neither TLS nor HTTP begin before its first byte. When there
are too many strangers, the oldest of the address that has most of them goes: a crowd keeps itself out, not others.
"""

import asyncio
import contextlib
import ctypes
import errno
import gc
import ipaddress
import logging
import socket
from collections import Counter, OrderedDict, deque
from collections.abc import Callable
from typing import Any

import msgspec

from core.logs import Thinned
from core.protocol.server_state import Bucket
from core.server.counts import Counts

SILENT_MOST, SILENT_OF_ADDRESS = 512, 256
"""Connections that said nothing yet: in all, and of one address."""

SHAKING_MOST, SHAKING_OF_ADDRESS = 128, 64
"""Connections that began to speak and were not greeted yet; with TLS each costs some 300 KB."""

SHAKES_PER_S = 100.0
"""How many connections may begin to speak, so many at once, too; when there are more, the newest is next: who is real
has just come."""

TENURE_S = 3.0
"""For so long whoever began to speak may go on, however many wait."""

INTRODUCTION_S = 15.0
"""From connecting to `hello`, whatever lies between."""

LITTER = 64
"""After so many handshakes that came to nothing their memory is given back."""

_TURN = 64
_PASSES_TO_A_PROTOCOL = 3
"""What asyncio accepted has a protocol after so many passes of its loop; a server that closes before would neither know
it nor close it (python/cpython#79033)."""

_FULL = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}


def neighbourhood(address: str) -> str:
    """Who counts as one: an IPv4 address, or a network of IPv6, as each host there has 2⁶⁴ addresses (RFC 4291)."""
    try:
        known = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(known, ipaddress.IPv4Address):
        return str(known)
    return str(known.ipv4_mapped or ipaddress.ip_network((known, 64), strict=False))


class Stranger(msgspec.Struct, frozen=True, eq=False):
    """A connection that was not greeted yet: in its crowd since `since`, at most `until`, on the loop's clock."""

    socket: socket.socket
    peer: Any
    address: str
    since: float
    until: float


class Crowd:
    """Strangers in the order of their coming, no more than `most`, and `of_address` of one address that is no proxy:
    behind a proxy are many."""

    def __init__(self, most: int, of_address: int, is_proxy: Callable[[str], bool] = lambda _: False) -> None:
        self._most, self._of_address, self._is_proxy = most, of_address, is_proxy
        self._strangers: OrderedDict[Any, Stranger] = OrderedDict()
        self._count: Counter[str] = Counter()

    def __len__(self) -> int:
        return len(self._strangers)

    def add(self, stranger: Stranger) -> Stranger | None:
        """Take one in; gives who has to go for that."""
        self._strangers[stranger.peer] = stranger
        self._count[stranger.address] += 1
        if self._count[stranger.address] > self._limit(stranger.address):
            return self._oldest(stranger.address)
        return self._oldest() if len(self) > self._most else None

    def has_room(self, address: str, before: float) -> bool:
        """Whether one more of an address can come, be it for one that has been here since `before`."""
        if self._count[address] >= self._limit(address):
            return self._oldest(address).since <= before
        return len(self) < self._most or self._oldest().since <= before

    def remove(self, peer: object) -> Stranger | None:
        """One is no stranger any more, or gone."""
        stranger = self._strangers.pop(peer, None)
        if stranger is not None:
            self._count[stranger.address] -= 1
            if not self._count[stranger.address]:
                del self._count[stranger.address]
        return stranger

    def late(self, now: float) -> list[Stranger]:
        """Whose time is over."""
        return [s for s in self._strangers.values() if s.until <= now]

    def closed(self) -> list[Stranger]:
        """Whose socket was closed by whoever it was handed to."""
        return [s for s in self._strangers.values() if s.socket.fileno() < 0]

    def all(self) -> list[Stranger]:
        """Everybody, the oldest first."""
        return list(self._strangers.values())

    def _limit(self, address: str) -> int:
        return self._most if self._is_proxy(address) else self._of_address

    def _oldest(self, address: str = "") -> Stranger:
        """The one that came first of an address, or of the one that has most."""
        address = address or self._count.most_common(1)[0][0]
        return next(s for s in self._strangers.values() if s.address == address)


class HandedSockets(socket.socket):
    """Looks to asyncio like a listening socket; what it accepts is what was handed to it."""

    def __init__(self) -> None:
        ours, self._bell = socket.socketpair()
        self._bell.setblocking(False)
        self._handed: deque[tuple[socket.socket, Any]] = deque()
        super().__init__(ours.family, ours.type, ours.proto, fileno=ours.detach())

    def hand(self, accepted: socket.socket, peer: Any) -> None:
        """Let asyncio accept this one next."""
        self._handed.append((accepted, peer))
        with contextlib.suppress(BlockingIOError):  # it rings already
            self._bell.send(b"\0")

    def accept(self) -> tuple[socket.socket, Any]:
        """The next; raises BlockingIOError where there is none."""
        if not self._handed:
            self.recv(4096)
            raise BlockingIOError
        return self._handed.popleft()

    def listen(self, backlog: int = 0, /) -> None:
        """It does so already."""

    def drop(self) -> None:
        """Close whatever nobody took."""
        for accepted, _ in self._handed:
            accepted.close()
        self._handed.clear()

    def close(self) -> None:
        """Close it with whatever nobody took."""
        super().close()
        self._bell.close()
        self.drop()


class Entrance:
    """Accepts the connections of `listener`; `door` is what the protocol listens on instead."""

    def __init__(self, listener: socket.socket, counts: Counts | None = None,
                 is_proxy: Callable[[str], bool] = lambda _: False) -> None:
        self._listener, self._counts = listener, counts or Counts()
        self._log = Thinned(logging.getLogger("wire"))
        self._loop = asyncio.get_running_loop()
        self.door = HandedSockets()
        self.silent = Crowd(SILENT_MOST, SILENT_OF_ADDRESS, is_proxy)
        self.shaking = Crowd(SHAKING_MOST, SHAKING_OF_ADDRESS, is_proxy)
        self._ready: OrderedDict[Any, Stranger] = OrderedDict()
        self._turns = Bucket(SHAKES_PER_S, SHAKES_PER_S)
        self._again: asyncio.TimerHandle | None = None
        self._litter = 0

    def open(self) -> None:
        """Begin to accept."""
        self._listener.setblocking(False)
        self._listener.listen(1024)
        self._loop.add_reader(self._listener, self._accept)

    async def close(self) -> None:
        """Accept no more; every stranger is gone, and the listening socket too."""
        self._loop.remove_reader(self._listener)
        self._listener.close()
        if self._again is not None:
            self._again.cancel()
        self.door.drop()
        for crowd in (self.silent, self.shaking):
            for stranger in crowd.all():
                self._let_go(crowd, stranger)
        for _ in range(_PASSES_TO_A_PROTOCOL):
            await asyncio.sleep(0)

    def greeted(self, peer: object) -> None:
        """A connection is a stranger's no more; asyncio's `peername` says which."""
        self.shaking.remove(peer)

    async def run(self) -> None:
        """End what takes too long, until cancelled."""
        while True:
            await asyncio.sleep(1.0)
            now = self._loop.time()
            self._forget_closed()
            self._tidy()
            for crowd in (self.silent, self.shaking):
                for stranger in crowd.late(now):
                    self._let_go(crowd, stranger, "took too long")

    def _accept(self) -> None:
        for _ in range(_TURN):
            try:
                accepted, peer = self._listener.accept()
            except OSError as error:
                if error.errno in _FULL:
                    self._make_room()
                return
            accepted.setblocking(False)
            now = self._loop.time()
            stranger = Stranger(accepted, peer, neighbourhood(str(peer[0])), now, now + INTRODUCTION_S)
            self._loop.add_reader(accepted, self._speaks, stranger)
            self._join(self.silent, stranger)

    def _make_room(self) -> None:
        """The process may have no more sockets: the oldest stranger goes, and who knocks waits a moment."""
        for crowd in (self.silent, self.shaking):
            if len(crowd):
                self._let_go(crowd, crowd.all()[0], "made room")
                break
        self._loop.remove_reader(self._listener)
        self._loop.call_later(0.05, self._accept_again)

    def _accept_again(self) -> None:
        if self._listener.fileno() >= 0:
            self._loop.add_reader(self._listener, self._accept)

    def _speaks(self, stranger: Stranger) -> None:
        self._loop.remove_reader(stranger.socket)
        self._ready[stranger.peer] = stranger
        self._hand_over()

    def _hand_over(self) -> None:
        """Those who speak come in, the newest first, as fast as may be and where there is room."""
        now, without_room = self._loop.time(), set[str]()
        self._forget_closed()
        for stranger in reversed(list(self._ready.values())):
            if stranger.address in without_room:
                continue
            if not self.shaking.has_room(stranger.address, now - TENURE_S):
                without_room.add(stranger.address)
            elif self._turns.take(now):
                self._admit(stranger, now)
            else:
                break
        if self._ready and self._again is None:
            self._again = self._loop.call_later(0.02, self._look_again)

    def _look_again(self) -> None:
        self._again = None
        self._hand_over()

    def _admit(self, stranger: Stranger, now: float) -> None:
        del self._ready[stranger.peer]
        self.silent.remove(stranger.peer)
        try:
            is_open = bool(stranger.socket.recv(1, socket.MSG_PEEK))
        except OSError:
            is_open = False
        if not is_open:
            stranger.socket.close()
            return
        self._join(self.shaking, msgspec.structs.replace(stranger, since=now))
        self.door.hand(stranger.socket, stranger.peer)

    def _forget_closed(self) -> None:
        for gone in self.shaking.closed():
            self.shaking.remove(gone.peer)
            self._litter += 1

    def _tidy(self) -> None:
        """asyncio's TLS leaves some 300 KB in circles, and the C library keeps what it got once."""
        if self._litter >= LITTER:
            self._litter = 0
            gc.collect()
            return_memory()

    def _join(self, crowd: Crowd, stranger: Stranger) -> None:
        one_too_many = crowd.add(stranger)
        if one_too_many is not None:
            self._let_go(crowd, one_too_many, "was one of too many")

    def _let_go(self, crowd: Crowd, stranger: Stranger, why: str = "") -> None:
        crowd.remove(stranger.peer)
        if crowd is self.silent:
            self._ready.pop(stranger.peer, None)
        self._litter += crowd is self.shaking
        if why:
            self._counts.refusals["stranger"] += 1
            self._log.say(logging.INFO, f"{why} {stranger.address}", "a connection from %s that did not introduce "
                          "itself was closed: it %s", stranger.address, why)
        if stranger.socket.fileno() < 0:
            return
        if crowd is self.silent:
            self._loop.remove_reader(stranger.socket)
            stranger.socket.close()
        else:  # asyncio's: it notices and closes
            with contextlib.suppress(OSError):
                stranger.socket.shutdown(socket.SHUT_RDWR)


def can_wait_outside(loop: asyncio.AbstractEventLoop) -> bool:
    """Whether the loop tells when a socket can be read; that of Windows does not."""
    return isinstance(loop, asyncio.SelectorEventLoop)


def return_memory() -> None:
    """Give what is free back to the system, where the C library is glibc."""
    with contextlib.suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
