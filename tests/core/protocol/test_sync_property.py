"""Both pure machines over a pipe that loses, doubles, delays and cuts, against a model of ten lines.

The model: commands are applied once each, in the order in which the client queued them; the copy is the log.
"""

from __future__ import annotations

from collections import deque

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st
from support.proofs import tries

from core.protocol import client_effects as cs
from core.protocol import server_state as ss
from core.protocol.client_state import ClientState, OutboxSender
from core.protocol.codec import decode_from_server, decode_to_server, encode
from core.protocol.messages import PROTOCOL, Ack, Command, Events, Failed, Hello, Nak, Welcome
from core.protocol.operations import Guide
from core.protocol.server_state import ServerState

CHUNK = 3


class Disk:
    """What survives a crash of the client: its outbox and its copy."""

    def __init__(self) -> None:
        self.client, self.epoch = "c0", ""
        self.queued: list[Command] = []
        self.acked: list[Command] = []
        self.copy: list[bytes] = []

    def renew(self) -> None:
        self.client = f"c{int(self.client[1:]) + 1}"
        again = sorted([*self.acked, *self.queued], key=lambda c: c.cseq)
        self.queued = [msgspec.structs.replace(c, cseq=n) for n, c in enumerate(again, 1)]
        self.acked = []


class Database:
    """What survives a crash of the server."""

    def __init__(self) -> None:
        self.epoch = "e0"
        self.log: list[bytes] = []
        self.last: dict[str, int] = {}
        self.done: dict[str, Ack] = {}
        self.applied: list[str] = []

    def answer(self, client: str, command: Command) -> Ack | Failed:
        last = self.last.get(client, 0)
        if command.id in self.done:
            if command.cseq == last + 1:
                self.last[client] = command.cseq
            return msgspec.structs.replace(self.done[command.id], cseq=command.cseq)
        if command.cseq != last + 1:
            code = "cseq_gap" if command.cseq > last else "cseq_taken"
            return Failed(kind="Conflict", code=code, sentence="")
        self.last[client] = command.cseq
        self.applied.append(command.id)
        self.log.append(f'"{command.id}"'.encode())
        self.done[command.id] = Ack(id=command.id, cseq=command.cseq, result={"seq": len(self.log)})
        return self.done[command.id]


class Wire:
    """One connection with the frames that are on their way; the server's half lives on after the client left."""

    def __init__(self, database: Database) -> None:
        self.database, self.server = database, ServerState(("admin",))
        self.up: deque[str] = deque()
        self.down: deque[str] = deque()
        self.open = True

    def serve_one(self) -> None:
        if not self.up or not self.open:
            return
        for effect in self.server.take(decode_to_server(self.up.popleft())):
            self._do(effect)

    def _do(self, effect: ss.Effect) -> None:
        match effect:
            case Hello():
                self.down.append(encode(Welcome(protocol=PROTOCOL, epoch=self.database.epoch,
                                                cseq=self.database.last.get(effect.client, 0))))
            case Command():
                reply = self.database.answer(self.server.client, effect)
                self.down.append(encode(reply))
                self.open = isinstance(reply, Ack)
            case ss.Follow(session):
                if self.server.cursors[session].sent > len(self.database.log):
                    del self.server.cursors[session]
                    self.down.append(encode(Failed(kind="Conflict", code="ahead_of_log", sentence="", about=session)))
            case ss.Say(message):
                self.down.append(encode(message))
            case ss.Hang():
                self.open = False

    def pump(self) -> bool:
        cursor = self.server.cursors.get("s")
        if not self.open or cursor is None or not cursor.may_send:
            return False
        bodies = self.database.log[cursor.sent : cursor.sent + CHUNK]
        if not bodies:
            return False
        first = cursor.sent + 1
        cursor.advance(cursor.sent + len(bodies), sum(map(len, bodies)))
        self.down.append(encode(Events(session="s", first=first, head=len(self.database.log),
                                       bodies=tuple(msgspec.Raw(b) for b in bodies))))
        return True


class Peers:
    """Client and server with everything that can happen to them; each method is one thing that happens."""

    def __init__(self) -> None:
        self.disk, self.database = Disk(), Database()
        self.old: list[Wire] = []
        self.made: list[str] = []
        self.acked: set[str] = set()
        self.start_client()

    def start_client(self) -> None:
        self.wire: Wire | None = None
        self.greeted = False
        self.state = ClientState(self.disk.epoch, self.disk.queued)
        self.state.subscriptions.watch("s", len(self.disk.copy))

    # ---- what happens

    def connect(self) -> None:
        self.cut()
        self.wire = Wire(self.database)
        self.wire.up.append(encode(Hello(protocol=PROTOCOL, client=self.disk.client)))

    def cut(self) -> None:
        """The client lets go; what it sent may still reach the server later."""
        if self.wire is not None:
            self.wire.down.clear()
            self.old.append(self.wire)
        self.wire, self.greeted = None, False
        self.state.disconnected()

    def old_drains(self) -> None:
        for wire in self.old:
            wire.serve_one()

    def crash_client(self) -> None:
        self.cut()
        self.start_client()

    def crash_server(self) -> None:
        self.cut()
        self.old.clear()

    def queue(self) -> None:
        name = f"m{len(self.made)}"
        cseq = max((c.cseq for c in [*self.disk.queued, *self.disk.acked]), default=0) + 1
        command = Command(id=name, cseq=cseq, session="s", op=Guide(guidance=name, text="x"))
        self.made.append(name)
        self.disk.queued.append(command)
        self._carry_out(self.state.sender.add(command))

    def server_writes(self) -> None:
        self.database.log.append(f'"own {len(self.database.log)}"'.encode())

    def up(self) -> None:
        if self.wire:
            self.wire.serve_one()

    def pump(self) -> None:
        if self.wire:
            self.wire.pump()

    def down(self) -> None:
        if self.wire and self.wire.down:
            self._hear(self.wire.down.popleft())
        elif self.wire and not self.wire.open:
            self.cut()

    def swallow_up(self) -> None:
        if self.wire and self.greeted and self.wire.up:
            self.wire.up.popleft()

    def swallow_down(self) -> None:
        if self.wire and self.greeted and self.wire.down:
            self.wire.down.popleft()

    def double_up(self) -> None:
        if self.wire and self.greeted and self.wire.up:
            self.wire.up.append(self.wire.up[0])

    def double_down(self) -> None:
        if self.wire and self.greeted and self.wire.down:
            self.wire.down.append(self.wire.down[0])

    def restore_server(self) -> None:
        """The database comes back from a backup that lacks the newest third; a new epoch says so."""
        self.crash_server()
        lost = self.database.applied[len(self.database.applied) * 2 // 3 :]
        self.database.applied = [a for a in self.database.applied if a not in lost]
        self.database.log = [b for b in self.database.log if b.decode().strip('"') not in lost]
        self.database.done = {k: v for k, v in self.database.done.items() if k not in lost}
        self.database.last = {}
        self.database.epoch += "'"

    # ---- the shell

    def _hear(self, frame: str) -> None:
        message = decode_from_server(frame)
        if isinstance(message, Welcome):
            self.greeted = True
            self._carry_out(self.state.welcomed(message, {"s": len(self.disk.copy)}))
        elif self.greeted:
            self._carry_out(self.state.take(message))

    def _carry_out(self, effects: list[cs.Effect]) -> None:
        for effect in effects:
            self._do(effect)

    def _do(self, effect: cs.Effect) -> None:
        match effect:
            case cs.Send(message) if self.wire is not None:
                self.wire.up.append(encode(message))
            case cs.Place(session, first, bodies):
                assert first == len(self.disk.copy) + 1
                self.disk.copy += bodies
                self._carry_out(self.state.subscriptions.placed(session, len(self.disk.copy)))
            case Ack() | Nak():
                assert effect.id in self.database.done, "acknowledged before it was stored"
                held = next(c for c in self.disk.queued if c.id == effect.id)
                self.disk.queued.remove(held)
                self.disk.acked.append(held)
                self.acked.add(effect.id)
            case cs.DropCopies(epoch, renew):
                self.disk.copy, self.disk.epoch = [], epoch
                if renew:
                    self._renew()
            case cs.ForgetSession():
                self.disk.copy = []
            case cs.RenewIdentity():
                self._renew()
            case cs.Break():
                self.cut()

    def _renew(self) -> None:
        self.disk.renew()
        self.state.sender = OutboxSender(self.disk.queued)
        self.cut()

    def settle(self) -> None:
        """The faults stop: a few connections must be enough."""
        self.old.clear()
        for _ in range(6):
            self.connect()
            moved = True
            while moved and self.wire is not None:
                moved = bool(self.wire.up or self.wire.down)
                self.up()
                moved = (self.wire is not None and self.wire.pump()) or moved
                self.down()
            if not self.disk.queued and self.disk.copy == self.database.log:
                return


HAPPENINGS = ["connect", "queue", "queue", "server_writes", "up", "up", "up", "pump", "down", "down", "down", "cut",
              "old_drains", "crash_client", "crash_server", "swallow_up", "swallow_down", "double_up", "double_down"]


@settings(max_examples=tries(2000), deadline=None)
@given(st.lists(st.sampled_from(HAPPENINGS), min_size=5, max_size=120))
def test_the_copy_is_the_log_and_each_command_is_applied_once_in_order(happenings: list[str]) -> None:
    peers = Peers()
    peers.connect()
    for name in happenings:
        getattr(peers, name)()
    peers.settle()
    assert peers.database.applied == peers.made
    assert peers.disk.copy == peers.database.log
    assert peers.acked == set(peers.made)


@settings(max_examples=tries(1500), deadline=None)
@given(st.lists(st.sampled_from([*HAPPENINGS, "restore_server"]), min_size=20, max_size=120))
def test_a_restored_server_gets_every_command_again_once_each(happenings: list[str]) -> None:
    peers = Peers()
    peers.connect()
    for name in happenings:
        getattr(peers, name)()
    peers.settle()
    assert sorted(peers.database.applied) == sorted(peers.made)
    assert peers.disk.copy == peers.database.log
