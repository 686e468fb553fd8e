"""A client whose disk refuses a write, or is slow with it, takes up what is on disk when it connects again."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

from support.wire import admin_token, bodies_of, fill, raw, running_client, serving, until
from websockets.asyncio.server import ServerConnection, serve
from websockets.typing import Subprotocol

from core.aio import TaskScope
from core.client.client import Client
from core.client.replica import Replica
from core.protocol.codec import encode
from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Events, Welcome
from core.protocol.operations import AddNote
from core.store.sqlite import connect


@contextlib.contextmanager
def locked(replica: Replica) -> Iterator[None]:
    """Nobody can write the replica's file meanwhile."""
    with contextlib.closing(connect(replica.path)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


async def impatient(replica: Replica, milliseconds: int) -> None:
    """Let the replica's writer give up on a lock after so long."""
    await replica._writer.do(lambda conn: conn.execute(f"PRAGMA busy_timeout={milliseconds}").fetchall())


def test_an_answer_that_the_disk_refused_is_asked_for_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(1))
            async with running_client(tmp_path / "copy.db", server.url, admin_token(tmp_path / "home")) as client:
                await until(lambda: client.status.state == "online" and bool(client.replica.rows()))
                await impatient(client.replica, 20)
                await client.send("s", AddNote(step=0, text="a remark"))
                with locked(client.replica):
                    await until(lambda: client.status.state == "offline")
                await until(lambda: [c.state for c in client.replica.commands()] == ["acked"])

    asyncio.run(scenario())


def test_a_command_that_was_on_its_way_to_disk_when_the_client_was_made_is_sent(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(1))
            replica = Replica(tmp_path / "copy.db")
            async with TaskScope("test") as scope:
                with locked(replica):
                    adding = scope.spawn(replica.add("s", AddNote(step=0, text="a remark")), name="add")
                    await asyncio.sleep(0)
                    client = Client(replica, server.url, admin_token(tmp_path / "home"))
                await adding
                scope.spawn(client.run(), name="client")
                await until(lambda: [c.state for c in replica.commands()] == ["acked"])
            replica.close()

    asyncio.run(scenario())


@contextlib.asynccontextmanager
async def terse_server(bodies: Sequence[bytes]) -> AsyncIterator[str]:
    """Knows one session and says nothing but its events, once on each connection; its address."""
    async def talk(socket: ServerConnection) -> None:
        await socket.recv()
        await socket.send(encode(Welcome(protocol=PROTOCOL, epoch="e", program="terse")))
        while '"subscribe"' not in str(await socket.recv()):
            pass
        await socket.send(encode(Events(session="s", first=1, head=len(bodies), bodies=raw(bodies))))
        await socket.wait_closed()

    async with serve(talk, "127.0.0.1", 0, subprotocols=[Subprotocol(SUBPROTOCOL)], compression=None) as server:
        yield f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}"


def test_events_that_the_disk_refused_are_asked_for_again_though_nothing_follows_them(tmp_path: Path) -> None:
    bodies = bodies_of(3)

    async def scenario() -> None:
        replica = Replica(tmp_path / "copy.db")
        await replica.drop_copies("e", renew=False)
        await impatient(replica, 20)
        async with terse_server(bodies) as url, TaskScope("test") as scope:
            client = Client(replica, url, "token")
            client.watch("s")
            with locked(replica):
                scope.spawn(client.run(), name="client")
                await until(lambda: client.status.state == "offline")
                assert client.status.code == "store_write_failed" and "copy.db" in client.status.sentence
            await until(lambda: replica.head("s") == len(bodies))
        replica.close()

    asyncio.run(scenario())


def test_events_that_come_while_the_disk_is_slow_are_stored_by_few_commits(tmp_path: Path) -> None:
    bodies = bodies_of(8)
    commits: list[int] = []
    ranges: list[tuple[int, int]] = []

    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies[:1])
            async with running_client(tmp_path / "copy.db", server.url, admin_token(tmp_path / "home")) as client:
                client.replica.events_added.append(lambda _, first, last: ranges.append((first, last)))
                client.watch("s")
                await until(lambda: ranges == [(1, 1)])
                client.replica._writer.on_commit.append(lambda: commits.append(client.replica.head("s")))
                with locked(client.replica):
                    for body in bodies[1:]:
                        await fill(server, "s", [body])
                    await until(lambda: client._state.subscriptions._held["s"] == len(bodies))
                await until(lambda: ranges and ranges[-1][1] == client.replica.head("s") == len(bodies))

    asyncio.run(scenario())
    assert len(commits) <= 4, "one for what waited at first, and one for all that came meanwhile"
    assert [n for first, last in ranges for n in range(first, last + 1)] == list(range(1, len(bodies) + 1))
