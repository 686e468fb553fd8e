"""Where an agent's requests come in: HTTP/1.1 on streams, one request at a time on each connection."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from core.aio import TaskScope
from core.domain.errors import InvalidInput, ReportableError
from core.gateway.http_head import Fields, Head, chunk, read_head, whole_body, write_head

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Handler = Callable[["Visit"], Awaitable[None]]
log = logging.getLogger("agent")

ACCEPTORS = 3
"""Connections that are waited for at once: where each is a process in a container, the next is there already."""
AGAIN_S = 0.5
MOST_CONNECTIONS = 256
MOST_HELD = 512 << 20
"""Bytes of all requests' bodies together that are in memory at once."""

REQUEST_S = 300.0
"""So long a request may take from its first byte to its last."""

STUCK_S = 600.0
"""So long an agent may take nothing of what is sent to it."""

_BUSY = b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 1\r\nConnection: close\r\n\r\n"


class AgentGone(Exception):
    """The agent hung up while its request was being answered."""


class _Busy(Exception):
    """The agent asks for more at once than is held for it."""


class Visit:
    """One request with the way back. `gone` ends when the agent hangs up; `take` is told of room that is needed beside
    the body, until the answer is whole."""

    def __init__(self, head: Head, body: bytes, writer: asyncio.StreamWriter, gone: asyncio.Future[bytes],
                 take: Callable[[int], None]) -> None:
        self.head, self.body, self.take = head, body, take
        self.gone = gone
        self.has_begun = False
        self._writer = writer
        self._chunked = False
        self.is_done = False
        self.is_cut = False

    def begin(self, status: int, reason: str, fields: Fields, length: int | None) -> None:
        """Send the head; `length` is that of the body, None for one in chunks. It goes out with the first piece."""
        self.has_begun = True
        has_body = self.head.method != "HEAD" and status not in (204, 304)
        self._chunked = length is None and has_body and not self.head.is_old
        framing = (("Transfer-Encoding", "chunked"),) if self._chunked else (
            () if length is None else (("Content-Length", str(length)),))
        self._writer.write(write_head(f"HTTP/1.1 {status} {reason}", (*fields, *framing)))

    async def write(self, piece: bytes) -> None:
        """Send a piece of the body. Raises AgentGone."""
        if piece:
            self._writer.write(chunk(piece) if self._chunked else piece)
        await self._drain()
        if self.gone.done() and not self.gone.result():
            raise AgentGone

    async def end(self) -> None:
        """The body is whole."""
        if self._chunked:
            self._writer.write(chunk(b""))
        self.is_done = True
        await self._drain()

    async def _drain(self) -> None:
        if not self._writer.transport.get_write_buffer_size() and not self._writer.is_closing():
            return  # the other end took it already
        try:
            async with asyncio.timeout(STUCK_S):
                await self._writer.drain()
        except OSError as error:  # or it takes nothing
            raise AgentGone from error

    def cut(self) -> None:
        """End the connection in the middle of the answer, so that the agent knows that it is not whole."""
        self.is_cut = True
        self._writer.close()

    async def reply(self, status: int, reason: str, body: bytes, *, kind: str = "application/json",
                    fields: Fields = ()) -> None:
        """A whole answer of our own."""
        self.begin(status, reason, (("Content-Type", kind), *fields), len(body))
        await self.write(b"" if self.head.method == "HEAD" else body)
        await self.end()


class Inlet:
    """Takes connections and gives each request to `handle`; one that fails by a defect of ours gets status 500."""

    def __init__(self, accept: Callable[[], Awaitable[Streams]], handle: Handler) -> None:
        """`accept` gives the next connection of the agent."""
        self._accept, self._handle = accept, handle
        self._scope = TaskScope("gateway")
        self._connections = self._held = 0

    async def run(self) -> None:
        """Serve until cancelled."""
        async with self._scope:
            acceptors = [self._scope.spawn(self._accept_all(), name="accept") for _ in range(ACCEPTORS)]
            await asyncio.gather(*acceptors)

    async def _accept_all(self) -> None:
        while True:
            try:
                streams = await self._accept()
            except ReportableError as error:
                log.info("the agent's port: %s", error.sentence)
                await asyncio.sleep(AGAIN_S)
                continue
            self._scope.spawn(self._serve(*streams), name="connection")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections += 1
        try:
            if self._connections > MOST_CONNECTIONS:
                raise _Busy(f"more than {MOST_CONNECTIONS} connections")
            await self._serve_all(reader, writer)
        except _Busy as error:
            log.warning("the agent asks for too much at once: %s", error)
            writer.write(_BUSY)
        except (InvalidInput, TimeoutError) as error:
            log.warning("the agent's request: %s", error if isinstance(error, InvalidInput) else "it never ended")
            writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        except OSError:
            pass  # it hung up
        finally:
            self._connections -= 1
            writer.close()

    async def _serve_all(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        coming = self._listen(reader)
        while first := await coming:
            with self._room() as take:
                async with asyncio.timeout(REQUEST_S):
                    head = await read_head(reader, first=first)
                    if head is None:
                        break
                    if head.field("expect").lower() == "100-continue" and not head.is_old:
                        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                    body = await whole_body(reader, head, take)
                coming = self._listen(reader)
                visit = await self._one(Visit(head, body, writer, coming, take), coming)
            if visit.is_cut or not visit.is_done or "close" in head.field("connection").lower() or head.is_old:
                coming.cancel()
                break

    def _listen(self, reader: asyncio.StreamReader) -> asyncio.Task[bytes]:
        """The first byte of the next request; none when the agent hung up, which may be while this one is answered."""
        return self._scope.spawn(_next_byte(reader), name="hang-up")

    @contextmanager
    def _room(self) -> Iterator[Callable[[int], None]]:
        """Room for the body of one request, which it takes as it comes; where there is none left, that raises _Busy."""
        taken = 0

        def take(size: int) -> None:
            nonlocal taken
            taken += size
            self._held += size
            if self._held > MOST_HELD:
                raise _Busy(f"requests of more than {MOST_HELD:,} bytes")

        try:
            yield take
        finally:
            self._held -= taken

    async def _one(self, visit: Visit, coming: asyncio.Task[bytes]) -> Visit:
        work = asyncio.current_task()
        assert work is not None

        def end(came: asyncio.Task[bytes]) -> None:
            if not visit.is_done and (came.cancelled() or not came.result()):  # it hung up: what is done for it ends
                visit.cut()
                work.cancel()

        coming.add_done_callback(end)
        try:
            await self._guarded(visit)
        except asyncio.CancelledError:
            if not visit.is_cut or work.uncancel():  # this was asked of the connection, not by the hang-up
                raise
        finally:
            coming.remove_done_callback(end)
        return visit

    async def _guarded(self, visit: Visit) -> None:
        try:
            await self._handle(visit)
        except AgentGone:
            visit.cut()
        except _Busy:
            raise
        except Exception as error:  # a defect of ours ends this request, and neither agent nor session
            log.exception("a request of the agent failed: %r", error)
            if visit.has_begun:
                visit.cut()
            else:
                await visit.reply(500, "Internal Server Error", b'{"error":{"message":"a defect of the gateway"}}')


async def _next_byte(reader: asyncio.StreamReader) -> bytes:
    """The next byte, of the next request; b"" when the other end hung up."""
    try:
        return await reader.read(1)
    except OSError:
        return b""
