"""The runner's way into the log: lease, fence, order, payloads."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.wire import (
    AGENT,
    account,
    admin_token,
    bodies_of,
    fill,
    log_of,
    raw,
    raw_peer,
    running_client,
    serving,
    until,
)

from core.domain.blob import blob_hash
from core.domain.events import (
    ControlAsked,
    GuidanceChangeAsked,
    GuidanceQueued,
    SessionCreated,
    StepAdded,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.step import StepHead
from core.domain.task import Task
from core.domain.verdict import Author
from core.protocol.frames import pieces
from core.protocol.messages import Append, Appended, Close, Command, Failed, Lease, Leased, Live, MissingBlobs
from core.protocol.operations import Guide
from core.store import blobs


def append(bodies: list[bytes], first: int = 1, fence: int = 1) -> Append:
    return Append(session="s", fence=fence, first=first, bodies=raw(bodies))


def test_entries_are_stored_once_however_often_they_are_sent(tmp_path: Path) -> None:
    entries = bodies_of(5)

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, account(tmp_path, "r", "agent:s")) as peer:
                assert await peer.ask(Lease(session="s", journal="j")) == Leased(session="s", fence=1, next=1)
                assert await peer.ask(append(entries[:3])) == Appended(session="s", upto=3)
                assert await peer.ask(append(entries[1:5], 2)) == Appended(session="s", upto=5)
                assert await peer.ask(append(entries, 1)) == Appended(session="s", upto=5)
                gap = await peer.ask(append(entries, 9))
                assert isinstance(gap, Failed) and (gap.code, gap.params) == ("journal_gap", {"expect": 6})
            async with raw_peer(server.url, admin_token(tmp_path)) as peer:
                assert await peer.ask(Lease(session="s", journal="j")) == Leased(session="s", fence=2, next=6)

    asyncio.run(scenario())
    assert log_of(tmp_path / "server.db", "s")[1:] == entries


def test_late_bytes_of_a_connection_that_a_runner_gave_up_do_not_fence_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            token = account(tmp_path, "r", "agent:s")
            async with raw_peer(server.url, token, client="j") as old, raw_peer(server.url, token, client="j") as new:
                await new.ask(Lease(session="s", journal="j"))
                await old.say(Lease(session="s", journal="j"))
                assert await old.closed() == Close.GAP
                assert await new.ask(append(bodies_of(1), fence=1)) == Appended(session="s", upto=1)
                async with raw_peer(server.url, token, client="j") as alive:
                    assert await alive.ask(Lease(session="s", journal="j")) == Leased(session="s", fence=2, next=2)
                    assert await new.closed() == Close.FENCED, "who comes back is another one, and newer"

    asyncio.run(scenario())


def test_a_newer_runner_fences_the_older_one(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            token = account(tmp_path, "r", "agent:s")
            async with raw_peer(server.url, token) as old, raw_peer(server.url, token) as new:
                await old.ask(Lease(session="s", journal="j"))
                assert await new.ask(Lease(session="s", journal="j")) == Leased(session="s", fence=2, next=1)
                assert await old.closed() == Close.FENCED
                async with raw_peer(server.url, token) as zombie:
                    refused = await zombie.ask(append(bodies_of(1), fence=1))
                    assert isinstance(refused, Failed) and refused.code == "fenced"
                    assert await zombie.closed() == Close.FENCED
                assert await new.ask(append(bodies_of(1), fence=2)) == Appended(session="s", upto=1)

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "server.db", "s")) == 2


def test_entries_wait_for_the_payloads_that_they_name(tmp_path: Path) -> None:
    data = b"thought and deed" * 1000
    entry = encode_event(make_event(StepAdded(head=StepHead(number=1), body=blob_hash(data)), AGENT))

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, account(tmp_path, "r", "agent:s")) as peer:
                await peer.ask(Lease(session="s", journal="j"))
                missing = await peer.ask(append([entry]))
                assert missing == MissingBlobs(session="s", hashes=(blob_hash(data),))
                for frame in pieces(blob_hash(data), blobs.compress(data)):
                    await peer.say(frame)
                assert await peer.ask(append([entry])) == Appended(session="s", upto=1)
                assert blobs.get(server.hub.reader, blob_hash(data)) == data

    asyncio.run(scenario())


def test_a_payload_under_a_false_name_ends_the_connection(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "r", "agent:s")) as peer:
            for frame in pieces(blob_hash(b"one"), blobs.compress(b"two")):
                await peer.say(frame)
            return await peer.closed()

    assert asyncio.run(scenario()) == Close.BAD_FRAME


def test_a_runner_cannot_speak_for_a_person(tmp_path: Path) -> None:
    """Neither in a person's name, nor in its own by facts that only a person's command makes."""
    queued = GuidanceQueued(guidance="g", text="obey me")
    forged = [make_event(queued, Author(kind="person", name="li")), *(make_event(fact, AGENT) for fact in (
        queued, GuidanceChangeAsked(guidance="g", request="r"), ControlAsked(control="stop"),
        VerdictGiven(step=1, value="keep"), SessionCreated(task=Task(id="t", title="T", description="d"))))]

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, account(tmp_path, "r", "agent:s")) as peer:
                await peer.ask(Lease(session="s", journal="j"))
                for event in forged:
                    refused = await peer.ask(append([encode_event(event)]))
                    assert isinstance(refused, Failed) and refused.code == "bad_author"

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "server.db", "s")) == 1


def test_a_lease_on_nothing_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, account(tmp_path, "r", "agent:s")) as peer:
            refused = await peer.ask(Lease(session="s", journal="j"))
            assert isinstance(refused, Failed) and (refused.code, refused.about) == ("no_session", "s")

    asyncio.run(scenario())


def test_live_text_reaches_who_looks_and_is_not_stored(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(1))
            seen: list[str] = []
            async with (
                running_client(tmp_path / "c.db", server.url, admin_token(tmp_path / "home"), "s") as client,
                raw_peer(server.url, account(tmp_path / "home", "r", "agent:s")) as runner,
            ):
                client.on_live.append(lambda session, channel, text: seen.append(text))
                await until(lambda: client.replica.head("s") == 1)
                await runner.ask(Lease(session="s", journal="j"))
                for n in range(500):
                    await runner.say(Live(session="s", channel="thought", text=f"so far {n}"))
                await until(lambda: bool(seen) and seen[-1] == "so far 499")
                assert len(seen) < 100, "conflated"

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "home/server.db", "s")) == 1


def test_a_gap_in_the_commands_closes_with_what_is_expected(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, admin_token(tmp_path)) as peer:
                gap = await peer.ask(Command(id="m5", cseq=5, session="s", op=Guide(guidance="g", text="x")))
                assert isinstance(gap, Failed) and (gap.code, gap.params) == ("cseq_gap", {"expect": 1})
                assert await peer.closed() == Close.GAP

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "server.db", "s")) == 1
