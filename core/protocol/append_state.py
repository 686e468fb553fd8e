"""A journal's way into the log, as a pure state machine: lease, entries in order, what was lost is sent again.

Used by whoever writes a session's events through a server: runners and imports.
"""

from collections.abc import Callable, Sequence

import msgspec

from core.protocol.codec import BYTES_PER_FRAME, EVENTS_PER_FRAME
from core.protocol.messages import Append, Appended, Failed, Lease, Leased, MissingBlobs, Wire

Entries = Callable[[int, int, int], Sequence[bytes]]
"""(first, limit, max_bytes) → the journal's entries first, first+1, … as event bodies; empty where there are none."""


class SendBlobs(msgspec.Struct, frozen=True):
    """Either end: send these payloads as binary frames, before what follows."""

    hashes: tuple[str, ...]


class Stored(msgspec.Struct, frozen=True):
    """The server holds the journal up to `upto`."""

    upto: int


class Appender:
    """One journal's sender. One Append is in flight at a time: entries keep their order whatever is refused."""

    def __init__(self, session: str, journal: str, entries: Entries) -> None:
        self.session, self.journal, self._entries = session, journal, entries
        self.fence = 0
        self.upto = 0
        self._in_flight: Append | None = None

    @property
    def has_lease(self) -> bool:
        """Whether the present connection holds the session."""
        return self.fence > 0

    def connect(self) -> list[Wire]:
        """A connection begins: take the lease."""
        self.fence, self._in_flight = 0, None
        return [Lease(session=self.session, journal=self.journal)]

    def pump(self) -> list[Wire]:
        """The journal grew: what may be sent now."""
        if not self.has_lease or self._in_flight is not None:
            return []
        bodies = self._entries(self.upto + 1, EVENTS_PER_FRAME, BYTES_PER_FRAME)
        if not bodies:
            return []
        raw = tuple(msgspec.Raw(b) for b in bodies)
        self._in_flight = Append(session=self.session, fence=self.fence, first=self.upto + 1, bodies=raw)
        return [self._in_flight]

    def take(self, message: Wire) -> list[Wire | SendBlobs | Stored]:
        """A message of the server came; those that are not about this journal are ignored."""
        if getattr(message, "session", self.session) != self.session:
            return []
        match message:
            case Leased():
                self.fence, self.upto, self._in_flight = message.fence, message.next - 1, None
                return [Stored(self.upto), *self.pump()]
            case Appended():
                self.upto, self._in_flight = message.upto, None
                return [Stored(self.upto), *self.pump()]
            case MissingBlobs() if self._in_flight is not None:
                return [SendBlobs(message.hashes), self._in_flight]
            case Failed(code="journal_gap", about=about) if about == self.session:
                return list(self.connect())
        return []
