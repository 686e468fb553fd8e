"""A port of the sandbox's own loopback whose connections are carried out over the daemon's socket.

Programs inside connect to it; each connection waits until a client of the daemon accepts it, and then that client's
own connection becomes its bytes. So a sandbox without a network reaches the one endpoint that its session serves,
and programs that connect while nobody serves wait instead of being refused.
"""

from __future__ import annotations

import asyncio

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
WAITING = 64
"""Connections that may wait to be accepted; further ones are closed."""


class PortRelay:
    """The port, once it is asked for."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Streams] = asyncio.Queue(WAITING)
        self._server: asyncio.AbstractServer | None = None
        self.port = 0

    async def listen(self, port: int) -> int:
        """Listen, or stay with the port that is listened at; gives it. 0 lets the system choose. Raises OSError."""
        if self._server is None:
            self._server = await asyncio.start_server(self._come, "127.0.0.1", port, backlog=WAITING)
            self.port = self._server.sockets[0].getsockname()[1]
        return self.port

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, ready: bytes) -> None:
        """Wait for the next connection, say `ready`, and carry bytes both ways until both ends have ended."""
        inside = await self._next(reader)
        if inside is None:
            return
        writer.write(ready)
        try:
            await asyncio.gather(_carry(reader, inside[1]), _carry(inside[0], writer))
        finally:
            inside[1].close()

    async def _next(self, reader: asyncio.StreamReader) -> Streams | None:
        """The connection to serve; None when whoever wanted it went away first."""
        loop = asyncio.get_running_loop()
        got, gone = loop.create_task(self._waiting.get()), loop.create_task(reader.read(1))
        try:
            await asyncio.wait({got, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not got.done():
                return None
            if gone.done():  # both at once: the connection stays for the next that asks
                self._waiting.put_nowait(got.result())
                return None
            return got.result()
        finally:
            for task in (got, gone):
                task.cancel()
            await asyncio.gather(got, gone, return_exceptions=True)

    async def _come(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self._waiting.put_nowait((reader, writer))
        except asyncio.QueueFull:
            writer.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        pass
    writer.close()
