"""What one connection may ask for, whose live text is passed on and to whom, and a connection that is told to go."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path

import pytest
from support.wire import RawPeer, account, admin_token, bodies_of, fill, log_of, raw_peer, serving, until

from core.domain.blob import blob_hash
from core.protocol.codec import decode_from_server, encode
from core.protocol.frames import PIECE, pieces
from core.protocol.messages import (
    PROTOCOL,
    Ack,
    Close,
    Command,
    Failed,
    Hello,
    Lease,
    Leased,
    Live,
    Subscribe,
    WantBlobs,
    Welcome,
    Wire,
)
from core.protocol.operations import AddNote
from core.protocol.server_state import MAX_WANTS
from core.server import connection, incoming, plain_entrance, serve


def note(number: int) -> Command:
    return Command(id=f"n{number}", cseq=number, session="s", op=AddNote(step=0, text=str(number)))


async def heard(peer: RawPeer, last: type[Wire]) -> list[Wire]:
    """Every message up to the first of a kind."""
    messages: list[Wire] = []
    while not messages or not isinstance(messages[-1], last):
        frame = await asyncio.wait_for(peer.socket.recv(), 60)
        messages += [decode_from_server(frame)] if isinstance(frame, str) else []
    return messages


def test_live_text_is_the_lease_holders_and_goes_to_followers_only(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, contextlib.AsyncExitStack() as stack:
            for session in ("s", "t"):
                await fill(server, session, bodies_of(1))
            runner, follower, other = [await stack.enter_async_context(raw_peer(server.url, token, client=name))
                                       for name, token in (("r", account(tmp_path, "r", "agent:s")),
                                                           ("a", account(tmp_path, "a", "view")),
                                                           ("b", account(tmp_path, "b", "view")))]
            await follower.say(Subscribe(session="s", after=1))
            await other.say(Subscribe(session="t", after=1))
            await until(lambda: sum(bool(p._feeds) for p in server.hub._peers) == 2)
            await runner.say(Live(session="s", channel="before", text="no lease yet"))
            await runner.ask(Lease(session="s", journal="j"), Leased)
            await runner.say(Live(session="s", channel="after", text="a thought"))
            assert [m.channel for m in await heard(follower, Live)] == ["after"]
            await other.say(Subscribe(session="s", after=99))
            assert not any(isinstance(m, Live) for m in await heard(other, Failed))

    asyncio.run(scenario())


def test_too_many_payloads_at_once_end_the_connection(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await peer.say(WantBlobs(hashes=tuple(f"{number:064x}" for number in range(MAX_WANTS + 1))))
            failed = await peer.hear(Failed)
            assert failed.code == "too_many_wants" and await peer.closed() == Close.SLOW_DOWN

    asyncio.run(scenario())


def test_payloads_that_never_end_take_no_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(incoming, "INCOMPLETE_BYTES", 1_000)
    first = next(pieces(blob_hash(b""), bytes(PIECE + 1)))

    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await peer.say(first)
            failed = await peer.hear(Failed)
            assert failed.code == "blob_too_large" and await peer.closed() == Close.TOO_LARGE

    asyncio.run(scenario())


def test_who_commands_faster_than_allowed_waits_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                 ) -> None:
    monkeypatch.setattr(connection, "COMMANDS_PER_S", 4.0)
    monkeypatch.setattr(connection, "COMMANDS_AT_ONCE", 1.0)

    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await fill(server, "s", bodies_of(1))
            began = asyncio.get_running_loop().time()
            for number in range(1, 5):
                await peer.say(note(number))
            assert [(await peer.hear(Ack)).cseq for _ in range(4)] == [1, 2, 3, 4]
            assert asyncio.get_running_loop().time() - began > 0.7, "three of them had to wait for their turn"

    asyncio.run(scenario())


def test_a_connection_that_was_told_to_go_does_nothing_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            await fill(server, "s", bodies_of(1))
            (served,) = server.hub._peers
            served.drop(Close.TOKEN, "revoked")
            await served._hear(encode(note(1)))
            assert await peer.closed() == Close.TOKEN

    asyncio.run(scenario())
    assert len(log_of(tmp_path / "server.db", "s")) == 1


def test_one_account_may_have_so_many_connections_and_leaves_room_for_others(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, connections_of_account=3) as server, contextlib.AsyncExitStack() as stack:
            many, other = (account(tmp_path, name, "view") for name in ("many", "other"))
            for number in range(3):
                await stack.enter_async_context(raw_peer(server.url, many, client=f"c{number}"))
            async with raw_peer(server.url, many, hello=False) as peer:
                await peer.say(Hello(protocol=PROTOCOL, client="one-more"))
                refused = await peer.hear()
                assert isinstance(refused, Failed) and refused.code == "too_many_connections"
                assert refused.params == {"most": 3} and await peer.closed() == Close.SLOW_DOWN
            await stack.enter_async_context(raw_peer(server.url, other))
            await stack.aclose()
            await until(lambda: not server.hub.peers)
            async with raw_peer(server.url, many) as peer:
                assert isinstance(peer.welcome, Welcome)  # type: ignore[attr-defined]

    asyncio.run(scenario())


def test_where_a_loop_cannot_hold_strangers_outside_they_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch
                                                                      ) -> None:
    """As on Windows: who says nothing goes when too many come, and who was greeted stays."""
    monkeypatch.setattr(serve, "can_wait_outside", lambda _: False)
    monkeypatch.setattr(plain_entrance, "SHAKING_MOST", 10)
    monkeypatch.setattr(plain_entrance, "SHAKING_OF_ADDRESS", 5)

    async def scenario() -> None:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as known:
            port = int(server.url.rpartition(":")[2])
            strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
            async with asyncio.timeout(60):
                for reader, _ in strangers[:15]:
                    with contextlib.suppress(ConnectionError):
                        assert await reader.read() == b""
            assert not any(reader.at_eof() for reader, _ in strangers[15:])
            async with raw_peer(server.url, admin_token(tmp_path), client="late"):
                await known.ask(Lease(session="s", journal="j"), Failed)
            for _, writer in strangers:
                writer.close()

    asyncio.run(scenario())
