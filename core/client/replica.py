"""The local copy of a server's log in SQLite; the desktop draws from it and writes commands into its outbox.

Reads are cheap and synchronous, on the thread that made the replica. Writes go through one writer thread. What this
computer wrote is on disk (synchronous=FULL) when awaited; copies of what the server holds are committed without
waiting for the disk, for after a power cut the server sends their end again. Signals are plain lists of callbacks,
called on the event loop.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec

from core.client.listeners import tell
from core.domain.errors import NotFound
from core.domain.events import Placed, decode_stored
from core.domain.queue import QueueItem, QueueState, ReviewQueue
from core.domain.session import SessionRow
from core.domain.steps import Read
from core.domain.trajectory import Trajectory, guidance_alone
from core.protocol.messages import Ack, Command, DeletedSession, Nak
from core.protocol.operations import AnyOp
from core.store import blobs, copies, log, outbox, queues
from core.store.outbox import Queued
from core.store.sqlite import Connection, connect
from core.store.writer import Writer

T = TypeVar("T")
_REPLY: msgspec.json.Decoder[Ack | Nak] = msgspec.json.Decoder(Ack | Nak)


class Replica:
    """One server's sessions, as far as they are held here, and what this computer has yet to tell that server."""

    def __init__(self, path: Path | str) -> None:
        """Open or make the file. Raises ProtocolMismatch for a newer program's file, Unavailable."""
        self.path = Path(path)
        self._writer = Writer(path)
        self._read = connect(path, readonly=True)
        self.rows_changed: list[Callable[[], None]] = []
        self.queues_changed: list[Callable[[QueueState | None], None]] = []
        """What changed in queues is held; None: all of them are to be read again."""
        self.events_added: list[Callable[[str, int, int], None]] = []
        self.outbox_changed: list[Callable[[], None]] = []
        self.command_answered: list[Callable[[Ack | Nak], None]] = []
        """Once for each command, when the answer is on disk."""
        self.blob_arrived: list[Callable[[str], None]] = []
        self.copies_dropped: list[Callable[[str | None], None]] = []
        """A session (None: every one) must be read again from its start: the server's log is another one."""
        self.session_deleted: list[Callable[[str], None]] = []
        """The server deleted a session; nothing of it is held any more."""

    def close(self) -> None:
        """Finish the writing and close the file."""
        self._writer.close()
        self._read.close()

    # ---- reading ------------------------------------------------------------------------------------

    def rows(self) -> list[SessionRow]:
        """What the list of sessions shows."""
        return log.rows(self._read)

    def row(self, session: str) -> SessionRow | None:
        """One session's row."""
        try:
            return log.row(self._read, session)
        except NotFound:
            return None

    def queues(self) -> list[ReviewQueue]:
        """The server's review queues, the oldest first."""
        return queues.queues(self._read)

    def queue_items(self) -> list[QueueItem]:
        """The sessions of all queues, in their orders."""
        return queues.items(self._read)

    @property
    def queues_held(self) -> int:
        """Up to which change of the server the queues are held."""
        return queues.held(self._read)

    def head(self, session: str) -> int:
        """The seq of the newest event that is held; the row's `seq` is the server's."""
        return log.head(self._read, session)

    def read(self, session: str, after: int = 0, limit: int = 256) -> list[Placed]:
        """Events after `after`, in order: at most `limit`, at most about 512 KiB."""
        return log.read(self._read, session, after, limit)

    def trajectory(self, session: str) -> Trajectory:
        """A fresh fold of everything that is held of a session; steps and outputs are read again when looked at."""
        made = Trajectory(session, self.reader(session))
        for one in log.read_all(self._read, session):
            made.apply(one)
        return made

    def reader(self, session: str) -> Read:
        """Gives events of a session again, by seq."""
        return partial(log.bodies, self._read, session)

    def body(self, hash: str) -> bytes | None:
        """A payload, None where it is not held (then `Client.want` it)."""
        try:
            return blobs.get(self._read, hash)
        except NotFound:
            return None

    def size(self, hash: str) -> int:
        """The bytes of a payload; 0 where it is not held."""
        return blobs.size(self._read, hash)

    def body_elsewhere(self, hash: str) -> bytes | None:
        """The same as `body`, for another thread than the replica's own: for payloads that take long to unpack."""
        conn = connect(self.path, readonly=True)
        try:
            return blobs.get(conn, hash)
        except NotFound:
            return None
        finally:
            conn.close()

    def missing(self, hashes: Iterable[str]) -> list[str]:
        """The payloads among `hashes` that are not held."""
        return blobs.missing(self._read, hashes)

    def commands(self, session: str | None = None, limit: int = 200) -> list[Queued]:
        """Commands of this computer, newest first: all that wait for an answer, and the newest answered ones."""
        return outbox.recent(self._read, session, limit)

    def guided(self) -> Iterator[tuple[Trajectory, list[Queued]]]:
        """Every session to which something was said, as far as it is known here, read one by one: its guidance and
        row alone, and what this computer sent about it, newest first."""
        sent: dict[str, list[Queued]] = {}
        for queued in outbox.guides(self._read):
            sent.setdefault(queued.session, []).append(queued)
        for session in dict.fromkeys((*log.with_guidance(self._read), *sent)):
            events = map(decode_stored, log.about_guidance(self._read, session))
            row = self.row(session) or SessionRow(session=session)
            yield guidance_alone(row, events), sent.get(session, [])

    def command(self, command: str) -> Queued:
        """One command of this computer. Raises NotFound."""
        return outbox.get(self._read, command)

    def reply(self, command: str) -> Ack | Nak | None:
        """The server's answer to a command, None while it is queued. Raises NotFound for an unknown one."""
        held = outbox.get(self._read, command).reply
        return None if held is None else _REPLY.decode(held)

    def waiting(self) -> list[Command]:
        """Every unanswered command, in order."""
        found: list[Command] = []
        last = outbox.again(self._read)
        while more := outbox.pending(self._read, found[-1].cseq if found else 0):
            found += [Command(id=q.id, cseq=q.cseq, session=q.session, op=q.op, again=q.cseq <= last) for q in more]
        return found

    @property
    def last(self) -> int:
        """The number of the newest command."""
        return outbox.last(self._read)

    def holds(self, session: str, seq: int, body: bytes) -> bool:
        """Whether this very event is held."""
        return log.bodies(self._read, session, [seq]).get(seq) == body

    def draft(self, session: str) -> str:
        """What is being written to a session and was not sent."""
        return outbox.draft(self._read, session)

    @property
    def client(self) -> str:
        """The durable identity of this outbox."""
        return outbox.client_id(self._read)

    @property
    def epoch(self) -> str:
        """The server database that the copies come from; empty at first."""
        return copies.setting(self._read, copies.EPOCH)

    @property
    def person(self) -> str:
        """What the server called the person here when it was reached last; "" before that."""
        return copies.setting(self._read, copies.READER)

    # ---- writing ------------------------------------------------------------------------------------

    async def add(self, session: str, op: AnyOp, *, clear_draft: bool = False) -> Queued:
        """Put a command into the outbox, and clear the session's draft in the same transaction."""
        def work(conn: Connection) -> Queued:
            queued = outbox.add(conn, session, op)
            if clear_draft:
                outbox.save_draft(conn, session, "")
            return queued

        queued = await self._writer.do(work)
        tell(self.outbox_changed)
        return queued

    async def save_draft(self, session: str, text: str) -> None:
        """Keep what is being written; an empty text clears it."""
        await self._writer.do(lambda conn: outbox.save_draft(conn, session, text))

    async def answered(self, reply: Ack | Nak) -> None:
        """Keep the server's answer."""
        body = msgspec.json.encode(reply)
        is_new = await self._writer.do(lambda conn: outbox.answered(conn, reply.id, body, isinstance(reply, Nak)))
        tell(self.outbox_changed)
        if is_new:
            tell(self.command_answered, reply)

    async def renew(self) -> None:
        """Take a new client identity and number the outbox anew."""
        await self._writer.do(outbox.renew)
        tell(self.outbox_changed)

    def place(self, session: str, first: int, bodies: Sequence[bytes]) -> asyncio.Future[int]:
        """Take events first, first+1, …; the new head, once they are committed. Many at once are stored by one commit.

        The future raises Conflict (seq_gap), Unavailable.
        """
        return self._copy(lambda conn: log.place(conn, session, first, bodies),
                          lambda head: tell(self.events_added, session, first, head))

    async def put_rows(self, rows: Sequence[SessionRow]) -> None:
        """Take rows that the server sent."""
        await self._copy(lambda conn: [log.put_row(conn, row) for row in rows], lambda _: tell(self.rows_changed))

    async def note_person(self, name: str) -> None:
        """Remember what the server calls the person here, for when it is away."""
        if name != self.person:
            await self._copy(lambda conn: copies.put_setting(conn, copies.READER, name), lambda _: None)

    async def put_queues(self, state: QueueState) -> None:
        """Take what changed in the server's queues."""
        await self._copy(lambda conn: queues.copy(conn, state), lambda _: tell(self.queues_changed, state))

    def store_blob(self, hash: str, compressed: bytes) -> asyncio.Future[None]:
        """Keep a payload; `blob_arrived` is told when it is committed. Many at once are stored by one commit.

        The future raises InvalidInput where it is not what its name says, LimitReached, Unavailable.
        """
        return self._copy(lambda conn: blobs.put_compressed(conn, hash, compressed),
                          lambda _: tell(self.blob_arrived, hash))

    def _copy(self, work: Callable[[Connection], T], on_stored: Callable[[T], None]) -> asyncio.Future[T]:
        """Queue a copy; its result is told when it is committed, before whoever waits for the future goes on."""
        def settled(done: asyncio.Future[T]) -> None:
            if not done.cancelled() and done.exception() is None:
                on_stored(done.result())

        future = asyncio.wrap_future(self._writer.submit(work, durable=False))
        future.add_done_callback(settled)
        return future

    async def drop_copies(self, epoch: str, *, renew: bool) -> None:
        """Forget every copy: they come from another database than `epoch`; `renew` the identity with it."""
        def work(conn: Connection) -> None:
            copies.forget(conn)
            copies.put_setting(conn, copies.EPOCH, epoch)
            if renew:
                outbox.renew(conn)

        await self._writer.do(work)
        tell(self.queues_changed, None)
        if renew:
            self._dropped(None)
            tell(self.outbox_changed)

    async def forget(self, session: str) -> None:
        """Forget one session's copy."""
        await self._writer.do(lambda conn: copies.forget(conn, session))
        self._dropped(session)

    async def purge(self, sessions: Sequence[DeletedSession]) -> list[str]:
        """The server deleted these: nothing of them stays, payloads that others name aside. Gives those of which
        this deletion was not known before."""
        def work(conn: Connection) -> list[str]:
            return copies.purge(conn, [(one.session, one.mark) for one in sessions])

        purged = await self._writer.do(work)
        for session in purged:
            self._dropped(session)
            tell(self.session_deleted, session)
        if purged:
            tell(self.outbox_changed)
        return purged

    async def remove_copy(self, session: str, *, keep_row: bool) -> None:
        """Remove what is held of a session, to free its room; `keep_row`: it stays in the list, as the server tells it.
        """
        def work(conn: Connection) -> None:
            row = log.row(conn, session)
            copies.remove(conn, session)
            if keep_row:
                log.put_row(conn, row)

        await self._writer.do(work)
        self._dropped(session)

    def _dropped(self, session: str | None) -> None:
        tell(self.copies_dropped, session)
        tell(self.rows_changed)

