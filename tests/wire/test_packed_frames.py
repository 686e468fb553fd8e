"""Events that several subscribers get go out packed to those who can unpack them, and plain to the others."""

from __future__ import annotations

import asyncio
from pathlib import Path

from support.wire import admin_token, bodies_of, fill, log_of, raw_peer, running_client, serving, until
from websockets.asyncio.client import ClientConnection

from core.protocol.codec import decode_from_server
from core.protocol.frames import PACKED, is_packed, unpack
from core.protocol.messages import PROTOCOL, Events, Hello, Subscribe, Wire


async def events_of(socket: ClientConnection) -> tuple[Events, bool]:
    """The next events, and whether they came packed."""
    while True:
        frame = await asyncio.wait_for(socket.recv(), 60)
        packed = isinstance(frame, bytes) and is_packed(frame)
        message: Wire = decode_from_server(unpack(frame) if packed else frame)  # type: ignore[arg-type]
        if isinstance(message, Events):
            return message, packed


def test_only_who_can_unpack_gets_packed_frames_and_all_get_the_same(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(3, 20_000))
            asked = (((PACKED,), False), ((), False), ((PACKED,), True), ((PACKED, "more"), True))
            for capabilities, expected in asked:  # the first to stand there might be the only one
                async with raw_peer(server.url, admin_token(tmp_path), hello=False) as peer:
                    await peer.say(Hello(protocol=PROTOCOL, client="c", capabilities=capabilities))
                    await peer.say(Subscribe(session="s"))
                    events, packed = await events_of(peer.socket)
                    assert packed == expected
                    assert [bytes(b) for b in events.bodies] == log_of(tmp_path / "server.db", "s")

    asyncio.run(scenario())


def test_small_frames_are_not_worth_it(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            for _ in range(3):
                async with raw_peer(server.url, admin_token(tmp_path), hello=False) as peer:
                    await peer.say(Hello(protocol=PROTOCOL, client="c", capabilities=(PACKED,)))
                    await peer.say(Subscribe(session="s"))
                    assert not (await events_of(peer.socket))[1]

    asyncio.run(scenario())


def test_several_replicas_become_equal_to_the_log(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            async with (
                running_client(tmp_path / "1.db", server.url, token, "s") as one,
                running_client(tmp_path / "2.db", server.url, token, "s") as two,
            ):
                for _ in range(5):
                    await fill(server, "s", bodies_of(20, 3_000))
                await until(lambda: one.replica.head("s") == two.replica.head("s") == 100)

    asyncio.run(scenario())
    held = log_of(tmp_path / "home/server.db", "s")
    assert log_of(tmp_path / "1.db", "s") == held == log_of(tmp_path / "2.db", "s")
