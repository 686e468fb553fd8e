"""What the client's machine asks its shell to do, in order."""

import msgspec

from core.domain.queue import QueueState
from core.domain.session import SessionRow
from core.protocol.messages import Ack, DeletedSession, Failed, Live, Nak, Readers, Wire


class Send(msgspec.Struct, frozen=True):
    """Send a message on the present connection."""

    message: Wire


class Place(msgspec.Struct, frozen=True):
    """Store events first, first+1, … of a session; then call `placed`."""

    session: str
    first: int
    bodies: tuple[bytes, ...]


class Compare(msgspec.Struct, frozen=True):
    """Look whether this event is the one that is held; if it is not, the server's log was set back and went on: do
    what DropCopies with `renew` asks, and nothing of what follows."""

    session: str
    seq: int
    body: bytes


class PutRows(msgspec.Struct, frozen=True):
    """Keep what the list of sessions shows."""

    rows: tuple[SessionRow, ...]


class PutQueues(msgspec.Struct, frozen=True):
    """Keep what changed in queues."""

    state: QueueState


class CommandAnswered(msgspec.Struct, frozen=True):
    """A command of the outbox is answered for good."""

    reply: Ack | Nak


class KeepBlob(msgspec.Struct, frozen=True):
    """A wanted payload came, compressed; its hash is still to be verified. None: the server has none."""

    hash: str
    compressed: bytes | None


class DropCopies(msgspec.Struct, frozen=True):
    """The server's database is another one than ours was copied from: forget the copies, keep the outbox.

    With `renew`, do what RenewIdentity asks in the same transaction."""

    epoch: str
    renew: bool


class ForgetSession(msgspec.Struct, frozen=True):
    """Our copy of one session is ahead of the server's log: forget it."""

    session: str


class Purge(msgspec.Struct, frozen=True):
    """The server deleted these sessions: what is held of each goes, once for each deletion, for good. Then call
    `subscriptions.purged` with those of which something went."""

    sessions: tuple[DeletedSession, ...]


class RenewIdentity(msgspec.Struct, frozen=True):
    """What the server counts under our name is not this outbox: take a new client id, number the outbox anew with
    what was acknowledged in the last days (the ids make repeats harmless), reconnect."""


class Show(msgspec.Struct, frozen=True):
    """Hand a passing message (live text, a failure, who reads) to whoever looks."""

    message: Live | Failed | Readers


class Break(msgspec.Struct, frozen=True):
    """Close the connection and resume on a new one."""

    code: int
    reason: str


Effect = (
    Send | Place | Compare | PutRows | PutQueues | CommandAnswered | KeepBlob | DropCopies | ForgetSession | Purge
    | RenewIdentity | Show | Break
)
