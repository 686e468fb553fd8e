"""A client that never reads costs the server one frame, and hinders nobody."""

from __future__ import annotations

import asyncio
import random
import tracemalloc
from pathlib import Path

from support.wire import admin_token, bodies_of, fill, log_of, raw_peer, running_client, serving, until

from core.protocol.frames import Assembly, parse_piece
from core.protocol.messages import Events, Seen, Subscribe, WantBlobs
from core.protocol.server_state import CREDIT_EVENTS
from core.store import blobs


def test_a_reader_that_is_stuck_costs_nothing_and_hinders_nobody(tmp_path: Path) -> None:
    """24 MB are written while three clients have stopped reading; a fourth has it all."""

    async def scenario() -> int:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await fill(server, "s", bodies_of(1))
            async with (
                raw_peer(server.url, token, client="one") as one,
                raw_peer(server.url, token, client="two") as two,
                raw_peer(server.url, token, client="three") as three,
                running_client(tmp_path / "copy.db", server.url, token, "s") as client,
            ):
                for peer in (one, two, three):
                    peer.socket.transport.pause_reading()
                    await peer.say(Subscribe(session="s"))
                bodies = bodies_of(50, 20_000)
                tracemalloc.start()
                before, _ = tracemalloc.get_traced_memory()
                for _ in range(24):
                    await fill(server, "s", bodies)
                try:  # tracing makes all of it many times slower
                    await until(lambda: client.replica.head("s") == 1201 and all(w.done() for w in client._writes),
                                seconds=60)
                    grown = tracemalloc.get_traced_memory()[0] - before
                finally:
                    tracemalloc.stop()
                three.socket.transport.resume_reading()
                events = await three.hear(Events)
                assert isinstance(events, Events) and events.first == 1, "it resumes where it stopped"
                return grown

    assert asyncio.run(scenario()) < 8 * 1024 * 1024
    assert log_of(tmp_path / "copy.db", "s") == log_of(tmp_path / "home/server.db", "s")


def test_a_reader_without_credit_gets_no_more_than_its_credit(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(CREDIT_EVENTS + 500))
            async with raw_peer(server.url, admin_token(tmp_path)) as peer:
                await peer.say(Subscribe(session="s"))
                got = 0
                while got < CREDIT_EVENTS:
                    events = await peer.hear(Events)
                    assert isinstance(events, Events) and events.first == got + 1
                    got += len(events.bodies)
                assert got == CREDIT_EVENTS
                await peer.say(Seen(session="s", seq=got))
                more = await peer.hear(Events)
                assert isinstance(more, Events) and more.first == got + 1

    asyncio.run(scenario())


def test_rows_are_conflated(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(1))
            async with running_client(tmp_path / "c.db", server.url, admin_token(tmp_path / "home")) as client:
                changes: list[int] = []
                client.replica.rows_changed.append(lambda: changes.append(client.replica.rows()[0].seq))
                await until(lambda: bool(changes))
                began = asyncio.get_running_loop().time()
                for _ in range(100):
                    await fill(server, "s", bodies_of(1))
                await until(lambda: changes[-1] == 101)
                took = asyncio.get_running_loop().time() - began
                assert len(changes) <= 5 * took + 3

    asyncio.run(scenario())


def test_a_large_payload_is_not_held_for_a_reader_that_is_stuck(tmp_path: Path) -> None:
    data = random.Random(1).randbytes(24 << 20)

    async def scenario() -> int:
        async with serving(tmp_path) as server:
            name = await server.hub.store(lambda conn: blobs.put(conn, data))
            async with raw_peer(server.url, admin_token(tmp_path)) as peer:
                peer.socket.transport.pause_reading()
                tracemalloc.start()
                await peer.say(WantBlobs(hashes=(name,)))
                connection = next(iter(server.hub._peers))
                await until(lambda: connection._door.turn.locked())  # type: ignore[attr-defined]
                held = tracemalloc.get_traced_memory()[0]
                tracemalloc.stop()
                peer.socket.transport.resume_reading()
                assembly, whole = Assembly(), None
                while whole is None:
                    frame = await peer.socket.recv()
                    whole = assembly.add(parse_piece(frame)) if isinstance(frame, bytes) else None
                assert blobs.decompress(whole) == data
                return held

    assert asyncio.run(scenario()) < 8 << 20
