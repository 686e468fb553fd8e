"""What each token may do: every operation and every message, over the wire."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.wire import account, admin_token, bodies_of, fill, raw, raw_peer, serving

from core.domain.attention import Thresholds
from core.domain.blob import blob_hash
from core.domain.events import SessionCreated, SubmissionRescored, encode_event, make_event
from core.domain.task import AgentSettings, Task
from core.domain.verdict import Author
from core.protocol.messages import (
    Ack,
    Append,
    Appended,
    Close,
    Command,
    Events,
    Failed,
    Lease,
    Leased,
    Nak,
    Sessions,
    Subscribe,
    ToServer,
    WantBlobs,
    WatchSessions,
)
from core.protocol.operations import (
    Act,
    AddNote,
    AnyOp,
    BranchSession,
    CallSubagent,
    ChangeGuidance,
    ChangeQueue,
    ClearAttention,
    ContinueSession,
    Control,
    CreateSession,
    DeleteSession,
    FinishInQueue,
    GiveBack,
    GiveVerdict,
    Guide,
    HandBack,
    ImportSession,
    MakeQueue,
    MergeOpinions,
    Op,
    Rescore,
    RestoreSession,
    SetTag,
    SetThresholds,
    TakeFromQueue,
    TakeOver,
    TellTime,
)
from core.protocol.scopes import SCOPE_OF_MESSAGE, SCOPE_OF_OP

OPS: dict[type[Op], Op] = {
    CreateSession: CreateSession(task="no-such-task"),
    ImportSession: ImportSession(origin="atif"),
    Guide: Guide(guidance="g", text="x"),
    ChangeGuidance: ChangeGuidance(guidance="g"),
    TakeOver: TakeOver(),
    Act: Act(tool="act"),
    HandBack: HandBack(),
    Control: Control(control="stop"),
    ContinueSession: ContinueSession(),
    RestoreSession: RestoreSession(snapshot="none"),
    BranchSession: BranchSession(parent="none", step=1),
    CallSubagent: CallSubagent(caller="s", step=1),
    ClearAttention: ClearAttention(kind="loop"),
    SetThresholds: SetThresholds(thresholds=Thresholds(errors=5)),
    GiveVerdict: GiveVerdict(step=1, value="keep"),
    MakeQueue: MakeQueue(name="Q", sessions=("s",)),
    ChangeQueue: ChangeQueue(closed=True),
    TakeFromQueue: TakeFromQueue(),
    GiveBack: GiveBack(given="s"),
    FinishInQueue: FinishInQueue(finished="s"),
    AddNote: AddNote(step=0, text="x"),
    SetTag: SetTag(step=0, tag="x"),
    MergeOpinions: MergeOpinions(opinions=()),
    Rescore: Rescore(score=SubmissionRescored(ordinal=1, evaluator="e", version="1", total=1.0)),
    TellTime: TellTime(seconds={1: 1.0}),
    DeleteSession: DeleteSession(),
}


def test_the_tables_name_every_operation_and_message() -> None:
    assert set(SCOPE_OF_OP) == set(AnyOp.__args__) == set(OPS)  # type: ignore[attr-defined]
    assert set(SCOPE_OF_MESSAGE) == set(ToServer.__args__)  # type: ignore[attr-defined]


@pytest.mark.parametrize("scope", ["view", "guide", "review", "admin", "agent:s"])
def test_a_token_may_exactly_what_its_scope_names(tmp_path: Path, scope: str) -> None:
    async def scenario() -> dict[type[Op], bool]:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            token = account(tmp_path, "li", scope)
            async with raw_peer(server.url, token, client="li") as peer:
                may = {}
                for n, (kind, op) in enumerate(OPS.items(), 1):
                    reply = await peer.ask(Command(id=f"m{n}", cseq=n, session="s", op=op))  # type: ignore[arg-type]
                    assert isinstance(reply, (Ack, Nak))
                    may[kind] = not (isinstance(reply, Nak) and reply.code == "missing_scope")
                return may

    expected = {kind: scope in ("admin", needed, f"{needed}:s") for kind, needed in SCOPE_OF_OP.items()}
    assert asyncio.run(scenario()) == expected


@pytest.mark.parametrize("scope", ["view", "guide", "agent:s", "agent:other"])
def test_reading_needs_view_or_the_session_s_own_runner(tmp_path: Path, scope: str) -> None:
    async def scenario() -> list[str]:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, account(tmp_path, "li", scope)) as peer:
                answers = [await peer.ask(Subscribe(session="s")), await peer.ask(WatchSessions())]
                return [type(t).__name__ for t in answers]

    expected = {"view": [Events, Sessions], "agent:s": [Events, Failed]}.get(scope, [Failed, Failed])
    assert asyncio.run(scenario()) == [t.__name__ for t in expected]


def test_a_runner_from_outside_takes_what_waits_for_one_and_nothing_else_and_only_one_does(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            outside = SessionCreated(task=Task(id="t", title="T", description="D"), agent=AgentSettings(kind="outside"))
            await fill(server, "s", bodies_of(1))
            await fill(server, "o", [encode_event(make_event(outside, Author(kind="person", name="p")))])
            token = account(tmp_path, "li", "run")
            async with raw_peer(server.url, token) as peer, raw_peer(server.url, token, client="other") as other:
                denied = await peer.ask(Lease(session="s", journal="j"))
                assert isinstance(denied, Failed) and (denied.code, denied.about) == ("missing_scope", "s")
                early = await peer.ask(Append(session="o", fence=1, first=1, bodies=raw(bodies_of(1))))
                assert isinstance(early, Failed) and early.code == "missing_scope"
                assert isinstance(await peer.ask(Lease(session="o", journal="j")), Leased)
                taken = await other.ask(Lease(session="o", journal="k"))
                assert isinstance(taken, Failed) and taken.code == "session_taken"
                told = await peer.ask(Append(session="o", fence=1, first=1, bodies=raw(bodies_of(1))))
                assert told == Appended(session="o", upto=1)

    asyncio.run(scenario())


@pytest.mark.parametrize(
    ("scope", "may"), [("agent:s", True), ("admin", True), ("agent:other", False), ("guide", False)])
def test_only_the_session_s_runner_writes_its_log(tmp_path: Path, scope: str, may: bool) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, account(tmp_path, "li", scope)) as peer:
                leased = await peer.ask(Lease(session="s", journal="j"))
                if not may:
                    assert isinstance(leased, Failed) and await peer.closed() == Close.SCOPE
                    return
                assert isinstance(leased, Leased)
                reply = await peer.ask(Append(session="s", fence=leased.fence, first=1, bodies=raw(bodies_of(2))))
                assert reply == Appended(session="s", upto=2)

    asyncio.run(scenario())


def test_a_person_may_not_upload_payloads(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "li", "view", "guide")) as peer:
            await peer.say(b"\x01" + bytes(48))
            return await peer.closed()

    assert asyncio.run(scenario()) == Close.SCOPE


def test_what_would_run_on_the_server_at_will_needs_admin(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        own = CreateSession(task=Task(id="t", title="T", description="d"))
        local = CreateSession(task="t", agent=AgentSettings(sandbox="local"))
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "li", "guide")) as peer:
            replies = [await peer.ask(Command(id=f"m{n}", cseq=n, session="s", op=op))
                       for n, op in enumerate((own, local), 1)]
            return [getattr(r, "code", "") for r in replies]

    assert asyncio.run(scenario()) == ["missing_scope"] * 2


def test_a_refusal_is_remembered_like_any_answer(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "li", "view")) as peer:
            command = Command(id="m1", cseq=1, session="s", op=Guide(guidance="g", text="x"))
            assert await peer.ask(command) == await peer.ask(command)

    asyncio.run(scenario())


def test_an_agent_s_token_gets_the_payloads_it_names(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "li", "agent:s")) as peer:
            await peer.say(WantBlobs(hashes=(blob_hash(b"x"),)))
            assert isinstance(await asyncio.wait_for(peer.socket.recv(), 60), bytes)

    asyncio.run(scenario())
    assert admin_token(tmp_path)
