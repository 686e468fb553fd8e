"""The one way in which a command of this computer writes the log of record: through the server when one runs,
else by holding the database itself. Either way the same handlers decide."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Any, Protocol, TypeVar

import msgspec

from core.aio import TaskScope
from core.client.connection import ReconnectingConnection
from core.client.status import Status
from core.domain.errors import Conflict, Denied, ReportableError, Unavailable, make_error
from core.domain.ids import new_id
from core.protocol.append_state import Appender, SendBlobs, Stored
from core.protocol.client_effects import Send, Show
from core.protocol.client_state import OutboxSender
from core.protocol.frames import pieces
from core.protocol.messages import Ack, Append, Command, Failed, Nak, Welcome, Wire
from core.protocol.operations import AnyOp, DeleteSession, ImportSession
from core.server.append import MissingPayloads, append_entries
from core.server.deletion import finish
from core.server.end_rules import EndRules
from core.server.handlers import apply_command
from core.server.lookups import lookups_of
from core.server.serve import ensure_admin, hold
from core.store import accounts, blobs, log
from core.store.endpoint import read_endpoint
from core.store.home import Home
from core.store.lock import FileLock
from core.store.sqlite import Connection as Database
from core.store.sqlite import connect, transaction
from core.store.writer import Writer

_log = logging.getLogger("session")

PATIENCE_S = 15.0
"""How long a server that should be running may be out of reach."""

T = TypeVar("T")


class Way(Protocol):
    """One of the two ways."""

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        """Carry an operation out."""

    async def append(self, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes]) -> int:
        """Append a journal's entries from the first; returns the last that is held."""

    async def take_in(self, session: str, op: ImportSession, journal: str, bodies: Sequence[bytes],
                      payloads: Mapping[str, bytes]) -> None:
        """Make room for an import and append it."""

    async def judge_ended(self, sessions: Iterable[str]) -> None:
        """Let the rules judge those of some sessions that are over."""

    async def close(self) -> None:
        """Let go."""


class Authority:
    """Writes to the log of one home folder, as this computer's administrator."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self._way: Way

    async def __aenter__(self) -> Authority:
        """Find the way. Raises Unavailable when a server holds the home but does not answer."""
        try:
            lock = hold(self.home)
        except Conflict:
            self._way = await _Remote.open(self.home)
            return self
        try:
            self._way = await _Local.open(self.home, lock)
        except BaseException:
            lock.release()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._way.close()

    @property
    def is_remote(self) -> bool:
        """Whether a server is spoken to: then one append at a time."""
        return isinstance(self._way, _Remote)

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        """Carry an operation out; returns its result. Raises ReportableError as the handlers do."""
        return await self._way.do(session, op)

    async def append(self, session: str, journal: str, bodies: Sequence[bytes],
                     payloads: Mapping[str, bytes] | None = None) -> int:
        """Append encoded events as the entries 1, 2, … of a journal, with the payloads they name (hash → bytes).

        Entries that are held from an earlier time are skipped, so that an import may be repeated. Returns the
        last entry that is held. Raises ReportableError; missing_payload where one is neither given nor held.
        """
        return await self._way.append(session, journal, bodies, payloads or {})

    async def take_in(self, session: str, op: ImportSession, journal: str, bodies: Sequence[bytes],
                      payloads: Mapping[str, bytes]) -> None:
        """Store an imported session whole or not at all: until `op.events` events are here, no list shows it.

        Raises ReportableError as `do` and `append` do.
        """
        await self._way.take_in(session, op, journal, bodies, payloads)

    async def judge_ended(self, sessions: Iterable[str]) -> None:
        """Let the rules judge those of some sessions that are over; a server that runs does so by itself."""
        await self._way.judge_ended(sessions)

    # ---- accounts: rows that no log tells of, so they are written beside a running server, which notices

    async def accounts(self, work: Callable[[Database], T]) -> T:
        """The result of work on accounts and invitations; a running server closes within a second the connections of
        those that may not be there any more. Raises what `work` raises."""
        return await asyncio.to_thread(_beside, self.home, work)


def _beside(home: Home, work: Callable[[Database], T]) -> T:
    conn = connect(home.server_db)
    try:
        with transaction(conn):
            return work(conn)
    finally:
        conn.close()


class _Local:
    """The database is ours as long as we hold the lock."""

    def __init__(self, home: Home, lock: FileLock, writer: Writer, principal: accounts.Principal) -> None:
        self._home = home
        self._lookups, self._lock, self._writer, self._principal = lookups_of(home), lock, writer, principal

    @classmethod
    async def open(cls, home: Home, lock: FileLock) -> _Local:
        writer = Writer(home.server_db)
        try:
            await writer.do(lambda conn: ensure_admin(conn, home))
            token = home.admin_token.read_text().strip()
            return cls(home, lock, writer, await writer.do(lambda conn: accounts.principal(conn, token)))
        except BaseException:
            writer.close()
            raise

    async def do(self, session: str, op: AnyOp) -> dict[str, Any]:
        result = await self._writer.do(lambda conn: self._apply(conn, session, op))
        if isinstance(op, DeleteSession) and result["is_deleted"]:
            await self._finish_deletion(session)
        return result

    async def _finish_deletion(self, session: str) -> None:
        """What cannot be removed now is removed by the next server that starts."""
        try:
            await finish(self._home, self._writer)
        except Unavailable as error:
            _log.warning("what session %s left beside the log stays until a server runs: %s", session, error.sentence)

    async def append(self, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes]) -> int:
        account = self._principal.name
        return await self._writer.do(lambda conn: _append(conn, session, journal, bodies, payloads, account))

    async def take_in(self, session: str, op: ImportSession, journal: str, bodies: Sequence[bytes],
                      payloads: Mapping[str, bytes]) -> None:
        """All in one transaction."""
        def work(conn: Database) -> None:
            self._apply(conn, session, op)
            _append(conn, session, journal, bodies, payloads, self._principal.name)

        await self._writer.do(work)

    async def judge_ended(self, sessions: Iterable[str]) -> None:
        with closing(connect(self._home.server_db, readonly=True)) as reader:
            rules = EndRules(_HeldLog(reader, self._writer), self._home)
            try:
                await rules.judge(sessions)
            finally:
                await rules.close()

    def _apply(self, conn: Database, session: str, op: AnyOp) -> dict[str, Any]:
        command = Command(id=new_id(), cseq=1, session=session, op=op)
        return apply_command(conn, self._principal, command, self._lookups)

    async def close(self) -> None:
        self._writer.close()
        self._lock.release()


class _HeldLog:
    """The log as the rules use it, while no server runs."""

    def __init__(self, reader: Database, writer: Writer) -> None:
        self.reader, self._writer = reader, writer

    async def do(self, session: str, work: Callable[[Database], T]) -> T:
        return await self._writer.do(work)


class _Remote:
    """A server runs: speak to it as any client does."""

    def __init__(self, url: str, token: str) -> None:
        self.client = new_id()
        self._sender = OutboxSender()
        self._cseq = 0
        self._answers: dict[str, asyncio.Future[Ack | Nak]] = {}
        self._appender: Appender | None = None
        self._payloads: Mapping[str, bytes] = {}
        self._done: asyncio.Future[int] | None = None
        self._target = 0
        self._online = asyncio.Event()
        self._failure: ReportableError | None = None
        self._link = ReconnectingConnection(url, token, self, program="tiphys")
        self._scope = TaskScope("authority", on_error=self._broke)

    @classmethod
    async def open(cls, home: Home) -> _Remote:
        endpoint = read_endpoint(home)
        if endpoint is None or not home.admin_token.is_file():
            raise Unavailable("no_endpoint", f"A server holds {home.path}, but does not say where it listens.")
        way = cls(endpoint.url, home.admin_token.read_text().strip())
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
        self._cseq += 1
        command = Command(id=new_id(), cseq=self._cseq, session=session, op=op)
        future = self._answers[command.id] = asyncio.get_running_loop().create_future()
        self._post(self._sender.add(command))
        try:
            reply: Ack | Nak = await asyncio.wait_for(future, PATIENCE_S * 4)
        except TimeoutError:
            sentence = "The server has not answered; look whether it did what was asked before you ask again."
            raise Unavailable("no_answer", sentence) from None
        if isinstance(reply, Nak):
            raise make_error(reply.kind, reply.code, reply.sentence, reply.params)
        return reply.result

    async def append(self, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes]) -> int:
        def entries(first: int, limit: int, max_bytes: int) -> Sequence[bytes]:
            return _fitting(bodies[first - 1 :][:limit], max_bytes)

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

    async def take_in(self, session: str, op: ImportSession, journal: str, bodies: Sequence[bytes],
                      payloads: Mapping[str, bytes]) -> None:
        """Many transactions, of which the last one shows the session."""
        await self.do(session, op)
        await self.append(session, journal, bodies, payloads)

    async def judge_ended(self, sessions: Iterable[str]) -> None:
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
        self._post(self._sender.connect(welcome.cseq, welcome.capabilities))
        if self._appender is not None:
            for message in self._appender.connect():
                self._link.post(message)
        self._online.set()

    async def on_message(self, message: Wire) -> None:
        if isinstance(message, (Ack, Nak)):
            self._post(self._sender.answered(message))
            future = self._answers.pop(message.id, None)
            if future is not None and not future.done():
                future.set_result(message)
        elif isinstance(message, Failed) and message.code != "journal_gap":
            self._broke(make_error(message.kind, message.code, message.sentence, message.params))
        elif self._appender is not None:
            self._append_more(self._appender.take(message))

    async def on_piece(self, frame: bytes) -> None:
        return

    def on_status_changed(self, status: Status) -> None:
        if status.state != "online":
            self._sender.disconnect()
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
                self._broke(_missing(hash))
                return
            for frame in pieces(hash, blobs.compress(self._payloads[hash])):
                self._link.post(frame)

    def _broke(self, error: BaseException) -> None:
        if self._done is not None and not self._done.done():
            self._done.set_exception(error)

    def _post(self, effects: Sequence[object]) -> None:
        for effect in effects:
            if isinstance(effect, Send):
                self._link.post(effect.message)
            elif isinstance(effect, Show) and isinstance(effect.message, Failed):
                self._held(effect.message)

    def _held(self, why: Failed) -> None:
        """Nothing that waits will be answered: nobody updates the server while a command of the command line runs."""
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(make_error(why.kind, why.code, why.sentence, why.params))


def _missing(hash: str) -> Unavailable:
    return Unavailable("missing_payload", f"The payload {hash[:12]}… is neither given nor held.", hash=hash)


def _append(conn: Database, session: str, journal: str, bodies: Sequence[bytes], payloads: Mapping[str, bytes],
            account: str) -> int:
    for data in payloads.values():
        blobs.put(conn, data)
    fence, _ = log.lease(conn, session, journal)
    try:
        return append_entries(conn, _as_append(session, fence, bodies), by_agent=False, account=account)
    except MissingPayloads as missing:
        raise _missing(missing.hashes[0]) from None


def _as_append(session: str, fence: int, bodies: Sequence[bytes]) -> Append:
    return Append(session=session, fence=fence, first=1, bodies=tuple(msgspec.Raw(b) for b in bodies))


def _fitting(bodies: Sequence[bytes], max_bytes: int) -> Sequence[bytes]:
    size = 0
    for count, body in enumerate(bodies):
        size += len(body)
        if count and size > max_bytes:
            return bodies[:count]
    return bodies
