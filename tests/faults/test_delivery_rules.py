"""Each delivery rule keeps a promise, and without the rule the promise is broken: so its test would notice."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from faults import mutants
from support.agents import Crash, Stage
from support.wire import admin_token, bodies_of, raw, raw_peer, running_client, serving

from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.client.replica import Replica
from core.domain.errors import ReportableError
from core.domain.events import (
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceQueued,
    SessionCreated,
    StepAdded,
    StepStarted,
    encode_event,
    make_event,
)
from core.domain.message import Message, ToolCall
from core.domain.step import Usage, decode_body
from core.domain.task import Task
from core.domain.verdict import Author
from core.llm.model import Completion, OnText, Request, estimate_tokens
from core.protocol.client_state import ClientState
from core.protocol.messages import PROTOCOL, Ack, Append, Command, Failed, Lease, Leased, Welcome
from core.protocol.operations import CreateSession, Guide
from core.store import log, outbox
from core.store.lock import FileLock
from core.store.schema import open_log
from core.store.sqlite import connect, transaction
from core.store.writer import Writer

TASK = Task(id="t", title="T", description="d")
PERSON = Author(kind="person", name="Ada")


def r1_what_was_told_as_sent_is_in_the_outbox(folder: Path) -> None:
    async def scenario() -> None:
        replica = Replica(folder / "r.db")
        with contextlib.closing(connect(folder / "r.db", readonly=True)) as disk:
            await replica.add("s", Guide(guidance="g", text="x"))
            assert [q.cseq for q in outbox.pending(disk)] == [1]
            await asyncio.sleep(0.5)
        replica.close()

    asyncio.run(scenario())


def r2_no_commit_holds_an_effect_without_its_answer(folder: Path) -> None:
    seen: list[tuple[int, int]] = []

    async def scenario() -> None:
        async with (
            serving(folder / "home") as server,
            running_client(folder / "c.db", server.url, admin_token(folder / "home")) as client,
        ):
            conn = connect(folder / "home/server.db", readonly=True)
            counts = "SELECT (SELECT count(*) FROM event), (SELECT count(*) FROM command)"
            server.hub.writer.on_commit.append(lambda: seen.append(conn.execute(counts).fetchone()))
            await client.send("s", CreateSession(task=TASK))
            await client.answer(await client.send("s", Guide(guidance="g", text="x")))
            server.hub.writer.on_commit.pop()
            conn.close()

    asyncio.run(scenario())
    assert seen
    assert all(effects == answers for effects, answers in seen)


def r3_a_command_that_is_not_the_next_is_refused(folder: Path) -> None:
    async def scenario() -> None:
        async with (
            serving(folder / "home") as server,
            raw_peer(server.url, admin_token(folder / "home"), client="c") as peer,
        ):
            await peer.ask(Command(id="a", cseq=1, session="s", op=CreateSession(task=TASK)), Ack)
            early = await peer.ask(Command(id="c", cseq=3, session="s", op=Guide(guidance="g3", text="x")))
            assert isinstance(early, Failed) and early.code == "cseq_gap"
            assert await peer.closed() == 4409

    asyncio.run(scenario())


def r4_the_cursor_of_a_copy_never_leads_its_events(folder: Path) -> None:
    heads: list[tuple[int, int]] = []

    async def scenario() -> None:
        replica = Replica(folder / "r.db")
        with contextlib.closing(connect(folder / "r.db", readonly=True)) as disk:
            counts = "SELECT (SELECT max(head) FROM session), (SELECT count(*) FROM event)"
            replica._writer.on_commit.append(lambda: heads.append(disk.execute(counts).fetchone()))
            await replica.place("s", 1, bodies_of(3))
            with pytest.raises(ReportableError):
                await replica.place("s", 5, bodies_of(1))
            replica.close()

    asyncio.run(scenario())
    assert heads and all(head == count for head, count in heads)


def r5_a_result_is_handed_out_after_its_commit(folder: Path) -> None:
    writer = Writer(folder / "log.db")
    with contextlib.closing(connect(folder / "log.db", readonly=True)) as disk:
        try:
            writer.do_blocking(lambda conn: log.create(conn, "s"))
            assert len(log.rows(disk)) == 1
        finally:
            writer.close()


def r6_no_commit_holds_delivered_guidance_without_its_step(folder: Path) -> None:
    unbound: list[str] = []

    def boundary(name: str, when: str) -> None:
        if when == "after" and name != "open":
            facts = stage.journal.facts()
            delivered = {f.guidance for f in facts if isinstance(f, GuidanceDelivered)}
            held = {g for f in facts if isinstance(f, StepStarted) for g in f.guidance}
            unbound.extend(delivered - held)

    stage = Stage(folder, _Model(), boundary=None)
    stage.journal._boundary = boundary
    stage.inbox.take(1, [_event(SessionCreated(task=TASK)), _event(GuidanceQueued(guidance="g", text="x"))])
    stage.steps.begin()
    stage.close()
    assert unbound == []


def r7_of_two_runners_only_one_is_heard(folder: Path) -> None:
    first, second = FileLock(folder / "runner.lock"), FileLock(folder / "runner.lock")
    assert first.take()
    assert not second.take()
    first.release()

    async def scenario() -> None:
        home = folder / "home"
        async with (
            serving(home) as server,
            raw_peer(server.url, admin_token(home), client="old") as old,
            raw_peer(server.url, admin_token(home), client="new") as new,
        ):
            await old.ask(Command(id="a", cseq=1, session="s", op=CreateSession(task=TASK)), Ack)
            leased = await old.ask(Lease(session="s", journal="j"), Leased)
            await new.ask(Lease(session="s", journal="j"), Leased)
            assert isinstance(leased, Leased)
            await old.say(Append(session="s", fence=leased.fence, first=1, bodies=raw(bodies_of(1))))
            assert await old.closed() == 4410
            assert log.head(server.hub.reader, "s") == 1

    asyncio.run(scenario())


def r8_an_action_that_was_begun_is_not_begun_again(folder: Path) -> None:
    assert len(_die_and_go_on(folder, "act after").acts) == 1


def r9_only_the_answer_that_is_kept_is_acted_upon(folder: Path) -> None:
    told = _die_and_go_on(folder, "act after")
    assert {call for _, call in told.acts} <= told.kept


def r10_what_the_model_has_seen_cannot_be_withdrawn(folder: Path) -> None:
    journal = Journal(folder / "journal.db", "s")
    inbox = Inbox(journal)
    inbox.take(1, [_event(GuidanceQueued(guidance="g", text="x"))])
    inbox.bind(1)
    inbox.take(2, [_event(GuidanceChangeAsked(guidance="g", request="r", text=None))])
    last = journal.facts()[-1]
    journal.close()
    assert isinstance(last, GuidanceChangeRefused)


def r11_another_database_gets_what_the_former_one_acknowledged(folder: Path) -> None:
    conn = open_log(folder / "r.db")
    with transaction(conn):
        outbox.add(conn, "s", Guide(guidance="g", text="x"), id="a")
        outbox.answered(conn, "a", b"{}")
    told = ClientState("old").welcomed(Welcome(protocol=PROTOCOL, epoch="new", cseq=1), {"s": 5})
    with transaction(conn):
        outbox.renew(conn)
        waiting = [q.id for q in outbox.pending(conn)]
    conn.close()
    assert [type(effect).__name__ for effect in told] == ["DropCopies"] and waiting == ["a"]


def r12_what_was_acknowledged_stays_in_the_outbox(folder: Path) -> None:
    conn = open_log(folder / "r.db")
    with transaction(conn):
        for name in "ab":
            outbox.add(conn, "s", Guide(guidance=name, text="x"), id=name)
            outbox.answered(conn, name, b"{}")
        held = [q.id for q in outbox.recent(conn)]
    conn.close()
    assert held == ["b", "a"]


# ---- an agent that dies in the middle of its first action


class _Model:
    """Says something else each time that it is asked."""

    name = "model"

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        calls = (ToolCall(id=secrets.token_hex(4), name="run_command", arguments='{"command": "x"}'),)
        if request.step > 1:
            calls = (ToolCall(id="end", name="finish", arguments="{}"),)
        at = datetime.now(UTC)
        return Completion(
            message=Message(role="assistant", content="t", tool_calls=calls),
            usage=Usage(),
            model="m",
            finish_reason="stop",
            started_at=at,
            ended_at=at,
        )

    def count(self, message: Message) -> tuple[int, bool]:
        return estimate_tokens(message)

    async def close(self) -> None:
        return


class _Told:
    """What such an agent left: (step, call) of every action carried out, and the calls that its steps tell of."""

    def __init__(self, stage: Stage) -> None:
        self.acts = [(step, call) for step, call in stage.outside.read(stage.outside.acts)]
        bodies = [decode_body(stage.journal.blob(f.body)) for f in stage.facts(StepAdded)]
        self.kept = {action.call_id for body in bodies for action in body.actions}


def _die_and_go_on(folder: Path, at: str) -> _Told:
    dead: list[str] = []

    def boundary(name: str, when: str) -> None:
        if f"{name} {when}" == at and not dead:
            dead.append(at)
            raise Crash(at)

    for _ in range(2):
        stage = Stage(folder, _Model(), boundary=boundary)
        try:
            asyncio.run(stage.agent.run())
            return _Told(stage)
        except Crash:
            continue
        finally:
            stage.close()
    raise AssertionError("the agent died twice")


def _event(fact: object) -> bytes:
    return encode_event(make_event(fact, PERSON))  # type: ignore[arg-type]


PROMISES: dict[str, Callable[[Path], None]] = {
    name.split("_")[0].upper(): promise
    for name, promise in list(globals().items())
    if name[0] == "r" and name[1:].split("_")[0].isdigit()
}


def test_every_rule_has_a_promise_and_a_mutant() -> None:
    assert list(PROMISES) == list(mutants.MUTANTS) == [f"R{n}" for n in range(1, 13)]
    assert {rule for aim in mutants.AIMS for rule in aim.rules} == set(mutants.MUTANTS)


@pytest.mark.parametrize("rule", list(PROMISES))
def test_the_promise_of_a_rule_is_kept(rule: str, tmp_path: Path) -> None:
    PROMISES[rule](tmp_path)


@pytest.mark.parametrize("rule", list(PROMISES))
def test_without_the_rule_its_promise_is_broken(rule: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutants.apply(rule, monkeypatch.setattr)
    with pytest.raises((AssertionError, pytest.fail.Exception, TimeoutError, IndexError)):
        PROMISES[rule](tmp_path)
