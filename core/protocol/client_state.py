"""The client's end of the wire as a pure state machine: frames go in, effects come out, nothing is awaited.

The shell (`core.client.client`) carries the effects out in order: what one puts on disk is there before what the next
one does, and all of it before another connection begins. What docs/protocol.md asks of a client is kept here, its other
half in `server_state`.
"""

from collections import OrderedDict, deque
from collections.abc import Collection, Iterable, Mapping, Sequence

from core.domain.errors import InvalidInput
from core.protocol import messages
from core.protocol.client_effects import (
    Break,
    Compare,
    DropCopies,
    Effect,
    ForgetSession,
    KeepBlob,
    Place,
    RenewIdentity,
    Send,
)
from core.protocol.frames import Assembly, parse_piece
from core.protocol.operations import GiveVerdict

HELD = "held_for_newer_server"
"""The code under which a command is held: an older server would misread it, and what comes after it waits behind it."""

COMMANDS_IN_FLIGHT = 32
BLOBS_IN_FLIGHT = 32

SEEN_EVENTS = 500
SEEN_BYTES = 2 * 1024 * 1024
"""After so many new events of a session the client says `seen`: a quarter of the credit that the server gives."""


class OutboxSender:
    """The outbox's end: commands leave in the order of `cseq`, few in flight, until each is answered."""

    def __init__(self, waiting: Iterable[messages.Command] = (), last: int = 0) -> None:
        """`last` is the number of the outbox's newest command."""
        self._waiting: dict[int, messages.Command] = {c.cseq: c for c in waiting}
        self._last = last
        self._unsent = deque(sorted(self._waiting))
        self._flying: set[int] = set()
        self._open = False
        self._known: Collection[str] = ()

    def connect(self, held: int, known: Collection[str]) -> list[Effect]:
        """Start a connection whose server holds our commands up to `held`: it must be all that were answered. `known`
        are its capabilities."""
        if held < min(self._waiting, default=self._last + 1) - 1:
            return [RenewIdentity()]
        new = [n for n in self._waiting if n > held]
        if new and min(new) != held + 1:
            return [RenewIdentity()]
        self._unsent, self._flying, self._open, self._known = deque(sorted(self._waiting)), set(), True, known
        return self.pump()

    def disconnect(self) -> None:
        """Nothing can be sent until the next connection."""
        self._open = False

    def add(self, command: messages.Command) -> list[Effect]:
        """A command entered the outbox (its row is on disk)."""
        self._waiting[command.cseq] = command
        self._unsent.append(command.cseq)
        return self.pump()

    def answered(self, reply: messages.Ack | messages.Nak) -> list[Effect]:
        """A reply came; a repeated one changes nothing."""
        command = self._waiting.get(reply.cseq)
        if command is None or command.id != reply.id:
            return []
        del self._waiting[reply.cseq]
        self._flying.discard(reply.cseq)
        return [reply, *self.pump()]

    def pump(self) -> list[Effect]:
        """What may be sent now."""
        if not self._open:
            return []
        due: list[Effect] = []
        while self._open and self._unsent and len(self._flying) < COMMANDS_IN_FLIGHT:
            command = self._waiting.get(self._unsent.popleft())
            if command is not None and not self._is_understood(command):
                self._open = False
                due.append(_held(command))
            elif command is not None and command.cseq not in self._flying:
                self._flying.add(command.cseq)
                due.append(Send(command))
        return due

    def _is_understood(self, command: messages.Command) -> bool:
        op = command.op
        return not (isinstance(op, GiveVerdict) and op.action) or messages.CAN_JUDGE_ACTIONS in self._known


def _held(command: messages.Command) -> messages.Failed:
    sentence = ("The server's program is older and would take a verdict on one action for one on the whole step: that "
                "verdict, and what was sent after it, waits here until the server is updated.")
    return messages.Failed(kind="ProtocolMismatch", code=HELD, sentence=sentence, about=command.session)


class Subscriptions:
    """Which sessions are followed and how far each is held; events are taken only in their order."""

    def __init__(self) -> None:
        self._held: dict[str, int] = {}
        self._acknowledged: dict[str, int] = {}
        self._unacknowledged_bytes: dict[str, int] = {}
        self._unsure: set[str] = set()
        self._open = False

    @property
    def sessions(self) -> frozenset[str]:
        """The followed sessions."""
        return frozenset(self._held)

    def connect(self, heads: Mapping[str, int]) -> list[Effect]:
        """Subscribe to everything anew, after what is on disk (`heads`, 0 where absent), but for the newest event:
        by that one sees whether it is still the same log.
        """
        self._open = True
        self._held = {s: heads.get(s, 0) for s in self._held}
        self._acknowledged, self._unacknowledged_bytes = dict(self._held), {}
        self._unsure = {s for s, n in self._held.items() if n}
        return [Send(messages.Subscribe(session=s, after=max(0, n - 1))) for s, n in self._held.items()]

    def disconnect(self) -> None:
        """No connection."""
        self._open = False

    def watch(self, session: str, held: int) -> list[Effect]:
        """Follow a session of which events up to `held` are on disk."""
        if session in self._held:
            return []
        self._held[session] = self._acknowledged[session] = held
        self._unacknowledged_bytes[session] = 0
        if not self._open:
            return []
        self._unsure |= {session} if held else set()
        return [Send(messages.Subscribe(session=session, after=max(0, held - 1)))]

    def unwatch(self, session: str) -> list[Effect]:
        """Follow it no more; what is held stays."""
        known = self._held.pop(session, None) is not None
        self._acknowledged.pop(session, None)
        self._unacknowledged_bytes.pop(session, None)
        return [Send(messages.Unsubscribe(session=session))] if known and self._open else []

    def take(self, events: messages.Events) -> list[Effect]:
        """Events came: those held already are skipped, a gap ends the connection."""
        held = self._held.get(events.session)
        if held is None:
            return []
        if events.first > held + 1:
            return [Break(messages.Close.GAP, f"expected {held + 1}")]
        known = self._compared(events, held)
        new = events.bodies[held + 1 - events.first :]
        if not new:
            return [*known, Send(messages.Seen(session=events.session, seq=held))]
        self._held[events.session] = held + len(new)
        bodies = tuple(bytes(b) for b in new)
        size = sum(map(len, bodies))
        self._unacknowledged_bytes[events.session] = self._unacknowledged_bytes.get(events.session, 0) + size
        return [*known, Place(events.session, held + 1, bodies)]

    def _compared(self, events: messages.Events, held: int) -> list[Effect]:
        """The newest event that is held, where it came once more after a connection or `watch`."""
        if events.session not in self._unsure or not events.first <= held < events.first + len(events.bodies):
            return []
        self._unsure.discard(events.session)
        return [Compare(events.session, held, bytes(events.bodies[held - events.first]))]

    def placed(self, session: str, seq: int) -> list[Effect]:
        """Everything up to `seq` is on disk: give the server credit, long before it runs out of it."""
        if seq > self._held.get(session, 0):  # of a copy that was dropped since
            return []
        events, size = seq - self._acknowledged.get(session, 0), self._unacknowledged_bytes.get(session, 0)
        enough = events >= SEEN_EVENTS or size >= SEEN_BYTES
        if not enough or not self._open or session not in self._held:
            return []
        self._acknowledged[session], self._unacknowledged_bytes[session] = seq, 0
        return [Send(messages.Seen(session=session, seq=seq))]

    def restart(self, session: str) -> list[Effect]:
        """Our copy was wrong: begin again at the log's start."""
        if session not in self._held:
            return []
        self._held[session] = self._acknowledged[session] = 0
        self._unacknowledged_bytes[session] = 0
        self._unsure.discard(session)
        return [ForgetSession(session), Send(messages.Subscribe(session=session, after=0))]

    def purged(self, session: str) -> list[Effect]:
        """Our copy of a deleted session is gone: what comes under its id is followed from its start."""
        return self.restart(session)[1:]


class Wants:
    """Payloads asked for and not yet here; asked again on every connection."""

    def __init__(self) -> None:
        self._wanted: OrderedDict[str, bool] = OrderedDict()
        self._assembly = Assembly()
        self._open = False

    def connect(self) -> list[Effect]:
        """Ask again; pieces of the former connection are worth nothing."""
        self._open, self._assembly = True, Assembly()
        self._wanted = OrderedDict.fromkeys(self._wanted, False)
        return self._ask()

    def disconnect(self) -> None:
        """No connection."""
        self._open = False

    def want(self, hashes: Iterable[str], *, first: bool = False) -> list[Effect]:
        """Ask for payloads; a repeat is free. `first`: before all that is wanted and was not asked for yet."""
        for one in hashes:
            self._wanted.setdefault(one, False)
            if first:
                self._wanted.move_to_end(one, last=False)
        return self._ask()

    def drop(self, hashes: Iterable[str]) -> None:
        """Do not ask for these; what was asked for already is on its way."""
        for one in hashes:
            if self._wanted.get(one) is False:
                del self._wanted[one]

    def take(self, frame: bytes) -> list[Effect]:
        """A binary frame came. What was not asked for is dropped; a torn payload is asked for again."""
        try:
            piece = parse_piece(frame)
            if not self._wanted.get(piece.hash):
                return []
            whole = self._assembly.add(piece)
        except InvalidInput as error:
            return [Break(messages.Close.BAD_FRAME, error.code)]
        if whole is None and piece.total is not None:
            return []
        del self._wanted[piece.hash]
        return [KeepBlob(piece.hash, whole), *self._ask()]

    def _ask(self) -> list[Effect]:
        flying = sum(self._wanted.values())
        due = [h for h, asked in self._wanted.items() if not asked][: BLOBS_IN_FLIGHT - flying] if self._open else []
        self._wanted.update(dict.fromkeys(due, True))
        return [Send(messages.WantBlobs(hashes=tuple(due)))] if due else []


class ClientState:
    """One client over all its connections. `epoch` is the server database that the copies come from ("": none)."""

    def __init__(self, epoch: str = "", waiting: Sequence[messages.Command] = (), last: int = 0) -> None:
        self.epoch = epoch
        self.sender = OutboxSender(waiting, last)
        self.subscriptions = Subscriptions()
        self.wants = Wants()
        self._reading = ""
        self._tells_reading = False

    def read(self, session: str) -> list[Effect]:
        """The person here has a session open from now on, or ("") none."""
        if session == self._reading:
            return []
        self._reading = session
        return [Send(messages.Reading(session=session))] if self._tells_reading else []

    def welcomed(self, welcome: messages.Welcome, heads: Mapping[str, int], queues: int = 0) -> list[Effect]:
        """A connection begins; `heads` is how far each session is on disk, `queues` up to which change the queues are.
        """
        if self.epoch != welcome.epoch:
            other, self.epoch = bool(self.epoch), welcome.epoch
            if other:
                return [DropCopies(welcome.epoch, True)]
            return [DropCopies(welcome.epoch, False), *self._resume(welcome, {}, 0)]
        return self._resume(welcome, heads, queues)

    def _resume(self, welcome: messages.Welcome, heads: Mapping[str, int], queues: int) -> list[Effect]:
        effects = self.sender.connect(welcome.cseq, welcome.capabilities)
        if RenewIdentity() in effects:
            return effects
        follow = self.subscriptions.connect(heads)
        return [Send(messages.WatchSessions()), *self._watch_queues(welcome, queues), *follow, *effects,
                *self.wants.connect()]

    def _watch_queues(self, welcome: messages.Welcome, held: int) -> list[Effect]:
        """An older server would take the message for a broken frame."""
        scopes = set(welcome.scopes) if messages.CAN_QUEUE in welcome.capabilities else set()
        self._tells_reading = not scopes.isdisjoint({"review", "admin"})
        watch: list[Effect] = [] if scopes.isdisjoint({"view", "admin"}) else [Send(messages.WatchQueues(after=held))]
        reads = self._reading and self._tells_reading
        return [*watch, Send(messages.Reading(session=self._reading))] if reads else watch

    def disconnected(self) -> None:
        """The connection is gone."""
        self._tells_reading = False
        self.sender.disconnect()
        self.subscriptions.disconnect()
        self.wants.disconnect()

    def take(self, message: messages.Wire) -> list[Effect]:
        """A message came; what a client need not know is ignored."""
        match message:
            case messages.Events():
                return self.subscriptions.take(message)
            case messages.Ack() | messages.Nak():
                return self.sender.answered(message)
            case messages.Failed():
                return self._failed(message)
            case messages.Sessions() | messages.Queues() | messages.Deleted() | messages.Live() | messages.Readers():
                return [message]
        return []

    def _failed(self, failed: messages.Failed) -> list[Effect]:
        if failed.code == "cseq_taken":
            return [RenewIdentity(), failed]
        if failed.code == "ahead_of_log":
            return [*self.subscriptions.restart(failed.about), failed]
        return [failed]
