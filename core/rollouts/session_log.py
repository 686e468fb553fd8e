"""Where the sessions of a roll-out are logged: the journal of each is in memory, and what it tells goes to the log.

A roll-out that dies leaves what was sent so far; it is not gone on with but rolled out anew, so nothing needs the disk
before the log has it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Protocol

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.signals import Signals
from core.aio import TaskScope
from core.domain.errors import Conflict
from core.domain.events import SessionCreated, blobs_of, decode_event, encode_event, make_event
from core.domain.verdict import Author
from core.store import blobs, log
from core.store.home import Home
from core.store.lock import FileLock
from core.store.sqlite import Connection
from core.store.writer import Writer

WRITE_EVERY_S = 0.2
"""How long entries wait for those of other sessions, so that one commit takes them all."""

PERSON = Author(kind="person", name="roll-out")


class JournaledSession:
    """One session's place: its journal, and what its people say."""

    def __init__(self, session: str) -> None:
        self.journal = Journal(None, session)
        self.inbox = Inbox(self.journal)
        self.signals = Signals(self.inbox)


class SessionLog(Protocol):
    """Where roll-outs are logged. Enter it before the first session, leave it after the last."""

    async def __aenter__(self) -> SessionLog:
        """Find the log. Raises Conflict, Unavailable."""

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None,
                        trace: TracebackType | None) -> None:
        """Let go of it."""

    def session(self, name: str, created: SessionCreated) -> AbstractAsyncContextManager[JournaledSession]:
        """Make a session; at the end of the block the log holds all that its journal tells. Raises ReportableError."""


class _Written:
    """How far one session's journal is in the log."""

    def __init__(self, session: JournaledSession) -> None:
        self.journal = session.journal
        self.fence, self.upto = 0, 0


class StoreLog:
    """The log of a home folder, written by this process alone: no server may run meanwhile. `lock` is its lock, where
    that is held already."""

    def __init__(self, home: Home, lock: FileLock | None = None) -> None:
        self._home = home
        self._lock = lock or FileLock(home.server_lock)
        self._open: dict[str, _Written] = {}
        self._scope = TaskScope("store log")
        self._grew = asyncio.Event()
        self._stored = asyncio.Condition()
        self._failure: BaseException | None = None

    async def __aenter__(self) -> StoreLog:
        """Hold the home. Raises Conflict (server_running) where somebody else does."""
        if not self._lock.take():
            raise Conflict("server_running", f"A server runs in {self._home.path}: roll out through it.")
        self._writer = Writer(self._home.server_db)
        self._scope.spawn(self._write(), name="write", on_error=self._failed)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._scope.close()
        self._writer.close()
        self._lock.release()

    @asynccontextmanager
    async def session(self, name: str, created: SessionCreated) -> AsyncIterator[JournaledSession]:
        """Make a session. Raises Conflict, Unavailable."""
        place = JournaledSession(name)
        written = _Written(place)
        body = encode_event(make_event(created, PERSON))

        def create(conn: Connection) -> int:
            log.create(conn, name)
            log.append(conn, name, [body])
            return log.lease(conn, name, place.journal.id)[0]

        written.fence = await self._writer.do(create)
        place.inbox.take(1, [body])
        self._open[name] = written
        place.journal.on_entries.append(self._grew.set)
        try:
            yield place
        finally:
            self._grew.set()
            await self._flushed(written)
            del self._open[name]
            place.journal.close()

    async def _flushed(self, written: _Written) -> None:
        async with self._stored:
            await self._stored.wait_for(lambda: self._failure is not None or written.upto >= written.journal.head)
        if self._failure is not None:
            raise self._failure

    async def _write(self) -> None:
        while True:
            await self._grew.wait()
            self._grew.clear()
            pieces = [(name, one, *_new(one)) for name, one in self._open.items() if one.journal.head > one.upto]

            def store(conn: Connection, pieces: list[tuple[str, _Written, list[bytes], dict[str, bytes]]] = pieces
                      ) -> None:
                for name, one, bodies, payloads in pieces:
                    for hash, data in payloads.items():
                        blobs.put_compressed(conn, hash, data)
                    log.append_journal(conn, name, one.fence, one.upto + 1, bodies)

            await self._writer.do(store)
            async with self._stored:
                for _, one, bodies, _payloads in pieces:
                    one.upto += len(bodies)
                self._stored.notify_all()
            await asyncio.sleep(WRITE_EVERY_S if len(self._open) > 1 else 0)

    def _failed(self, error: BaseException) -> None:
        self._failure = error
        self._scope.spawn(self._tell(), name="tell")

    async def _tell(self) -> None:
        async with self._stored:
            self._stored.notify_all()


def _new(one: _Written) -> tuple[list[bytes], dict[str, bytes]]:
    """Entries that the log lacks, and the payloads that they name."""
    bodies = one.journal.entries(one.upto + 1, 1 << 20, 1 << 40)
    names = one.journal.unsent([name for body in bodies for name in blobs_of(decode_event(body).fact)])
    one.journal.mark_sent(names)
    return bodies, {name: one.journal.compressed(name) or b"" for name in names}


