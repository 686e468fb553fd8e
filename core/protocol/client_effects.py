"""What the client's machine asks its shell to do, in order."""

import msgspec

from core.protocol.messages import Ack, Deleted, Failed, Live, Nak, Queues, Readers, Sessions, Wire


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


class RenewIdentity(msgspec.Struct, frozen=True):
    """What the server counts under our name is not this outbox: take a new client id, number the outbox anew with
    what was acknowledged in the last days (the ids make repeats harmless), reconnect."""


class Break(msgspec.Struct, frozen=True):
    """Close the connection and resume on a new one."""

    code: int
    reason: str


Received = Sessions | Queues | Deleted | Ack | Nak | Live | Failed | Readers
"""A message to do as it says: keep what the list of sessions shows and what changed in queues, drop for good what is
held of deleted sessions (then call `subscriptions.purged` with those of which something went), note that a command of
the outbox is answered, hand what passes (live text, a failure, who reads) to whoever looks."""

Effect = Send | Place | Compare | KeepBlob | DropCopies | ForgetSession | RenewIdentity | Break | Received
