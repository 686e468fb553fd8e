"""One connection: carries out what `core.protocol.server_state` decides, one frame after the other."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable

from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed

from core.aio import TaskScope
from core.domain import errors
from core.domain.ids import made_at
from core.protocol import messages, server_state
from core.protocol.append_state import SendBlobs
from core.protocol.codec import decode_to_server
from core.protocol.frames import PACKED
from core.protocol.operations import DeleteSession
from core.server.append import MissingPayloads, append_entries, is_own, no_lease, take_lease
from core.server.handlers import answer_command
from core.server.hub import Hub
from core.server.incoming import IncomingPayloads
from core.server.outlets import BlobFeed, Door, EventFeed, LiveFeed, QueueFeed, RowFeed
from core.server.questions import QuestionQueue
from core.store import commands, log, tombstones
from core.store.accounts import Principal

_log = logging.getLogger("wire")

HELLO_S = 5.0
COMMANDS_PER_S, COMMANDS_AT_ONCE = 50.0, 200.0
"""How often one connection may command: faster senders are made to wait, which loses nothing."""


class ConnectedClient:
    """A greeted or not yet greeted client of `hub`."""

    def __init__(self, hub: Hub, socket: ServerConnection, principal: Principal, token: str, program: str,
                 on_greeted: Callable[[messages.Hello], None] = lambda _: None) -> None:
        self.principal, self.token = principal, token
        self.leases: dict[str, int] = {}
        self.reading = ""
        self._hub, self._socket, self._program, self._on_greeted = hub, socket, program, on_greeted
        self._state = server_state.ServerState(principal.scopes)
        self._door = Door(socket)
        self._scope = TaskScope("connection", on_error=lambda _: self.drop(1011, "internal error"))
        self._is_closed = False
        self._feeds: dict[str, tuple[EventFeed, asyncio.Task[None]]] = {}
        self._rows: RowFeed | None = None
        self._queues: QueueFeed | None = None
        self._live: LiveFeed | None = None
        self._blobs: BlobFeed | None = None
        self._questions = QuestionQueue(hub, self._door, self._start)
        self._incoming = IncomingPayloads(hub, self._scope, principal.name, self._refuse_payload)
        self._bucket = server_state.Bucket(COMMANDS_PER_S, COMMANDS_AT_ONCE)

    # ---- for the hub

    @property
    def followed(self) -> list[tuple[str, int]]:
        """The sessions that it follows, each with the last event that was sent."""
        return [(session, cursor.sent) for session, cursor in self._state.cursors.items()]

    def changed(self, session: str) -> None:
        """Something of a session was committed."""
        if session in self._feeds:
            self._feeds[session][0].wake()
        if self._rows is not None:
            self._rows.changed(session)
        self.readers_changed()

    def readers_changed(self) -> None:
        """Another one reads, or reads something else; or a queue may have changed."""
        if self._queues is not None:
            self._queues.wake()

    def deleted(self, session: str) -> None:
        """A session was deleted: who writes it goes, and who follows it drops the copy."""
        if self.leases.pop(session, None) is not None:
            self.drop(messages.Close.FENCED, "the session was deleted")
        is_followed = session in self._feeds
        self._state.cursors.pop(session, None)
        self._unfollow(session)
        if not self._is_closed:
            self._start(lambda: self._tell_deleted(session, is_followed), "deleted")

    def show(self, live: messages.Live) -> None:
        """Text that is being made came."""
        if self._live is not None and live.session in self._feeds:
            self._live.show(live)

    def drop(self, code: int, reason: str) -> None:
        """Close the connection soon."""
        self._state.is_over = True
        if not self._is_closed:
            self._scope.spawn(self._socket.close(code, reason), name="close")

    @property
    def _is_runner(self) -> bool:
        return any(scope == "run" or scope.startswith("agent:") for scope in self.principal.scopes)

    # ---- frames

    async def serve(self) -> None:
        """Serve until the connection ends."""
        async with self._scope:
            try:
                await self._hear(await asyncio.wait_for(self._socket.recv(), HELLO_S))
                while True:
                    await self._hear(await self._socket.recv())
            except TimeoutError:
                await self._socket.close(messages.Close.HELLO_TIMEOUT, "hello")
            except ConnectionClosed:
                pass
            finally:
                self._is_closed = True
                self._hub.leave(self)

    async def _hear(self, frame: str | bytes) -> None:
        if self._state.is_over:
            return
        try:
            await self._take(frame)
        except errors.ReportableError as error:  # what cannot be stored now is not refused: the other end asks again
            await self._fail(error, 1011 if isinstance(error, errors.Unavailable) else 0)
        except ConnectionClosed:
            raise
        except Exception as error:  # noqa: BLE001 - a defect of ours ends this connection, not the server
            _log.exception("a frame of %s failed: %r", self.principal.name, error)
            defect = errors.ReportableError("internal", "The server could not carry this out because of a defect.")
            await self._fail(defect, 1011)

    async def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            await self._take_piece(frame)
            return
        try:
            effects = self._state.take(decode_to_server(frame))
        except errors.InvalidInput as error:
            effects = self._state.bad_frame(error.sentence)
        for effect in effects:
            await self._do(effect)

    async def _do(self, effect: server_state.Effect) -> None:
        match effect:
            case server_state.Say(message):
                if isinstance(message, messages.Failed):
                    self._note_failure(message)
                await self._door.say(message)
            case messages.Hello():
                await self._greet(effect)
            case messages.Command():
                await self._run(effect)
            case server_state.Follow(session):
                await self._follow(session)
            case server_state.Unfollow(session):
                self._unfollow(session)
            case server_state.Credit(session):
                self._feeds[session][0].wake()
            case messages.WatchSessions():
                await self._watch_rows()
            case messages.WatchQueues():
                self._watch_queues(effect.after)
            case messages.Reading():
                self._hub.note_reading(self, effect.session)
            case SendBlobs(hashes):
                await self._send_blobs(hashes)
            case messages.Lease():
                await self._lease(effect)
            case messages.Append():
                await self._append(effect)
            case messages.Live():
                if effect.session in self.leases:
                    self._hub.relay(effect)
            case messages.Search() | messages.ListTasks():
                self._questions.ask(effect)
            case server_state.Hang(code, reason):
                await self._socket.close(code, reason)

    async def _fail(self, error: errors.ReportableError, code: int = 0, about: str = "") -> None:
        self._hub.counts.refusals[error.code] += 1
        failed = messages.Failed(kind=errors.error_kind(error), code=error.code, sentence=error.sentence, about=about,
                                 params={k: v for k, v in error.params.items() if isinstance(v, (str, int, float))})
        await self._door.say(failed)
        if code:
            self._state.is_over = True
            await self._socket.close(code, error.code)

    # ---- effects

    async def _greet(self, hello: messages.Hello) -> None:
        reader = self._hub.reader
        self._door.packs = PACKED in hello.capabilities
        try:
            self._hub.join(self, hello.client)
        except errors.LimitReached as error:
            self._note_refusal(error.code)
            await self._fail(error, messages.Close.SLOW_DOWN)
            return
        self._hub.counts.greeted["runner" if self._is_runner else "client"] += 1
        self._on_greeted(hello)
        await self._door.say(messages.Welcome(protocol=messages.PROTOCOL, epoch=log.epoch(reader),
                                              program=self._program, name=self.principal.name,
                                              scopes=self.principal.scopes, capabilities=messages.CAPABILITIES,
                                              cseq=commands.last_cseq(reader, hello.client)))

    async def _run(self, command: messages.Command) -> None:
        if not (command.again and self._hub.may_tell_again(self.principal)):
            await asyncio.sleep(self._bucket.wait(asyncio.get_running_loop().time()))
        client, lookups = self._state.client, self._hub.lookups
        store = self._hub.delete if isinstance(command.op, DeleteSession) else self._hub.do
        try:
            reply = await store(command.session,
                                lambda conn: answer_command(conn, client, self.principal, command, lookups))
        except errors.Conflict as error:  # out of order: the client resumes from what is held
            await self._fail(error, messages.Close.GAP)
            return
        self._count(command, reply)
        if isinstance(reply, messages.Nak) and reply.kind == errors.Denied.__name__:
            self._note_refusal(f"{type(command.op).__name__}: {reply.sentence}")
        await self._door.say(reply)

    def _count(self, command: messages.Command, reply: messages.Ack | messages.Nak) -> None:
        counts, made = self._hub.counts, made_at(command.id)
        counts.commands[reply.__struct_config__.tag] += 1  # type: ignore[index]
        if isinstance(reply, messages.Nak):
            counts.refusals[reply.code] += 1
        if made is not None and not command.again:
            counts.outbox_age.note(max(0.0, time.time() - made.timestamp()))

    def _note_failure(self, failed: messages.Failed) -> None:
        self._hub.counts.refusals[failed.code] += 1
        if failed.kind == errors.Denied.__name__:
            self._note_refusal(failed.sentence)

    def _note_refusal(self, what: str) -> None:
        name = self.principal.name
        self._hub.refusals.say(logging.WARNING, f"{name} {what}", "refused %s: %s", name, what)

    async def _follow(self, session: str) -> None:
        cursor = self._state.cursors[session]
        head = log.head(self._hub.reader, session)
        if cursor.sent > head:
            del self._state.cursors[session]
            await self._fail(errors.Conflict("ahead_of_log", f"Session {session} has {head} events.", head=head),
                             about=session)
            return
        feed = EventFeed(self._door, self._hub.frames, session, cursor)
        self._feeds[session] = feed, self._start(feed.run, f"events {session}")
        if self._live is None:
            self._live = LiveFeed(self._door)
            self._start(self._live.run, "live")

    def _unfollow(self, session: str) -> None:
        feed = self._feeds.pop(session, None)
        if feed is not None:
            feed[1].cancel()

    async def _watch_rows(self) -> None:
        if self._rows is None:
            self._rows = RowFeed(self._door, self._hub.reader)
            await self._rows.tell_deletions([stone.session for stone in tombstones.all_of(self._hub.reader)])
            self._start(self._rows.run, "rows")

    def _watch_queues(self, after: int) -> None:
        if self._queues is None:
            self._queues = QueueFeed(self._door, self._hub.reader, after, self._hub.readers)
            self._start(self._queues.run, "queues")

    async def _tell_deleted(self, session: str, is_followed: bool) -> None:
        """The deletion first: from it a client knows that its copy goes for good, payloads and all."""
        if self._rows is not None:
            await self._rows.tell_deletions([session])
        if is_followed:
            await self._fail(errors.Conflict("ahead_of_log", f"Session {session} has 0 events.", head=0), about=session)

    async def _send_blobs(self, hashes: tuple[str, ...]) -> None:
        if self._blobs is None:
            self._blobs = BlobFeed(self._door, self._hub.reader)
            self._start(self._blobs.run, "blobs")
        if self._blobs.want(hashes) > server_state.MAX_WANTS:
            await self._fail(errors.LimitReached("too_many_wants", "Too many payloads are asked for at once."),
                             messages.Close.SLOW_DOWN)

    async def _lease(self, lease: messages.Lease) -> None:
        if self._hub.is_former(lease.session, self):
            await self._socket.close(messages.Close.GAP, "the same runner holds the session on a later connection")
            return
        try:
            fence, following = await self._hub.do(lease.session, lambda conn: take_lease(conn, lease, self.principal))
        except (errors.NotFound, errors.Conflict, errors.Denied) as error:
            await self._fail(error, messages.Close.FENCED if error.code == "session_deleted" else 0,
                             about=lease.session)
            return
        self.leases[lease.session] = fence
        self._hub.fence(lease.session, self)
        await self._door.say(messages.Leased(session=lease.session, fence=fence, next=following))

    async def _append(self, append: messages.Append) -> None:
        await self._incoming.settle()
        by_agent = not self.principal.allows("admin")
        if append.session not in self.leases and not is_own(self.principal, append.session):
            await self._fail(no_lease(append.session), about=append.session)
            return
        try:
            upto = await self._hub.do(append.session, lambda conn: append_entries(
                conn, append, by_agent=by_agent, account=self.principal.name))
        except MissingPayloads as missing:
            await self._door.say(messages.MissingBlobs(session=append.session, hashes=missing.hashes))
        except errors.Unavailable:
            raise
        except errors.ReportableError as error:
            self.leases.pop(append.session, None) if error.code == "fenced" else None
            await self._fail(error, messages.Close.FENCED if error.code == "fenced" else 0, about=append.session)
        else:
            await self._door.say(messages.Appended(session=append.session, upto=upto))

    async def _take_piece(self, frame: bytes) -> None:
        if not self._state.may_send_blobs():
            await self._fail(errors.Denied("missing_scope", "This token may not send payloads."), messages.Close.SCOPE)
            return
        try:
            await self._incoming.take(frame)
        except errors.InvalidInput as error:
            await self._fail(error, messages.Close.BAD_FRAME)
        except errors.LimitReached as error:
            await self._fail(error, messages.Close.TOO_LARGE)

    async def _refuse_payload(self, error: errors.ReportableError, hash: str) -> None:
        closing = {"LimitReached": messages.Close.TOO_LARGE, "InvalidInput": messages.Close.BAD_FRAME}.get(
            errors.error_kind(error), 1011)
        if error.code == "payload_quota":
            closing = messages.Close.SLOW_DOWN
        with contextlib.suppress(ConnectionClosed):
            await self._fail(error, closing, about=hash)

    def _start(self, run: Callable[[], object], name: str) -> asyncio.Task[None]:
        return self._scope.spawn(self._until_closed(run), name=name)

    async def _until_closed(self, run: Callable[[], object]) -> None:
        try:
            await run()  # type: ignore[misc]
        except ConnectionClosed:
            return
