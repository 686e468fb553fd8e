"""The server's end of one connection as a pure state machine: greeting, scopes, cursors with credit, order.

Frames go in, effects come out; the shell (`core.server.connection`) carries them out one after the other.
The order of commands is decided in the database, in the transaction of their effect (`core.store.commands`).
"""

from collections import deque
from collections.abc import Iterable

import msgspec

from core.domain.blob import is_blob_hash
from core.domain.ids import is_id
from core.protocol import messages
from core.protocol.append_state import SendBlobs
from core.protocol.scopes import may_send

CREDIT_EVENTS = 2_000
CREDIT_BYTES = 8 * 1024 * 1024
"""How much of one session may be on its way to a client that has not said `seen`."""

MAX_SUBSCRIPTIONS = 256
MAX_WANTS = 4_096
MAX_LIVE_CHARS = 64 * 1024


class Say(msgspec.Struct, frozen=True):
    """Send a message."""

    message: messages.Wire


class Follow(msgspec.Struct, frozen=True):
    """Begin to send a session's events."""

    session: str


class Unfollow(msgspec.Struct, frozen=True):
    """Send a session's events no more."""

    session: str


class Credit(msgspec.Struct, frozen=True):
    """More of a session may be sent."""

    session: str


class Hang(msgspec.Struct, frozen=True):
    """Close the connection."""

    code: int
    reason: str


Obeyed = (
    messages.Hello | messages.Command | messages.WatchSessions | messages.WatchQueues | messages.Reading
    | messages.Lease | messages.Append | messages.Live | messages.Search | messages.ListTasks
)
"""A message to do as it asks, which makes sense and may be sent by this principal: Hello is answered with Welcome, a
command once it is committed, and a question when there is time, of a kind only the newest that waits."""

Effect = Say | Follow | Unfollow | Credit | SendBlobs | Hang | Obeyed


class SessionCursor:
    """How far one session was sent on one connection, and how much the client has said it holds.

    `sent` is the seq of the last event sent. Back-pressure is by pull: whoever sends asks `may_send` first.
    """

    def __init__(self, after: int) -> None:
        self.sent = after
        self._seen = after
        self._flying: deque[tuple[int, int]] = deque()

    @property
    def may_send(self) -> bool:
        """Whether there is credit left."""
        return self.sent - self._seen < CREDIT_EVENTS and sum(size for _, size in self._flying) < CREDIT_BYTES

    @property
    def room(self) -> int:
        """How many more events there is credit for."""
        return max(0, CREDIT_EVENTS - (self.sent - self._seen))

    def advance(self, upto: int, size: int) -> None:
        """A frame with the events up to `upto` and `size` bytes of bodies goes out."""
        self.sent = upto
        self._flying.append((upto, size))

    def seen(self, seq: int) -> None:
        """The client holds everything up to `seq`; a number that was never sent counts for what was."""
        self._seen = max(self._seen, min(seq, self.sent))
        while self._flying and self._flying[0][0] <= self._seen:
            self._flying.popleft()


class Bucket:
    """A limit on how often something is done: `burst` at once, `rate` per second in the long run."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._level, self._at = burst, 0.0

    def wait(self, now: float) -> float:
        """Take one turn; returns how many seconds to wait before using it."""
        self._refill(now)
        self._level -= 1
        return max(0.0, -self._level / self._rate)

    def take(self, now: float, turns: int = 1) -> bool:
        """Take some turns, if there are so many now."""
        self._refill(now)
        if self._level < turns:
            return False
        self._level -= turns
        return True

    def _refill(self, now: float) -> None:
        self._level = min(self._burst, self._level + (now - self._at) * self._rate)
        self._at = now


class ServerState:
    """One connection of a principal that holds `scopes`."""

    def __init__(self, scopes: Iterable[str]) -> None:
        self.scopes = tuple(scopes)
        self.hello: messages.Hello | None = None
        self.cursors: dict[str, SessionCursor] = {}
        self.is_over = False

    @property
    def client(self) -> str:
        """Whose commands these are; empty before Hello."""
        return self.hello.client if self.hello else ""

    def take(self, message: messages.Wire) -> list[Effect]:
        """A message came."""
        if self.is_over:
            return []
        if self.hello is None:
            return self._greeted(message)
        if isinstance(message, messages.Hello):
            return self._hang(messages.Close.BAD_FRAME, "hello twice", code="hello_twice")
        if not may_send(self.scopes, message):
            return self._denied(message)
        return self._take(message)

    def bad_frame(self, sentence: str) -> list[Effect]:
        """A frame came that cannot be read."""
        return self._hang(messages.Close.BAD_FRAME, "bad frame", sentence=sentence, code="bad_frame")

    def may_send_blobs(self) -> bool:
        """Whether binary frames are welcome here."""
        return self.hello is not None and any(s in ("admin", "run") or s.startswith("agent:") for s in self.scopes)

    def _greeted(self, message: messages.Wire) -> list[Effect]:
        if not isinstance(message, messages.Hello):
            return self._hang(messages.Close.BAD_FRAME, "hello first", code="hello_first")
        if message.protocol != messages.PROTOCOL:
            reason = f"This server speaks protocol {messages.PROTOCOL}, not {message.protocol}."
            return self._hang(messages.Close.VERSION, reason, sentence=reason, code="protocol_version",
                              kind="ProtocolMismatch")
        if not is_id(message.client):
            return self._hang(messages.Close.BAD_FRAME, "bad client id", code="bad_client")
        self.hello = message
        return [message]

    def _take(self, message: messages.Wire) -> list[Effect]:
        match message:
            case (messages.Command() | messages.WatchSessions() | messages.WatchQueues() | messages.Lease()
                  | messages.Append()):
                return [message]
            case messages.Reading():
                return self._reading(message)
            case messages.Subscribe():
                return self._subscribe(message)
            case messages.Unsubscribe():
                known = self.cursors.pop(message.session, None)
                return [Unfollow(message.session)] if known else []
            case messages.Seen():
                return self._seen(message)
            case messages.WantBlobs():
                return self._want(message)
            case messages.Live():
                return [message] if len(message.text) <= MAX_LIVE_CHARS else []
            case messages.Search() | messages.ListTasks():
                return self._question(message)
        return self.bad_frame(f"A message {type(message).__name__} is not for a server.")

    def _subscribe(self, message: messages.Subscribe) -> list[Effect]:
        if message.after < 0 or not is_id(message.session):
            return self.bad_frame("A subscription needs a session's id and a seq from 0.")
        if len(self.cursors) >= MAX_SUBSCRIPTIONS and message.session not in self.cursors:
            return self._hang(messages.Close.SLOW_DOWN, "too many subscriptions", code="too_many_subscriptions")
        again = message.session in self.cursors
        self.cursors[message.session] = SessionCursor(message.after)
        return [*([Unfollow(message.session)] if again else []), Follow(message.session)]

    def _seen(self, message: messages.Seen) -> list[Effect]:
        cursor = self.cursors.get(message.session)
        if cursor is None:
            return []
        waited = not cursor.may_send
        cursor.seen(message.seq)
        return [Credit(message.session)] if waited and cursor.may_send else []

    def _reading(self, message: messages.Reading) -> list[Effect]:
        if message.session and not is_id(message.session):
            return self.bad_frame("A reader names a session's id.")
        return [message]

    def _want(self, message: messages.WantBlobs) -> list[Effect]:
        if not all(map(is_blob_hash, message.hashes)):
            return self.bad_frame("WantBlobs needs names of 64 lower-case hexadecimal digits.")
        return [SendBlobs(message.hashes)]

    def _question(self, message: messages.Search | messages.ListTasks) -> list[Effect]:
        session = message.session if isinstance(message, messages.Search) else ""
        if not is_id(message.id) or (session and not is_id(session)):
            return self.bad_frame("A question needs an id, and of a session its id.")
        return [message]

    def _denied(self, message: messages.Wire) -> list[Effect]:
        tag = str(type(message).__struct_config__.tag)
        sentence = f"This token may not send {tag} here."
        if isinstance(message, (messages.Lease, messages.Append, messages.Live)):
            return self._hang(messages.Close.SCOPE, sentence, sentence=sentence, code="missing_scope", kind="Denied",
                              about=tag)
        about = getattr(message, "id", "")[:100] or getattr(message, "session", tag)
        return [Say(messages.Failed(kind="Denied", code="missing_scope", sentence=sentence, about=about))]

    def _hang(self, close: int, reason: str, *, code: str, sentence: str = "", kind: str = "InvalidInput",
              about: str = "") -> list[Effect]:
        self.is_over = True
        explanation = sentence or f"The connection is closed: {reason}."
        failed = messages.Failed(kind=kind, code=code, sentence=explanation, about=about)
        return [Say(failed), Hang(close, reason[:100])]
