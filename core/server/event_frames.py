"""Event frames, encoded once for all who stand at the same place of a log."""

from collections import OrderedDict
from collections.abc import Sequence

import msgspec
from websockets.extensions import Extension
from websockets.frames import Frame, Opcode

from core.protocol.codec import EVENTS_PER_FRAME, encode_bytes
from core.protocol.frames import pack
from core.protocol.messages import Events
from core.store import log
from core.store.sqlite import Connection as Database

FRAMES_CACHED = 8
"""Frames kept: those at the live tail of the busiest sessions; at most about 4 MiB, and packed ones."""

WORTH_PACKING = 4_096
"""Bytes from which on packing a frame costs less than sending it whole to many."""


class Encoded(Frame):
    """A frame whose bytes are made once, however many connections they go out on (servers do not mask)."""

    def __init__(self, opcode: Opcode, data: bytes) -> None:
        super().__init__(opcode, b"")
        self._bytes = Frame(opcode, data).serialize(mask=False)
        self.size = len(data)

    @property
    def payload(self) -> bytes:
        """What was given."""
        return self._bytes[-self.size :]

    def serialize(self, *, mask: bool, extensions: Sequence[Extension] | None = None) -> bytes:
        """The frame's bytes, the same object for everybody."""
        assert not mask, "a server's frames"
        assert not extensions, "no compression"
        return self._bytes


class EventFrame(msgspec.Struct):
    """The frame with the events behind some cursor up to `last`; `size` counts the bytes of its bodies."""

    whole: Encoded
    count: int
    last: int
    head: int
    size: int
    _packed: Encoded | None = None
    _taken: int = 0

    def take(self, packs: bool) -> Encoded:
        """What goes out to one subscriber; the second one and all after it get it packed if they can unpack it."""
        self._taken += 1
        if packs and self._taken > 1 and self.whole.size >= WORTH_PACKING:
            self._packed = self._packed or Encoded(Opcode.BINARY, pack(self.whole.payload))
            return self._packed
        return self.whole


class EventFrames:
    """Reads a log and makes frames of it."""

    def __init__(self, reader: Database) -> None:
        self._reader = reader
        self._heads: dict[str, int] = {}
        self._cache: OrderedDict[tuple[str, int], EventFrame] = OrderedDict()

    def changed(self, session: str) -> None:
        """Something of a session was committed: its head is to be read again."""
        self._heads.pop(session, None)

    def forget(self, session: str) -> None:
        """A session was deleted: another may come under its id."""
        self._heads.pop(session, None)
        for key in [key for key in self._cache if key[0] == session]:
            del self._cache[key]

    def head(self, session: str) -> int:
        """The seq of a session's newest event, without asking the database for every reader."""
        head = self._heads.get(session)
        if head is None:
            head = self._heads[session] = log.head(self._reader, session)
        return head

    def after(self, session: str, seq: int, room: int) -> EventFrame | None:
        """The frame with what follows `seq`, at most `room` events; None at the log's end."""
        head = self.head(session)
        if head <= seq or room < 1:
            return None
        cached = self._cache.get((session, seq))
        if cached is not None and cached.head == head and cached.count <= room:
            return cached
        return self._remember((session, seq), self._make(session, seq, min(room, EVENTS_PER_FRAME), head))

    def _make(self, session: str, seq: int, limit: int, head: int) -> EventFrame:
        placed = log.read(self._reader, session, seq, limit)
        bodies = tuple(msgspec.Raw(p.body) for p in placed)
        data = encode_bytes(Events(session=session, first=seq + 1, head=max(head, placed[-1].seq), bodies=bodies))
        size = sum(len(p.body) for p in placed)
        return EventFrame(Encoded(Opcode.TEXT, data), len(placed), placed[-1].seq, head, size)

    def _remember(self, key: tuple[str, int], frame: EventFrame) -> EventFrame:
        self._cache.pop(key, None)
        self._cache[key] = frame
        if len(self._cache) > FRAMES_CACHED:
            self._cache.popitem(last=False)
        return frame
