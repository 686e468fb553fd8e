"""One reconnecting WebSocket with its greeting; desktop clients, runners and the command line all use it.

The link knows nothing of outboxes or journals: its owner (`Owner`) says who it is, and is told what arrives.
"""

import asyncio
import logging
import os
import re
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

from core.aio import TaskScope
from core.client.certificate import split_address
from core.client.dial import dial
from core.client.patience import Patience
from core.client.status import Status
from core.domain import errors
from core.protocol.codec import decode_from_server, encode
from core.protocol.frames import PACKED, is_packed, unpack
from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Close, Failed, Hello, Welcome, Wire

log = logging.getLogger("wire")

GREETING_S = 10.0

_FATAL_STATUS = {401: "token", 403: "forbidden"}
_FATAL_CLOSE = {Close.TOKEN: "token", Close.SCOPE: "scope", Close.VERSION: "version"}


class Owner(Protocol):
    """What a link works for. Every method is called on the event loop, in order, one at a time."""

    @property
    def client(self) -> str:
        """The durable identity that Hello names: the outbox's or the journal's."""

    async def on_welcome(self, welcome: Welcome) -> None:
        """The connection is greeted; what was subscribed or sent on the last one must be asked for again."""

    async def on_message(self, message: Wire) -> None:
        """A text frame came. Answer with `post`, never by awaiting `send` (both ends could wait)."""

    async def on_piece(self, frame: bytes) -> None:
        """A binary frame came (`core.protocol.frames`)."""

    def on_status_changed(self, status: Status) -> None:
        """The state of the link changed."""


async def shut(socket: ClientConnection, code: int = 1000, reason: str = "") -> None:
    """Close a connection, whatever state it is in."""
    try:
        await socket.close(code, reason)
    except AttributeError:  # CPython: a transport that was flushed while it closed cannot be aborted (its loop is None)
        log.debug("a connection was gone before it was closed")


class ReconnectingConnection:
    """Keeps one connection to `url` up until `run` is cancelled or the server hands the lease to another.

    The address may carry the fingerprint of the server's certificate (`core.client.certificate`). `find` gives the
    address of now, for whoever can know it from the server's own files: it is asked again after each attempt that came
    to nothing. A server that comes back may have another certificate, and another port where its own was taken.
    Raises InvalidInput (bad_fingerprint).
    """

    def __init__(self, url: str, token: str, owner: Owner, *, program: str = "",
                 find: Callable[[], str] | None = None) -> None:
        self.url, self._pin = split_address(url)
        self.status = Status(server=self.url)
        self._token, self._owner, self._program, self._find = token, owner, program, find
        self._socket: ClientConnection | None = None
        self._queue: deque[Wire | bytes] = deque()
        self._queued = asyncio.Event()
        self._hurry = asyncio.Event()
        self._failure: errors.ReportableError | None = None
        self._cause: errors.ReportableError | None = None
        self._greeted_at: float | None = None

    @property
    def is_online(self) -> bool:
        """Whether the server has greeted us on a connection that is still open."""
        return self.status.state == "online"

    async def run(self) -> None:
        """Connect, serve the owner, reconnect. Raises Conflict (code fenced) when a newer runner took over."""
        patience = Patience()
        while True:
            self._greeted_at = None
            await self._connect_once()
            at = self._greeted_at
            patience.ended(None if at is None else asyncio.get_running_loop().time() - at)
            await self._pause(patience.wait(denied=self.status.state == "denied"))

    def hurry(self) -> None:
        """Try again at once: the network came up, or a person asks."""
        self._hurry.set()

    def post(self, message: Wire | bytes) -> None:
        """Send soon, in order of the posts; dropped when the connection ends before."""
        if self.is_online:
            self._queue.append(message)
            self._queued.set()

    async def restart(self, code: int = Close.GAP, reason: str = "resume") -> None:
        """Close this connection; `run` makes the next one soon."""
        if self._socket is not None:
            await shut(self._socket, code, reason)

    def remark(self, code: str, sentence: str) -> None:
        """Say in the status what stands in the way on this connection, which goes on."""
        now = self.status
        self._tell(state=now.state, latency_ms=now.latency_ms, code=code, sentence=sentence, scopes=now.scopes,
                   capabilities=now.capabilities)

    def abort(self, cause: errors.ReportableError) -> None:
        """Cut this connection here and now; `run` makes the next one soon. The status tells the cause."""
        self._cause = cause
        if self._socket is not None:
            self._socket.transport.abort()

    async def _connect_once(self) -> None:
        self._failure = self._cause = None
        if self.status.state not in ("offline", "denied"):
            self._tell(state="connecting")
        if self.status.code and self._find is not None:
            self.url, self._pin = split_address(self._find())
        try:
            socket = await dial(self.url, self._pin, self._token, program=self._program)
            try:
                await self._greet(socket)
                await self._serve(socket)
            finally:
                await shut(socket)
        except errors.ReportableError as error:
            self._stand(error)
        except ConnectionClosed as error:
            self._stand(self._cause or _closed(error, self.url, self._failure))
        except (OSError, InvalidHandshake, InvalidURI, TimeoutError, EOFError) as error:
            self._stand(_refused(error, self.url))
        finally:
            self._socket = None
            self._queue.clear()

    async def _greet(self, socket: ClientConnection) -> None:
        began = asyncio.get_running_loop().time()
        hello = Hello(protocol=PROTOCOL, client=self._owner.client, program=self._program, capabilities=(PACKED,))
        await socket.send(encode(hello))
        async with asyncio.timeout(GREETING_S):
            message = decode_from_server(await socket.recv())
        if isinstance(message, Failed):
            raise errors.make_error(message.kind, message.code, message.sentence, message.params)
        if not isinstance(message, Welcome):
            raise errors.ProtocolMismatch("no_welcome", f"{self.url} does not answer as a Tiphys server.")
        self._socket = socket
        self._greeted_at = asyncio.get_running_loop().time()
        latency = (self._greeted_at - began) * 1000
        self._tell(state="online", latency_ms=latency, name=message.name, scopes=message.scopes,
                   capabilities=message.capabilities, program=message.program)
        await self._owner.on_welcome(message)

    async def _serve(self, socket: ClientConnection) -> None:
        async with TaskScope("link") as scope:
            scope.spawn(self._drain(socket), name="link-send")
            while True:
                await self._take(await socket.recv())

    async def _take(self, frame: str | bytes) -> None:
        self._failure = None  # only what was said last explains why the connection ended
        if isinstance(frame, bytes) and not is_packed(frame):
            await self._owner.on_piece(frame)
            return
        try:
            message = decode_from_server(unpack(frame) if isinstance(frame, bytes) else frame)
        except errors.InvalidInput as error:
            log.info("ignored a message of the server: %s", error)
            return
        if isinstance(message, Failed):
            self._failure = errors.make_error(message.kind, message.code, message.sentence, message.params)
        await self._owner.on_message(message)

    async def _drain(self, socket: ClientConnection) -> None:
        try:
            while True:
                await self._queued.wait()
                self._queued.clear()
                while self._queue:
                    message = self._queue.popleft()
                    await socket.send(message if isinstance(message, bytes) else encode(message))
        except ConnectionClosed:
            return

    def _stand(self, error: errors.ReportableError) -> None:
        if isinstance(error, errors.Conflict) and error.code == "fenced":
            self._tell(state="offline", code=error.code, sentence=error.sentence)
            raise error
        denied = isinstance(error, (errors.Denied, errors.ProtocolMismatch))
        log.info("%s", error.sentence)
        self._tell(state="denied" if denied else "offline", code=error.code, sentence=error.sentence)

    def _tell(self, *, state: str, latency_ms: float | None = None, code: str = "", sentence: str = "",
              name: str = "", scopes: tuple[str, ...] = (), capabilities: tuple[str, ...] = (),
              program: str = "") -> None:
        before = self.status
        since = before.since if before.state == state else datetime.now(UTC)
        self.status = msgspec.structs.replace(before, state=state, since=since, latency_ms=latency_ms, code=code,
                                              sentence=sentence, name=name or before.name, scopes=scopes,
                                              capabilities=capabilities, program=program or before.program)
        if self.status != before:
            self._owner.on_status_changed(self.status)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._hurry.wait()
        except TimeoutError:
            pass
        self._hurry.clear()


def _refused(error: Exception, url: str) -> errors.ReportableError:
    if isinstance(error, InvalidStatus) and error.response.status_code in _FATAL_STATUS:
        code = _FATAL_STATUS[error.response.status_code]
        answer = error.response.body.decode(errors="replace").strip() if error.response.body else ""
        return errors.Denied(code, answer or f"{url} refused the token.", server=url)
    if isinstance(error, InvalidStatus) and error.response.status_code == 400:
        return errors.ProtocolMismatch("subprotocol", f"{url} does not speak {SUBPROTOCOL}.", server=url)
    return _unavailable(url, words_of_failure(error))


def words_of_failure(error: BaseException) -> str:
    """Why a connection failed, without the numbers of the system and the names of classes."""
    found = re.search(r"\[Errno -?\d+\] ([^:(\[]+)", str(error))
    if isinstance(error, OSError) and error.errno is not None and error.errno > 0:
        return os.strerror(error.errno).lower()
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return found[1].strip().lower() if found else str(error) or type(error).__name__


def _closed(error: ConnectionClosed, url: str, failure: errors.ReportableError | None) -> errors.ReportableError:
    code, reason = (error.rcvd.code, error.rcvd.reason) if error.rcvd else (None, "")
    if code == Close.FENCED:
        return errors.Conflict("fenced", "A newer runner holds this session.")
    if code in _FATAL_CLOSE and not isinstance(failure, (errors.Denied, errors.ProtocolMismatch)):
        return errors.Denied(_FATAL_CLOSE[code], f"{url} closed the connection: {reason or code}.", server=url)
    if failure is not None and (code == 1011 or (code or 0) >= 4000):
        return failure
    return _unavailable(url, f"the connection ended ({code or 'cut'} {reason}".rstrip() + ")")


def _unavailable(url: str, why: str) -> errors.ReportableError:
    return errors.Unavailable("server_away", f"{url} cannot be reached: {why}.", server=url)
