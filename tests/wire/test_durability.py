"""What an answer promises, and what happens when the disk, a flood or a fuzzer stand in the way."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.wire import admin_token, bodies_of, fill, log_of, raw_peer, running_client, serving, until

from core.domain.errors import InvalidInput
from core.protocol.codec import decode_from_server, decode_to_server
from core.protocol.frames import parse_piece
from core.protocol.messages import PROTOCOL, Ack, Command, Hello
from core.protocol.operations import Guide
from core.protocol.server_state import ServerState
from core.server import connection, hub
from core.server.serve import Server

GOLDEN = [p.read_text(encoding="utf-8") for p in sorted((Path(__file__).parent / "golden").iterdir())]


def guide(n: int) -> Command:
    return Command(id=f"m{n}", cseq=n, session="s", op=Guide(guidance=f"g{n}", text="x"))


def test_nothing_is_acknowledged_before_it_is_committed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await fill(server, "s", bodies_of(1))
            ahead, behind, done = threading.Event(), threading.Event(), threading.Event()
            first = server.hub.writer.submit(lambda _: ahead.wait(60))
            await peer.say(guide(1))
            await until(lambda: server.hub.writer._queue.qsize() == 1)
            last = server.hub.writer.submit(lambda _: (done.set(), behind.wait(60)))
            ahead.set()
            await until(done.is_set)  # the command was carried out, its transaction is still open
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await peer.socket.recv()
            assert len(log_of(tmp_path / "server.db", "s")) == 1
            behind.set()
            assert isinstance(await peer.hear(Ack), Ack)
            assert len(log_of(tmp_path / "server.db", "s")) == 2
            await asyncio.gather(*map(asyncio.wrap_future, (first, last)))

    asyncio.run(scenario())


def test_a_full_disk_refuses_nothing_for_good(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(1))
            async with running_client(tmp_path / "c.db", server.url, admin_token(tmp_path / "home"), "s") as client:
                await until(lambda: client.status.state == "online")
                await server.hub.store(lambda conn: conn.execute("PRAGMA max_page_count=1").fetchone())
                first = await client.send("s", Guide(guidance="g", text="x" * 30_000))
                second = await client.send("s", Guide(guidance="h", text="x" * 30_000))
                await until(lambda: client.status.state == "offline")
                assert client.status.code == "store_write_failed"
                await server.hub.store(lambda conn: conn.execute("PRAGMA max_page_count=1000000").fetchone())
                client.hurry()
                assert isinstance(await client.answer(first), Ack)
                assert isinstance(await client.answer(second), Ack)

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "home/server.db", "s")) == 3


def test_a_flood_of_commands_is_slowed_down_and_answered_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "COMMANDS_AT_ONCE", 3)
    monkeypatch.setattr(connection, "COMMANDS_PER_S", 20)

    async def scenario() -> float:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await fill(server, "s", bodies_of(1))
            began = asyncio.get_running_loop().time()
            for n in range(1, 10):
                await peer.say(guide(n))
            assert [(await peer.hear(Ack)).cseq for _ in range(9)] == list(range(1, 10))  # type: ignore[attr-defined]
            return asyncio.get_running_loop().time() - began

    assert asyncio.run(scenario()) > 0.25


def test_what_is_sent_again_to_a_restored_server_need_not_wait_up_to_a_limit_for_the_account(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit holds for all connections of the account together; beyond it that of the connection holds."""
    monkeypatch.setattr(connection, "COMMANDS_AT_ONCE", 1)
    monkeypatch.setattr(connection, "COMMANDS_PER_S", 2)
    monkeypatch.setattr(hub, "AGAIN_AT_ONCE", 40)
    monkeypatch.setattr(hub, "AGAIN_PER_S", 1e-6)

    async def send(server: Server, client: str, first: int, upto: int) -> float:
        """How many seconds it takes until all are answered."""
        async with raw_peer(server.url, admin_token(tmp_path), client=client) as peer:
            began = asyncio.get_running_loop().time()
            for n in range(first, upto + 1):
                await peer.say(msgspec.structs.replace(guide(n), cseq=n - first + 1, again=True))
            for n in range(first, upto + 1):
                assert (await peer.hear(Ack)).id == f"m{n}"  # type: ignore[attr-defined]
            return asyncio.get_running_loop().time() - began

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            assert await send(server, "a", 1, 30) < 10, "at two a second it would take 15"
            assert await send(server, "b", 31, 43) > 0.9, "ten of the account's, one of the connection's, two that wait"

    asyncio.run(scenario())


@settings(max_examples=400)
@given(st.sampled_from(GOLDEN), st.integers(0, 400), st.integers(0, 30), st.text(max_size=12))
def test_torn_frames_are_bad_frames_and_nothing_worse(frame: str, at: int, gone: int, put: str) -> None:
    torn = frame[:at] + put + frame[at + gone :]
    state = ServerState(("admin",))
    state.take(Hello(protocol=PROTOCOL, client="c"))
    for decode in (decode_to_server, decode_from_server):
        try:
            message = decode(torn)
        except InvalidInput:
            continue
        if decode is decode_to_server:
            state.take(message)


@given(st.binary(max_size=120))
def test_torn_pieces_are_bad_frames_and_nothing_worse(frame: bytes) -> None:
    try:
        parse_piece(frame)
    except InvalidInput:
        return
