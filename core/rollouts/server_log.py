"""The log of a running server, over one connection that all sessions of a roll-out share: people see them as they are
played, and what people say reaches them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial

from core.agents.delivery import News
from core.agents.spool import Spool
from core.aio import TaskScope
from core.client.commands import Commands
from core.client.connection import ReconnectingConnection
from core.client.status import Status
from core.domain.errors import Conflict, Denied, ReportableError, Unavailable
from core.domain.events import SessionCreated
from core.domain.ids import new_id
from core.protocol.messages import Failed, Unsubscribe, Welcome, Wire
from core.protocol.operations import CreateSession
from core.rollouts.session_log import JournaledSession

_log = logging.getLogger("wire")

PATIENCE_S = 60.0
"""How long the server may say nothing: one that is busy with many sessions takes its time, and is waited for."""

MOST_SESSIONS = 250
"""Sessions that one connection may follow."""


class ServerLog:
    """Owns the connection (`core.client.connection.Owner`). The token must be an administrator's. `find` gives the
    server's address of now, where that can be known."""

    def __init__(self, url: str, token: str, find: Callable[[], str] | None = None) -> None:
        self.client = new_id()
        self._link = ReconnectingConnection(url, token, self, program="tiphys rollout", find=find)
        self._commands = Commands(self._link)
        self._spools: dict[str, Spool] = {}
        self._welcome: Welcome | None = None
        self._online = asyncio.Event()
        self._refusal: ReportableError | None = None
        self._room = asyncio.Semaphore(MOST_SESSIONS)
        self._heard_at = time.monotonic()
        self._scope = TaskScope("server log")

    async def __aenter__(self) -> ServerLog:
        """Connect. Raises Unavailable, Denied."""
        self._scope.spawn(self._linked(), name="link")
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._online.wait()
        except TimeoutError:
            await self._scope.close()
            raise Unavailable("server_away", self._link.status.sentence or "The server does not answer.") from None
        if self._refusal is not None:
            await self._scope.close()
            raise self._refusal
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._scope.close()

    @asynccontextmanager
    async def session(self, name: str, created: SessionCreated) -> AsyncIterator[JournaledSession]:
        """Make a session. Raises ReportableError as the server does, Unavailable."""
        async with self._room:
            await self._do(name, CreateSession(task=created.task, agent=created.agent, group=created.group))
            place = JournaledSession(name)
            spool = Spool(place.journal, place.inbox, "", "", partial(_heard, place), link=self._link)
            self._spools[name] = spool
            try:
                if self._welcome is not None:
                    await spool.on_welcome(self._welcome)
                _require(await self._patiently(spool, spool.caught_up), spool)
                yield place
            finally:
                whole = await self._patiently(spool, spool.flushed)
                del self._spools[name]
                self._link.post(Unsubscribe(session=name))
                place.journal.close()
            _require(whole, spool)

    async def _patiently(self, spool: Spool, done: Callable[[float], Awaitable[bool]]) -> bool:
        """Wait for what a session waits for, as long as the server takes or tells anything of any session."""
        while not await done(PATIENCE_S):
            if spool.lost is not None or time.monotonic() - self._heard_at >= PATIENCE_S:
                return False
        return True

    async def _linked(self) -> None:
        """The link, again after a session was taken from it (somebody deleted one)."""
        while True:
            try:
                await self._link.run()
            except Conflict as error:
                _log.warning("%s", error.sentence)
            await asyncio.sleep(0.2)

    async def _do(self, session: str, op: CreateSession) -> None:
        try:
            await self._commands.ask(session, op, PATIENCE_S)
        except TimeoutError:
            raise Unavailable("server_away", self._link.status.sentence or "The server does not answer.") from None

    # ---- what the link tells

    async def on_welcome(self, welcome: Welcome) -> None:
        """The connection is greeted: each session goes on where it stood."""
        self._welcome = welcome
        self._commands.connect(welcome)
        for spool in list(self._spools.values()):
            await spool.on_welcome(welcome)
        self._online.set()

    async def on_message(self, message: Wire) -> None:
        """A message came: an answer to a command, or what is about one session."""
        self._heard_at = time.monotonic()
        if self._commands.take(message):
            return
        about = message.about if isinstance(message, Failed) else getattr(message, "session", "")
        if spool := self._spools.get(about):
            await spool.on_message(message)
        elif isinstance(message, Failed):
            _log.warning("%s", message.sentence)

    async def on_piece(self, frame: bytes) -> None:
        """No payloads are asked for."""

    def on_status_changed(self, status: Status) -> None:
        """The link went up or down; sessions go on meanwhile."""
        if status.state == "online":
            return
        self._commands.disconnect()
        self._welcome = None
        if status.state == "denied":
            self._refusal = Denied(status.code, status.sentence)
            self._online.set()


def _heard(place: JournaledSession, news: News) -> None:
    place.signals.ring()


def _require(done: bool, spool: Spool) -> None:
    if spool.lost is not None:
        raise spool.lost
    if not done:
        raise Unavailable("server_away", "The server does not take what a roll-out tells.")
