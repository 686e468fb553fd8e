"""The delivery rules R1–R12, each with a way to take it out of the running program (none of this is in the product).

A mutant is what a reasonable author writes who does not know the rule, so it does its harm only under faults.
`test_delivery_rules.py` shows that a test fails without each rule, `run.py --without` what the product then loses.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec

from core.agents.delivery import Inbox
from core.agents.steps import OpenStep, StepJournal
from core.client import replica
from core.client.replica import Replica
from core.domain.errors import Conflict
from core.domain.events import GuidanceEdited, GuidanceWithdrawn, StepStarted, decode_event
from core.domain.ids import new_id
from core.domain.message import Message
from core.protocol import client_state
from core.server import append, connection, guidance, handlers
from core.store import commands, lock, log, outbox, writer
from core.store.sqlite import scalar

Put = Callable[[Any, str, Any], None]
MUTANTS: dict[str, Callable[[Put], None]] = {}


class Aim(msgspec.Struct, frozen=True, kw_only=True):
    """Faults against which rules stand: a death of `party` at each of its first `upto` boundaries, or what `chaos`
    (changes of `stand.Settings`) does at random for `seconds`."""

    rules: tuple[str, ...]
    party: str = ""
    upto: int = 0
    chaos: dict[str, Any] = {}


AIMS = (
    Aim(rules=("R2", "R5"), party="server", upto=32),
    Aim(rules=("R6", "R8", "R9"), party="agent", upto=56),
    Aim(rules=("R4",), party="client", upto=32),
    Aim(rules=("R1",), chaos={"faults": ("kill client",), "events_per_kill": 8.0}),
    Aim(rules=("R3",), chaos={"faults": ("reset",), "rate": 60.0, "burst": 6, "pause_s": 0.4, "steps": 400}),
    Aim(rules=("R7",), chaos={"faults": ("second runner",)}),
    Aim(rules=("R10",), chaos={"faults": ("kill runner",), "pause_s": 2.0, "pace_s": 0.1, "steps": 200}),
    Aim(rules=("R11", "R12"), chaos={"faults": ("restored backup", "reset")}),
)


def apply(rule: str, put: Put = setattr) -> None:
    """Take a rule out of this process, by `put(owner, name, value)`."""
    MUTANTS[rule](put)


def _mutant(make: Callable[[Put], None]) -> Callable[[Put], None]:
    MUTANTS[make.__name__.removeprefix("without_").upper()] = make
    return make


@_mutant
def without_r1(put: Put) -> None:
    """The client sends and says "sent" first; the outbox is written a little later."""

    async def add(self: Replica, session: str, op: Any, *, clear_draft: bool = False) -> outbox.Queued:
        last = max(getattr(self, "_told", 0), scalar(self._read, "SELECT max(cseq) FROM outbox") or 0)
        self._told = last + 1  # type: ignore[attr-defined]
        queued = outbox.Queued(cseq=last + 1, id=new_id(), session=session, op=op, created_at=datetime.now(UTC))
        row = (queued.cseq, queued.id, session, msgspec.json.encode(op), queued.created_at.isoformat())
        sql = "INSERT OR IGNORE INTO outbox (cseq, id, session, op, created_at) VALUES (?, ?, ?, ?, ?)"
        asyncio.get_running_loop().call_later(
            0.3, lambda: self._writer.submit(lambda conn: conn.execute(sql, row).rowcount)
        )
        return queued

    put(Replica, "add", add)


@_mutant
def without_r2(put: Put) -> None:
    """Effect and stored answer are two transactions."""

    def effect_only(conn: Any, client: str, principal: Any, command: Any, lookups: Any) -> Any:
        body = msgspec.json.encode([command.session, command.op])
        stored = commands.known(conn, client, command.id, command.cseq, body)
        return handlers._REPLY.decode(stored) if stored else handlers._attempt(conn, principal, command, lookups)

    async def run(self: connection.ConnectedClient, command: Any) -> None:
        client, lookups = self._state.client, self._hub.lookups
        body = msgspec.json.encode([command.session, command.op])
        try:
            reply = await self._hub.do(
                command.session, lambda conn: effect_only(conn, client, self.principal, command, lookups)
            )
            await asyncio.sleep(0.01)
            await self._hub.do(command.session, lambda conn: _remember_late(conn, client, command, body, reply))
        except Conflict as error:
            await self._fail(error, 4409)
            return
        await self._door.say(reply)

    put(connection.ConnectedClient, "_run", run)


def _remember_late(conn: Any, client: str, command: Any, body: bytes, reply: Any) -> None:
    if commands.known(conn, client, command.id, command.cseq, body) is None:
        commands.remember(conn, client, command.id, command.cseq, body, msgspec.json.encode(reply))


@_mutant
def without_r3(put: Put) -> None:
    """The server takes commands in any order; a client that reconnects goes on where it was, then repeats."""

    def known(conn: Any, client: str, id: str, cseq: int, body: bytes) -> bytes | None:
        stored: bytes | None = scalar(conn, "SELECT reply FROM command WHERE id = ?", id)
        return stored

    def count(conn: Any, client: str, cseq: int) -> None:
        conn.execute(
            "INSERT INTO sender VALUES (?1, ?2) ON CONFLICT (client) DO UPDATE SET cseq = max(cseq, ?2)", (client, cseq)
        )

    high = [0]  # the last number that went out on any connection

    def connect(self: client_state.OutboxSender, held: int) -> list[client_state.Effect]:
        newer = [n for n in sorted(self._waiting) if n > high[0]]
        older = [n for n in sorted(self._waiting) if n <= high[0]]
        self._open, self._sent = True, max(self._waiting, default=self._sent)
        high[0] = max(high[0], self._sent)
        return [client_state.Send(self._waiting[n]) for n in (*newer, *older)]

    pump = client_state.OutboxSender.pump

    def noted(self: client_state.OutboxSender) -> list[client_state.Effect]:
        told = pump(self)
        high[0] = max(high[0], self._sent)
        return told

    put(client_state.OutboxSender, "pump", noted)
    put(commands, "known", known)
    put(commands, "_count", count)
    put(client_state.OutboxSender, "connect", connect)


@_mutant
def without_r4(put: Put) -> None:
    """The copy's cursor and its events are two transactions, and nobody looks whether they fit."""

    def move(conn: Any, session: str, head: int) -> None:
        log.create(conn, session)
        conn.execute("UPDATE session SET head = ? WHERE id = ?", (head, session))

    def insert(conn: Any, session: str, first: int, bodies: Any) -> None:
        for seq, body in enumerate(bodies, first):
            conn.execute(
                "INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?)",
                (session, seq, *log._labels(decode_event(body)), body),
            )

    async def place(self: Replica, session: str, first: int, bodies: Any) -> int:
        head = first + len(bodies) - 1
        await self._writer.do(lambda conn: move(conn, session, head))
        await asyncio.sleep(0.01)
        await self._writer.do(lambda conn: insert(conn, session, first, bodies))
        replica.tell(self.events_added, session, first, head)
        return head

    put(Replica, "place", place)


@_mutant
def without_r5(put: Put) -> None:
    """Results are handed out when the work is done, before its COMMIT."""

    def commit(self: writer.Writer, batch: Any) -> None:
        wanted = [(work, future) for work, future, _ in batch if future.set_running_or_notify_cancel()]
        self._conn.execute("BEGIN IMMEDIATE")
        for work, future in wanted:
            result, failure = self._piece(work)
            future.set_result(result) if failure is None else future.set_exception(failure)
        time.sleep(0.15)  # a disk that is as slow as disks can be
        self._conn.execute("COMMIT")
        self._tell()

    put(writer.Writer, "_commit", commit)


@_mutant
def without_r6(put: Put) -> None:
    """Guidance is marked as delivered in one transaction, and the step begun in the next."""

    def begin(self: StepJournal) -> OpenStep:
        if self.open is not None:
            return self.open
        progress = self.progress
        number = progress.steps + 1
        with self._journal.transaction("bind"):
            bound = self._inbox.bind(number)
        time.sleep(0.03)
        with self._journal.transaction("begin"):
            lines = [
                self.line(Message(role="user", content=guidance_text(g.text)), f"guidance:{g.id}", number)
                for g in bound
            ]
            lines.append(self.line(Message(role="user", content=note(number, self.limits, progress)), "note", number))
            opened = OpenStep(number=number, extra=tuple(lines), started_at=datetime.now(UTC))
            self._journal.add(StepStarted(number=number, guidance=tuple(g.id for g in bound)))
            self._journal.put_slot("open", opened)
        return opened

    from core.agents.prompts import guidance_text, note

    put(StepJournal, "begin", begin)


@_mutant
def without_r7(put: Put) -> None:
    """Neither a lock nor a fence keeps two runners apart."""

    def append_journal(conn: Any, session: str, fence: int, first: int, bodies: Any) -> int:
        (held,) = conn.execute("SELECT journal_next FROM session WHERE id = ?", (session,)).fetchone()
        if first > held:
            raise Conflict("journal_gap", "a gap", expect=held)
        fresh = bodies[held - first :]
        log.append(conn, session, fresh)
        conn.execute("UPDATE session SET journal_next = ? WHERE id = ?", (held + len(fresh), session))
        return int(held) + len(fresh) - 1

    put(log, "append_journal", append_journal)
    put(append.log, "append_journal", append_journal)
    put(lock.FileLock, "_try", lambda self: True if "runner" in self.path.name else _TRY(self))
    from core.server.hub import Hub

    put(Hub, "fence", lambda self, session, holder: None)


_TRY = lock.FileLock._try


@_mutant
def without_r8(put: Put) -> None:
    """Nothing is written down before an action is carried out."""

    def done(self: StepJournal, step: int, place: int, observation: Any) -> None:
        with self._journal.transaction("done"):
            self._journal.sql(
                "INSERT OR REPLACE INTO call (step, place, action, observation) VALUES (?, ?, x'', ?)",
                (step, place, msgspec.json.encode(observation)),
            )

    put(StepJournal, "intend", lambda self, step, place, action: None)
    put(StepJournal, "intended", lambda self, step, place: False)
    put(StepJournal, "done", done)


@_mutant
def without_r9(put: Put) -> None:
    """The model's answer is acted upon before it is kept."""

    def answered(self: StepJournal, opened: OpenStep, completion: Any) -> OpenStep:
        reply = self.line(completion.message, f"step:{opened.number}", opened.number).ref
        return msgspec.structs.replace(opened, completion=completion, reply=reply)

    put(StepJournal, "answered", answered)


@_mutant
def without_r10(put: Put) -> None:
    """Edits and withdrawals succeed, whatever became of the guidance meanwhile."""

    def decide(self: Inbox, fact: Any) -> None:
        if not self._journal.sql("INSERT OR IGNORE INTO change VALUES (?) RETURNING request", (fact.request,)):
            return
        if fact.text is None:
            self._set(fact.guidance, state="withdrawn")
            self._journal.add(GuidanceWithdrawn(guidance=fact.guidance, request=fact.request))
        else:
            self._set(fact.guidance, text=fact.text)
            self._journal.add(GuidanceEdited(guidance=fact.guidance, text=fact.text, request=fact.request))

    put(Inbox, "_decide", decide)
    put(guidance, "_check_open", lambda name, facts: None)


@_mutant
def without_r11(put: Put) -> None:
    """Nobody looks whether the server's database is still the same one; only what waits is ever sent again."""
    welcomed, renew = client_state.ClientState.welcomed, outbox.renew

    def careless(self: client_state.ClientState, welcome: Any, heads: Any) -> list[client_state.Effect]:
        first, self.epoch = not self.epoch, welcome.epoch
        told = welcomed(self, welcome, heads)
        return [client_state.DropCopies(welcome.epoch, False), *told] if first else told

    put(client_state.ClientState, "welcomed", careless)
    put(outbox, "renew", lambda conn, keep=None: renew(conn, timedelta(0)))
    put(Inbox, "rewind", lambda self: None)


@_mutant
def without_r12(put: Put) -> None:
    """A command leaves the outbox as soon as it is acknowledged."""
    answered = outbox.answered

    def forget(conn: Any, id: str, reply: bytes, refused: bool = False) -> bool:
        known = answered(conn, id, reply, refused)
        conn.execute("DELETE FROM outbox WHERE state != 'queued' AND cseq < (SELECT max(cseq) FROM outbox)")
        return known

    put(outbox, "answered", forget)
