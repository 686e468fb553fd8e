"""Connections to the real endpoint: reused while they live, one request at a time on each, nothing retried."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

from core.domain.errors import InvalidInput, Unavailable
from core.gateway.http_head import Fields, Head, body_pieces, read_head, write_head

CONNECT_S = 20.0
IDLE_S = 30.0
"""A connection that rested longer is not used again: the other end may have closed it."""
BUFFER = 1 << 20
_UNREACHABLE = "The endpoint cannot be reached: "
SILENCE_S = 3600.0
"""So long an endpoint may say nothing, before its answer (a model may think) and between two pieces of it."""

LONGEST_S = 6 * 3600.0
"""So long an answer may take in all, in seconds: of one that never ends a piece may come again and again."""

MOST_INTERIM = 20
"""Heads before that of the answer (100 Continue, 103 Early Hints)."""


class _Ended(Unavailable):
    """The endpoint ended the connection before it said anything."""


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.rested_at = 0.0


class UpstreamAnswer:
    """An answer whose body is still to come; `close` lets go of it, whole or not."""

    def __init__(self, head: Head, connection: _Connection, upstream: Upstream, *, is_head: bool) -> None:
        self.head = head
        self._connection, self._upstream, self._is_head = connection, upstream, is_head
        self._whole = False

    async def pieces(self) -> AsyncIterator[bytes]:
        """The body as it comes, exactly as it was sent but for its framing. Raises Unavailable where it breaks off."""
        coming = aiter(body_pieces(self._connection.reader, self.head, is_head=self._is_head))
        clock = asyncio.get_running_loop()
        end, left = clock.time() + LONGEST_S, self.head.length
        try:
            while (piece := await self._next(coming, end - clock.time(), left == 0)) is not None:
                left = left and left - len(piece)
                yield piece
        except (OSError, InvalidInput) as error:
            raise _away(f"its answer broke off: {error}") from error
        self._whole = True

    @staticmethod
    async def _next(coming: AsyncIterator[bytes], seconds: float, is_whole: bool) -> bytes | None:
        if is_whole:
            return await anext(coming, None)
        try:
            async with asyncio.timeout(min(SILENCE_S, seconds)):
                return await anext(coming, None)
        except TimeoutError as error:
            raise _away(f"its answer did not go on for {SILENCE_S:g} s, or took more than {LONGEST_S:g} s") from error

    def close(self) -> None:
        """The connection rests for the next request when the body was read to its end; else it is closed."""
        head = self.head
        ends = not self._whole or "close" in head.field("connection").lower() or head.is_old
        if not ends and (head.is_chunked or head.length is not None):
            self._upstream.rest(self._connection)
        else:
            self._connection.writer.close()


class UpstreamRequest:
    """A request and the wait for its answer; `close` where nobody waits any more."""

    def __init__(self, upstream: Upstream, method: str, head: bytes, body: bytes, resting: _Connection | None) -> None:
        self._upstream, self._method, self._head, self._body = upstream, method, head, body
        self._connection = resting
        if resting is not None:
            self._write(resting)

    def _write(self, connection: _Connection) -> None:
        long = len(self._body) >= 1 << 16  # too long to be copied for the sake of one call less
        for part in (self._head, self._body) if long else (self._head + self._body,):
            connection.writer.write(part)

    def close(self) -> None:
        """Let go of the connection, where it did not become an answer's."""
        if self._connection is not None:
            self._connection.writer.close()
            self._connection = None

    async def answer(self) -> UpstreamAnswer:
        """Wait for the head of the answer. Raises Unavailable where none comes."""
        if self._connection is not None:
            with contextlib.suppress(OSError, _Ended):  # it may have ended while it rested: nothing was answered
                return await self._in_time(self._connection)
        try:
            self._connection = await self._upstream.connect()
            self._write(self._connection)
            return await self._in_time(self._connection)
        except OSError as error:
            raise _away(str(error) or type(error).__name__) from error

    async def _in_time(self, connection: _Connection) -> UpstreamAnswer:
        patience = asyncio.timeout(SILENCE_S)
        try:
            async with patience:
                head = await self._first(connection)
            self._connection = None
        except TimeoutError as error:
            if not patience.expired():
                raise  # the connection's own
            raise _away(f"it did not answer within {SILENCE_S:g} s") from error
        finally:
            self.close()
        return UpstreamAnswer(head, connection, self._upstream, is_head=self._method == "HEAD")

    @staticmethod
    async def _first(connection: _Connection) -> Head:
        """The head of the answer."""
        await connection.writer.drain()
        try:
            for _ in range(MOST_INTERIM):
                head = await read_head(connection.reader)
                if head is None:
                    raise _Ended("endpoint_unreachable", _UNREACHABLE + "it ended the connection without an answer.")
                if head.status >= 200:
                    return head
                if head.status < 100:
                    break
        except InvalidInput as error:
            raise _away(error.sentence) from error
        raise _away("it sent no head of an answer")


class Upstream:
    """One endpoint, by its base address. `verify` is a file of certificates to trust besides the system's, or ""."""

    def __init__(self, base_url: str) -> None:
        parts = urlsplit(base_url)
        self._host, self._secure = parts.hostname or "", parts.scheme == "https"
        self._port = parts.port or (443 if self._secure else 80)
        self._authority = parts.netloc
        self.prefix = parts.path.rstrip("/")
        self._resting: list[_Connection] = []
        self._ssl: ssl.SSLContext | None = None

    def send(self, method: str, target: str, fields: Fields, body: bytes) -> UpstreamRequest:
        """A request: on its way already where a connection rests, else when its answer is awaited."""
        has_body = bool(body) or method in ("POST", "PUT", "PATCH")
        length = (("Content-Length", str(len(body))),) if has_body else ()
        head = write_head(f"{method} {target} HTTP/1.1", (("Host", self._authority), *fields, *length))
        return UpstreamRequest(self, method, head, body, self._rested())

    async def connect(self) -> _Connection:
        """A new connection. Raises Unavailable."""
        try:
            async with asyncio.timeout(CONNECT_S):
                if self._secure and self._ssl is None:
                    self._ssl = ssl.create_default_context()
                reader, writer = await asyncio.open_connection(self._host, self._port, ssl=self._ssl, limit=BUFFER)
        except TimeoutError as error:
            raise _away(f"no connection within {CONNECT_S:g} s") from error
        except OSError as error:
            raise _away(str(error)) from error
        return _Connection(reader, writer)

    def rest(self, connection: _Connection) -> None:
        """Keep a connection for the next request."""
        connection.rested_at = asyncio.get_running_loop().time()
        self._resting.append(connection)

    def _rested(self) -> _Connection | None:
        now = asyncio.get_running_loop().time()
        while self._resting:
            connection = self._resting.pop()
            if now - connection.rested_at < IDLE_S and not connection.reader.at_eof():
                return connection
            connection.writer.close()
        return None

    def close(self) -> None:
        """Close what rests."""
        for connection in self._resting:
            connection.writer.close()
        self._resting.clear()


def _away(why: str) -> Unavailable:
    return Unavailable("endpoint_unreachable", f"{_UNREACHABLE}{why[:300].rstrip('.')}.")
