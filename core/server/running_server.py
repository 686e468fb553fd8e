"""The log of record of a home whose server runs: spoken to as any client speaks to it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from core.aio import TaskScope
from core.client.commands import Commands
from core.client.connection import ReconnectingConnection
from core.client.status import Status
from core.domain.errors import Denied, ReportableError, Unavailable, make_error
from core.domain.ids import new_id
from core.protocol.append_state import Appender, SendBlobs, Stored
from core.protocol.frames import pieces
from core.protocol.messages import Failed, Welcome, Wire
from core.protocol.operations import AnyOp
from core.server.held_database import NewEntries, missing_payload
from core.server.ownership import PATIENCE_S
from core.store import blobs
from core.store.home import Home
from core.store.sqlite import Connection as Database
from core.store.sqlite import connect

T = TypeVar("T")


class RunningServer:
    """The way of `Authority` where a server holds the home."""

    def __init__(self, url: str, token: str, file: Path) -> None:
        """`file` is the log, which the server alone writes."""
        self._file, self._taking_in = file, asyncio.Lock()
        self.client = new_id()
        self._appender: Appender | None = None
        self._payloads: Mapping[str, bytes] = {}
        self._done: asyncio.Future[int] | None = None
        self._target = 0
        self._online = asyncio.Event()
        self._failure: ReportableError | None = None
        self._link = ReconnectingConnection(url, token, self, program="tiphys")
        self._commands = Commands(self._link)
        self._scope = TaskScope("authority", on_error=self._broke)

    @classmethod
    async def open(cls, home: Home, url: str) -> RunningServer:
        way = cls(url, home.admin_token.read_text().strip(), home.server_db)
        way._scope.spawn(way._link.run(), name="link")
        try:
            await asyncio.wait_for(way._online.wait(), PATIENCE_S)
        except TimeoutError:
            await way.close()
            raise Unavailable("server_away", way._link.status.sentence or "The server does not answer.") from None
        if way._failure is not None:
            await way.close()
            raise way._failure
        return way

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        try:
            return await self._commands.ask(session, op, PATIENCE_S * 4)
        except TimeoutError:
            sentence = "The server has not answered; look whether it did what was asked before you ask again."
            raise Unavailable("no_answer", sentence) from None

    async def append(self, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes]) -> int:
        def entries(first: int, limit: int, max_bytes: int) -> Sequence[bytes]:
            return _fitting(bodies[first - 1 : first - 1 + limit], max_bytes)

        if not bodies:
            return 0
        self._done = asyncio.get_running_loop().create_future()
        self._target, self._payloads = len(bodies), payloads
        self._appender = Appender(session, journal, entries)
        for message in self._appender.connect():
            self._link.post(message)
        try:
            return await self._patiently(self._done)
        finally:
            self._appender = self._done = None

    async def take_in(self, look: Callable[[Database], tuple[T, NewEntries | None]],
                      judged: dict[str, int] | None = None) -> T:
        """Many transactions, of which the last one shows the session, and which the server then judges."""
        async with self._taking_in:
            with closing(connect(self._file, readonly=True)) as conn:
                result, found = look(conn)
            if found is not None:
                await self.do(found.session, found.op)
                await self.append(found.session, found.journal, found.bodies, found.payloads)
            return result

    async def judge_ended(self, sessions: Iterable[str], judged: Mapping[str, int]) -> None:
        return

    async def _patiently(self, done: asyncio.Future[int]) -> int:
        while not done.done():
            await asyncio.wait([done], timeout=PATIENCE_S)
            if not done.done() and not self._link.is_online:
                raise Unavailable("server_away", self._link.status.sentence or "The server is away.")
        return done.result()

    async def close(self) -> None:
        await self._scope.close()

    # ---- what the link tells

    async def on_welcome(self, welcome: Welcome) -> None:
        self._commands.connect(welcome)
        if self._appender is not None:
            for message in self._appender.connect():
                self._link.post(message)
        self._online.set()

    async def on_message(self, message: Wire) -> None:
        if self._commands.take(message):
            return
        if isinstance(message, Failed) and message.code != "journal_gap":
            self._broke(make_error(message.kind, message.code, message.sentence, message.params))
        elif self._appender is not None:
            self._append_more(self._appender.take(message))

    async def on_piece(self, frame: bytes) -> None:
        return

    def on_status_changed(self, status: Status) -> None:
        if status.state != "online":
            self._commands.disconnect()
        if status.state == "denied":
            self._failure = Denied(status.code, status.sentence)
            self._online.set()

    def _append_more(self, wanted: Sequence[Wire | SendBlobs | Stored]) -> None:
        for one in wanted:
            match one:
                case Stored(upto):
                    if upto >= self._target and self._done is not None and not self._done.done():
                        self._done.set_result(upto)
                case SendBlobs(hashes):
                    self._send_payloads(hashes)
                case message:
                    self._link.post(message)

    def _send_payloads(self, hashes: tuple[str, ...]) -> None:
        for hash in hashes:
            if hash not in self._payloads:
                self._broke(missing_payload(hash))
                return
            for frame in pieces(hash, blobs.compress(self._payloads[hash])):
                self._link.post(frame)

    def _broke(self, error: BaseException) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)


def _fitting(bodies: Sequence[bytes], max_bytes: int) -> Sequence[bytes]:
    size = 0
    for count, body in enumerate(bodies):
        size += len(body)
        if count and size > max_bytes:
            return bodies[:count]
    return bodies
