"""The client: keeps a replica equal to the server, sends its outbox, fetches payloads on demand.

It carries out what `core.protocol.client_state` decides; everything that must survive goes through the replica.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from core.client.connection import ReconnectingConnection
from core.client.listeners import tell
from core.client.questions import PendingQuestions
from core.client.replica import Replica
from core.client.status import Status
from core.domain.blob import is_blob_hash
from core.domain.errors import InvalidInput, LimitReached, ReportableError, Unavailable
from core.domain.ids import new_id
from core.domain.queue import Reader
from core.protocol import client_effects, messages
from core.protocol.client_state import HELD, ClientState, OutboxSender
from core.protocol.operations import AnyOp

log = logging.getLogger("wire")

T = TypeVar("T")

WRITES_AT_ONCE = 32
"""Events' and payloads' writes on their way to the disk, where one commit takes all that wait; more are not taken
from the wire."""

__all__ = ["Client", "Status"]


class Client:
    """One server as seen from this computer. Make it and use it on the event loop's thread."""

    def __init__(self, replica: Replica, url: str, token: str, *, program: str = "tiphys") -> None:
        self.replica = replica
        self.on_status: list[Callable[[Status], None]] = []
        self.on_live: list[Callable[[str, str, str], None]] = []
        """Called with (session, channel, text) when text that is being made changes."""
        self.on_failed: list[Callable[[messages.Failed], None]] = []
        """Called when the server could not do what was asked other than by a command."""
        self.on_readers: list[Callable[[tuple[Reader, ...]], None]] = []
        """Called with everybody who has a session open now, when that changes."""
        self.on_absent: list[Callable[[str], None]] = []
        """Called with the hash of a wanted payload that the server does not hold."""
        self._state = ClientState(replica.epoch, replica.waiting(), replica.last)
        self._answers: dict[str, asyncio.Future[messages.Ack | messages.Nak]] = {}
        self._writes: deque[asyncio.Future[Any]] = deque()
        self._ordered = asyncio.Lock()
        self._link = ReconnectingConnection(url, token, self, program=program)
        self._questions = PendingQuestions(self._link.post)

    @property
    def client(self) -> str:
        """The identity under which the server counts our commands."""
        return self.replica.client

    @property
    def status(self) -> Status:
        """How the connection stands."""
        return self._link.status

    async def run(self) -> None:
        """Keep the replica equal to the server until cancelled; never returns by itself."""
        try:
            await self._link.run()
        finally:
            for write in self._writes:
                write.cancel()

    def hurry(self) -> None:
        """Try to connect at once."""
        self._link.hurry()

    def watch(self, session: str) -> None:
        """Follow a session's events."""
        self._post(self._state.subscriptions.watch(session, self.replica.head(session)))

    def unwatch(self, session: str) -> None:
        """Follow a session no more; what is held stays."""
        self._post(self._state.subscriptions.unwatch(session))

    def read(self, session: str) -> None:
        """Say that the person here has a session open, or ("") none."""
        self._post(self._state.read(session))

    @property
    def watched(self) -> frozenset[str]:
        """The sessions that are followed."""
        return self._state.subscriptions.sessions

    def want(self, hashes: Iterable[str], *, first: bool = False) -> None:
        """Fetch payloads that are not held; `replica.blob_arrived` tells when each is here.

        `first`: before all that was wanted earlier and is not asked for yet.
        """
        named = [h for h in hashes if is_blob_hash(h)]
        self._post(self._state.wants.want(self.replica.missing(named), first=first))

    def unwant(self, hashes: Iterable[str]) -> None:
        """Do not fetch these any more; what was asked of the server already still comes."""
        self._state.wants.drop(hashes)

    async def send(self, session: str, op: AnyOp, *, clear_draft: bool = False) -> str:
        """Queue a command; returns its id once it is in the outbox on disk. Works without a connection."""
        async with self._ordered:
            queued = await self.replica.add(session, op, clear_draft=clear_draft)
            command = messages.Command(id=queued.id, cseq=queued.cseq, session=session, op=op)
            self._post(self._state.sender.add(command))
        return queued.id

    async def answer(self, command: str) -> messages.Ack | messages.Nak:
        """The server's answer to a command, as soon as there is one. Raises NotFound for an unknown command."""
        held = self.replica.reply(command)
        if held is not None:
            return held
        future = self._answers.setdefault(command, asyncio.get_running_loop().create_future())
        return await asyncio.shield(future)

    async def search(self, search: messages.Search) -> messages.Found:
        """Where the server finds words, in sessions that need not be here. Raises Unavailable (server_away, no_answer),
        ProtocolMismatch (server_too_old), Denied (missing_scope), LimitReached (search_too_long)."""
        return await self._questions.search(search, self.status)

    async def tasks(self) -> messages.Tasks:
        """The tasks that the server offers. Raises Unavailable (server_away, no_answer), ProtocolMismatch
        (server_too_old), Denied (missing_scope)."""
        return await self._questions.tasks(messages.ListTasks(id=new_id()), self.status)

    # ---- what the link tells -------------------------------------------------------------------------

    async def on_welcome(self, welcome: messages.Welcome) -> None:
        """A connection begins, from what is on disk: a write that the disk refused may have left us ahead of it."""
        await self._end_writes()
        async with self._ordered:
            self._state.sender = OutboxSender(self.replica.waiting(), self.replica.last)
            self._state.epoch = self.replica.epoch
            heads = {s: self.replica.head(s) for s in self._state.subscriptions.sessions}
            effects = self._state.welcomed(welcome, heads, self.replica.queues_held)
        await self.replica.note_person(welcome.name)
        await self._carry_out(effects)

    async def on_message(self, message: messages.Wire) -> None:
        """A message came."""
        await self._settle(WRITES_AT_ONCE)
        if not self._questions.take(message):
            await self._carry_out(self._state.take(message))

    async def on_piece(self, frame: bytes) -> None:
        """A piece of a payload came."""
        await self._carry_out(self._state.wants.take(frame))

    def on_status_changed(self, status: Status) -> None:
        """The link went up or down."""
        if status.state != "online":
            self._state.disconnected()
            self._questions.disconnected()
        tell(self.on_status, status)

    # ---- effects ------------------------------------------------------------------------------------

    def _post(self, effects: Iterable[client_effects.Effect]) -> None:
        for effect in effects:
            if isinstance(effect, client_effects.Send):
                self._link.post(effect.message)
            elif isinstance(effect, messages.Failed):
                self._show(effect)

    async def _carry_out(self, effects: Iterable[client_effects.Effect]) -> None:
        for effect in effects:
            if isinstance(effect, client_effects.Compare) and not self.replica.holds(effect.session, effect.seq,
                                                                                     effect.body):
                log.warning("The log of %s was set back and went on: everything is read and told anew.", effect.session)
                await self._drop_copies(self._state.epoch, renew=True)
                return
            await self._do(effect)

    async def _do(self, effect: client_effects.Effect) -> None:
        match effect:
            case client_effects.Send(message):
                self._link.post(message)
            case client_effects.Place(session, first, bodies):
                await self._write(self.replica.place(session, first, bodies), partial(self._placed, session))
            case messages.Sessions():
                await self.replica.put_rows(effect.rows)
            case messages.Queues():
                await self.replica.put_queues(effect.state)
            case messages.Ack() | messages.Nak():
                await self._answered(effect)
            case client_effects.KeepBlob(hash, compressed):
                await self._store_blob(hash, compressed)
            case client_effects.DropCopies(epoch, renew):
                await self._drop_copies(epoch, renew)
            case client_effects.ForgetSession(session):
                await self.replica.forget(session)
            case messages.Deleted():
                for session in await self.replica.purge(effect.sessions):
                    self._post(self._state.subscriptions.purged(session))
            case client_effects.RenewIdentity():
                await self._renew()
            case messages.Live() | messages.Failed() | messages.Readers():
                self._show(effect)
            case client_effects.Break(code, reason):
                await self._link.restart(code, reason)

    async def _answered(self, reply: messages.Ack | messages.Nak) -> None:
        await self.replica.answered(reply)
        future = self._answers.pop(reply.id, None)
        if future is not None and not future.done():
            future.set_result(reply)

    async def _store_blob(self, hash: str, compressed: bytes | None) -> None:
        if compressed is None:
            tell(self.on_absent, hash)
            return
        await self._write(self.replica.store_blob(hash, compressed), partial(self._blob_stored, hash))

    async def _write(self, write: asyncio.Future[T], done: Callable[[asyncio.Future[T]], None]) -> None:
        write.add_done_callback(done)
        self._writes.append(write)
        await self._settle(WRITES_AT_ONCE)

    async def _settle(self, most: int) -> None:
        """Wait until at most so many writes are on their way. Raises what one of those that ended raised."""
        while self._writes and (len(self._writes) > most or self._writes[0].done()):
            try:
                await self._writes.popleft()
            except (InvalidInput, LimitReached) as error:  # a payload that is not what its name says
                log.warning("%s", error)

    async def _end_writes(self) -> None:
        """Wait for what the former connection brought. What the disk refused of it ended that connection."""
        writes = list(self._writes)
        self._writes.clear()
        for ended in await asyncio.gather(*writes, return_exceptions=True):
            if isinstance(ended, BaseException) and not isinstance(ended, ReportableError):
                raise ended

    def _placed(self, session: str, write: asyncio.Future[int]) -> None:
        if write.cancelled():
            return
        error = write.exception()
        if error is None:
            self._post(self._state.subscriptions.placed(session, write.result()))
        elif isinstance(error, ReportableError):
            self._link.abort(error)  # now: the next message, which would not follow what is held, may be hours away

    def _blob_stored(self, hash: str, write: asyncio.Future[None]) -> None:
        if not write.cancelled() and isinstance(write.exception(), Unavailable):
            self._state.wants.want([hash])

    async def _drop_copies(self, epoch: str, renew: bool) -> None:
        async with self._ordered:
            await self.replica.drop_copies(epoch, renew=renew)
            self._state.sender = OutboxSender(self.replica.waiting()) if renew else self._state.sender
        if renew:
            await self._link.restart(reason="new outbox identity")

    async def _renew(self) -> None:
        async with self._ordered:
            await self.replica.renew()
            self._state.sender = OutboxSender(self.replica.waiting())
        await self._link.restart(reason="new outbox identity")

    def _show(self, message: messages.Live | messages.Failed | messages.Readers) -> None:
        if isinstance(message, messages.Readers):
            tell(self.on_readers, message.readers)
            return
        if isinstance(message, messages.Live):
            tell(self.on_live, message.session, message.channel, message.text)
            return
        log.info("%s", message.sentence)
        if message.code == HELD:
            self._link.remark(message.code, message.sentence)
        tell(self.on_failed, message)
