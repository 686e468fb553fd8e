"""What flows to one client. Each outlet pulls from the database when there is room, so that a reader who is
stuck costs the server one frame and nothing more; what may be dropped is conflated, what may not waits in the log."""

import asyncio
from collections.abc import Callable, Sequence

from websockets.asyncio.server import ServerConnection

from core.domain.errors import NotFound
from core.domain.queue import Reader
from core.domain.session import SessionRow
from core.protocol.codec import encode_bytes
from core.protocol.frames import PIECE, absent, pieces
from core.protocol.messages import Deleted, DeletedSession, Live, Queues, Readers, Sessions, Wire
from core.protocol.server_state import SessionCursor
from core.server.event_frames import Encoded, EventFrames
from core.store import blobs, log, queues, tombstones
from core.store.sqlite import Connection as Database

ROWS_PAUSE_S = 0.2
LIVE_PAUSE_S = 0.1
ROWS_PER_FRAME = 200
QUEUE_ROWS_PER_FRAME = 1_000
DELETIONS_PER_FRAME = 5_000
LIVE_SLOTS = 64
PART = 8 * PIECE
"""Bytes of a payload that are held at a time."""


class Door:
    """The way out of one connection: one frame at a time, so that only one is ever held in memory."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket
        self.turn = asyncio.Lock()
        self.packs = False
        """Whether the client can unpack packed frames."""

    async def say(self, message: Wire) -> None:
        """Send an answer now, ahead of what waits for its turn."""
        await self._socket.send(encode_bytes(message), text=True)

    async def send(self, frame: bytes, *, text: bool) -> None:
        """Send a message that is encoded already, or a piece of a payload; the caller has the turn."""
        await self._socket.send(frame, text=text)

    async def send_encoded(self, frame: Encoded) -> None:
        """Send a frame that others get too; the caller has the turn."""
        async with self._socket.send_context():
            self._socket.protocol.send_frame(frame)


class EventFeed:
    """One session's events to one client, in order, as far as the client's credit goes."""

    def __init__(self, door: Door, frames: EventFrames, session: str, cursor: SessionCursor) -> None:
        self._door, self._frames, self._session, self._cursor = door, frames, session, cursor
        self._more = asyncio.Event()

    def wake(self) -> None:
        """There may be new events, or new credit."""
        self._more.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            self._more.clear()
            if self._frames.head(self._session) <= self._cursor.sent or not await self._send_some():
                await self._more.wait()

    async def _send_some(self) -> bool:
        async with self._door.turn:
            if not self._cursor.may_send:
                return False
            frame = self._frames.after(self._session, self._cursor.sent, self._cursor.room)
            if frame is None:
                return False
            self._cursor.advance(frame.last, frame.size)
            await self._door.send_encoded(frame.take(self._door.packs))
            return True


class RowFeed:
    """Rows of the list of sessions, the newest state of each, a few times per second at most."""

    def __init__(self, door: Door, reader: Database) -> None:
        self._door, self._reader = door, reader
        self._dirty: dict[str, None] = dict.fromkeys(r.session for r in log.rows(reader))
        self._marks: dict[str, str] = {}
        """Of the deletions that were told on this connection."""
        self._more = asyncio.Event()
        self._more.set()

    def changed(self, session: str) -> None:
        """A session's row may be another one now."""
        self._dirty[session] = None
        self._more.set()

    async def tell_deletions(self, sessions: Sequence[str]) -> None:
        """Tell which of these were deleted, ahead of every row and event that comes of them."""
        gone = self._new_deletions(sessions)
        for first in range(0, len(gone), DELETIONS_PER_FRAME):
            await self._door.say(Deleted(sessions=tuple(gone[first : first + DELETIONS_PER_FRAME])))

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._more.wait()
            async with self._door.turn:
                await self._send_some()
            if not self._dirty:
                self._more.clear()
            await asyncio.sleep(ROWS_PAUSE_S)

    async def _send_some(self) -> None:
        names = list(self._dirty)[:ROWS_PER_FRAME]
        for name in names:
            del self._dirty[name]
        await self.tell_deletions(names)
        rows = tuple(row for name in names if (row := self._row(name)) is not None)
        await self._door.send(encode_bytes(Sessions(rows=rows)), text=True)

    def _new_deletions(self, names: Sequence[str]) -> list[DeletedSession]:
        stones = [stone for name in names if (stone := tombstones.of(self._reader, name)) is not None]
        gone = [stone for stone in stones if self._marks.get(stone.session) != stone.mark]
        self._marks.update((stone.session, stone.mark) for stone in gone)
        return [DeletedSession(session=stone.session, mark=stone.mark) for stone in gone]

    def _row(self, session: str) -> SessionRow | None:
        try:
            row = log.row(self._reader, session)
        except NotFound:
            return None
        return None if row.is_hidden else row


class QueueFeed:
    """What changed in queues since the client looked, and who reads what; a few times per second at most."""

    def __init__(self, door: Door, reader: Database, after: int, readers: Callable[[], dict[str, list[str]]]) -> None:
        self._door, self._reader, self._readers = door, reader, readers
        self._after = after if after <= queues.revision(reader) else 0
        self._sent_readers: tuple[Reader, ...] | None = None
        self._more = asyncio.Event()
        self._more.set()

    def wake(self) -> None:
        """There may be changes, or other readers."""
        self._more.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._more.wait()
            self._more.clear()
            async with self._door.turn:
                await self._send_some()
            await asyncio.sleep(ROWS_PAUSE_S)

    async def _send_some(self) -> None:
        state = queues.changed(self._reader, self._after, QUEUE_ROWS_PER_FRAME)
        if state.revision > self._after:
            self._after = state.revision
            self._more.set()  # for what did not fit
            await self._door.send(encode_bytes(Queues(state=state)), text=True)
        readers = tuple(Reader(session, person) for session, people in sorted(self._readers().items())
                        for person in people)
        if readers != self._sent_readers:
            self._sent_readers = readers
            await self._door.send(encode_bytes(Readers(readers=readers)), text=True)


class LiveFeed:
    """Text that is being made: one slot per session and channel, the newest wins, never stored."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._slots: dict[tuple[str, str], Live] = {}
        self._more = asyncio.Event()

    def show(self, live: Live) -> None:
        """Put newer text into its slot; dropped when there are too many slots."""
        key = (live.session, live.channel)
        if key in self._slots or len(self._slots) < LIVE_SLOTS:
            self._slots[key] = live
            self._more.set()

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._more.wait()
            self._more.clear()
            while self._slots:
                async with self._door.turn:
                    await self._door.send(encode_bytes(self._slots.pop(next(iter(self._slots)))), text=True)
            await asyncio.sleep(LIVE_PAUSE_S)


class BlobFeed:
    """Payloads that the client asked for, one after the other."""

    def __init__(self, door: Door, reader: Database) -> None:
        self._door, self._reader = door, reader
        self._wanted: dict[str, None] = {}
        self._more = asyncio.Event()

    def want(self, hashes: Sequence[str]) -> int:
        """Queue payloads; returns how many are waiting."""
        self._wanted.update(dict.fromkeys(hashes))
        self._more.set()
        return len(self._wanted)

    async def run(self) -> None:
        """Send until cancelled."""
        while True:
            await self._more.wait()
            self._more.clear()
            while self._wanted:
                await self._send(next(iter(self._wanted)))

    async def _send(self, hash: str) -> None:
        """In parts: of a large payload no more than one part is held while the client does not read."""
        sent, total = 0, 1
        while sent < total:
            try:
                part, total = blobs.get_part(self._reader, hash, sent, PART)
                frames = pieces(hash, part, sent, total)
            except NotFound:
                part, total, frames = b"", 0, iter([absent(hash)])
            for frame in frames:
                async with self._door.turn:
                    await self._door.send(frame, text=False)
            sent += len(part)
        self._wanted.pop(hash, None)
