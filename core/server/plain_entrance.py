"""Strangers where a loop cannot tell when a socket can be read (Windows): so many at most, in all and of one address.

There `core.server.entrance` cannot hold them outside; whoever is here has a protocol, and with TLS has shaken hands.
The protocol's own time limits end who says nothing.
"""

import asyncio
import logging
from typing import Any

from websockets.asyncio.server import ServerConnection

from core.logs import Thinned
from core.server.entrance import INTRODUCTION_S, SHAKING_MOST, SHAKING_OF_ADDRESS, Crowd, Stranger, neighbourhood


class PlainEntrance:
    """Counts connections until they are greeted; the oldest of the address that has most goes for one too many."""

    def __init__(self) -> None:
        self._crowd = Crowd(SHAKING_MOST, SHAKING_OF_ADDRESS)
        self._transports: dict[Any, asyncio.Transport] = {}
        self._log = Thinned(logging.getLogger("wire"))

    def came(self, transport: asyncio.Transport) -> None:
        """A stranger connected."""
        peer, now = transport.get_extra_info("peername"), asyncio.get_running_loop().time()
        address = neighbourhood(str(peer[0]))
        self._transports[peer] = transport
        stranger = Stranger(transport.get_extra_info("socket"), peer, address, now, now + INTRODUCTION_S)
        if (gone := self._crowd.add(stranger)) is not None:
            self._log.say(logging.INFO, f"too many {gone.address}", "a connection from %s that did not introduce "
                          "itself was closed: it was one of too many", gone.address)
            self._crowd.remove(gone.peer)
            self._transports.pop(gone.peer).abort()

    def greeted(self, peer: object) -> None:
        """A connection is a stranger's no more, or gone."""
        self._crowd.remove(peer)
        self._transports.pop(peer, None)

    def connections(self) -> type[ServerConnection]:
        """What the protocol makes of each connection, so that it is counted."""
        entrance = self

        class CountedConnection(ServerConnection):
            """A connection that the entrance counts."""

            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                """Count it."""
                super().connection_made(transport)
                assert isinstance(transport, asyncio.Transport)
                self._peer = transport.get_extra_info("peername")
                entrance.came(transport)

            def connection_lost(self, exc: Exception | None) -> None:
                """Count it no more."""
                entrance.greeted(self._peer)
                super().connection_lost(exc)

        return CountedConnection
