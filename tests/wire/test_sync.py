"""Client, server and SQLite over a real socket: a replica equals the log, commands arrive once, whatever is cut."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from pathlib import Path

from support.cutter import cutter
from support.wire import AGENT, admin_token, bodies_of, fill, log_of, raw_peer, running_client, serving, settings, until

from core.domain.blob import blob_hash
from core.domain.events import GuidanceQueued, NoteAdded, decode_event, encode_event, make_event
from core.domain.task import Task
from core.protocol.messages import Ack, Lease, Leased, Nak
from core.protocol.operations import CreateSession, Guide
from core.server.serve import Server
from core.store import blobs
from core.store.home import Home
from core.store.sqlite import connect, transaction

TASK = Task(id="t", title="T", description="d")


def guidance_in(folder: Path, session: str = "s") -> list[str]:
    facts = (decode_event(b).fact for b in log_of(folder, session))
    return [f.guidance for f in facts if isinstance(f, GuidanceQueued)]


def test_a_replica_becomes_equal_to_the_log_and_stays_so(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(700))
            async with running_client(tmp_path / "copy.db", server.url, admin_token(tmp_path / "home"), "s") as client:
                await until(lambda: client.replica.head("s") == 700)
                await fill(server, "s", bodies_of(50))
                await until(lambda: client.replica.head("s") == 750)
                await until(lambda: [r.seq for r in client.replica.rows()] == [750])

    asyncio.run(scenario())
    assert log_of(tmp_path / "copy.db", "s") == log_of(tmp_path / "home/server.db", "s")


def test_commands_are_answered_and_their_events_come_back(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with (
            serving(tmp_path / "home") as server,
            running_client(tmp_path / "copy.db", server.url, admin_token(tmp_path / "home"), "s") as client,
        ):
            made = await client.answer(await client.send("s", CreateSession(task=TASK)))
            assert isinstance(made, Ack) and made.result == {"seq": 1}
            guided = await client.answer(await client.send("s", Guide(guidance="g", text="use the other split")))
            assert isinstance(guided, Ack)
            again = await client.answer(await client.send("s", Guide(guidance="g", text="other")))
            assert isinstance(again, Nak) and again.code == "guidance_exists"
            await until(lambda: client.replica.head("s") == 2)
            assert client.replica.trajectory("s").guidance["g"].text == "use the other split"
            assert [c.state for c in client.replica.commands()] == ["refused", "acked", "acked"]

    asyncio.run(scenario())


def test_cuts_in_the_middle_of_frames_lose_and_double_nothing(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server, cutter(server.url) as proxy:
            noise = [NoteAdded(step=0, text=secrets.token_hex(200)) for _ in range(1500)]  # nothing makes it small
            await fill(server, "s", [encode_event(make_event(fact, AGENT)) for fact in noise])
            token = admin_token(tmp_path / "home")
            proxy.budgets = [700, 3_000, 30_000, 2_000, 60_000, 50_001, 49_999]
            async with running_client(tmp_path / "copy.db", proxy.url, token, "s") as client:
                sent = [await client.send("s", Guide(guidance=f"g{n}", text=f"advice {n}")) for n in range(24)]
                for one in sent:
                    assert isinstance(await client.answer(one), Ack)
                await until(lambda: client.replica.head("s") == 1524)
                assert proxy.cuts >= 5

    asyncio.run(scenario())
    assert guidance_in(tmp_path / "home/server.db") == [f"g{n}" for n in range(24)]
    assert log_of(tmp_path / "copy.db", "s") == log_of(tmp_path / "home/server.db", "s")


def test_what_was_queued_without_a_server_is_delivered_once_and_in_order(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            url, token = server.url, admin_token(tmp_path / "home")
            await fill(server, "s", bodies_of(1))
        async with running_client(tmp_path / "copy.db", url, token, "s") as client:
            await until(lambda: client.status.state == "offline")
            for n in range(100):
                await client.send("s", Guide(guidance=f"g{n}", text="x"))
        async with (
            serving(tmp_path / "home") as server,
            running_client(tmp_path / "copy.db", url, token, "s") as client,
        ):
            assert server.url == url
            await until(lambda: not client.replica.waiting())
        async with serving(tmp_path / "home"), running_client(tmp_path / "copy.db", url, token) as client:
            await until(lambda: client.status.state == "online")

    asyncio.run(scenario())
    assert guidance_in(tmp_path / "home/server.db") == [f"g{n}" for n in range(100)]


def test_a_restored_server_gets_back_what_it_had_acknowledged(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            url, token = server.url, admin_token(tmp_path / "home")
            await fill(server, "s", bodies_of(5))
            async with running_client(tmp_path / "copy.db", url, token, "s") as client:
                await client.answer(await client.send("s", Guide(guidance="kept", text="x")))
                await until(lambda: client.replica.head("s") == 6)
        with contextlib.closing(connect(tmp_path / "home/server.db")) as conn:
            conn.execute("VACUUM INTO ?", (str(tmp_path / "backup.db"),))
        async with (
            serving(tmp_path / "home") as server,
            running_client(tmp_path / "copy.db", url, token, "s") as client,
        ):
            await client.answer(await client.send("s", Guide(guidance="lost", text="x")))
            await fill(server, "s", bodies_of(3))
            await until(lambda: client.replica.head("s") == 10)
        for name in ("server.db", "server.db-wal", "server.db-shm"):
            (tmp_path / "home" / name).unlink(missing_ok=True)
        (tmp_path / "backup.db").rename(tmp_path / "home/server.db")
        with contextlib.closing(connect(tmp_path / "home/server.db")) as conn, transaction(conn):
            conn.execute("UPDATE meta SET value = 'restored' WHERE key = 'epoch'")
        async with serving(tmp_path / "home"), running_client(tmp_path / "copy.db", url, token, "s") as client:
            await client.send("s", Guide(guidance="after", text="x"))
            await until(lambda: client.replica.head("s") == 8 and not client.replica.waiting())

    asyncio.run(scenario())
    assert guidance_in(tmp_path / "home/server.db") == ["kept", "lost", "after"]
    assert log_of(tmp_path / "copy.db", "s") == log_of(tmp_path / "home/server.db", "s")


def test_a_copied_outbox_takes_an_identity_of_its_own(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            token = admin_token(tmp_path / "home")
            await fill(server, "s", bodies_of(1))
            async with running_client(tmp_path / "one.db", server.url, token) as client:
                await client.answer(await client.send("s", Guide(guidance="first", text="x")))
            with contextlib.closing(connect(tmp_path / "one.db")) as conn:
                conn.execute("VACUUM INTO ?", (str(tmp_path / "two.db"),))
            for name in ("one", "two"):
                async with running_client(tmp_path / f"{name}.db", server.url, token) as client:
                    await until(lambda c=client: c.status.state == "online")
                    reply = await client.answer(await client.send("s", Guide(guidance=name, text="x")))
                    assert isinstance(reply, Ack)

    asyncio.run(scenario())
    assert guidance_in(tmp_path / "home/server.db") == ["first", "one", "two"]


def test_a_large_payload_travels_both_ways(tmp_path: Path) -> None:
    data = secrets.token_bytes(20 * 1024 * 1024)
    name = blob_hash(data)

    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            await fill(server, "s", bodies_of(1))
            token = admin_token(tmp_path / "home")
            from core.protocol.frames import pieces

            async with raw_peer(server.url, token, client="runner") as runner:
                for frame in pieces(name, blobs.compress(data)):
                    await runner.say(frame)
                assert isinstance(await runner.ask(Lease(session="s", journal="j")), Leased)
                await until(lambda: blobs.holds(server.hub.reader, name))
            async with running_client(tmp_path / "copy.db", server.url, token) as client:
                arrived: list[str] = []
                absent: list[str] = []
                client.replica.blob_arrived.append(arrived.append)
                client.on_absent.append(absent.append)
                client.want([name, blob_hash(b"never made")])
                await until(lambda: arrived == [name] and absent == [blob_hash(b"never made")])
                assert client.replica.body(name) == data

    asyncio.run(scenario())


def test_a_second_server_on_one_home_is_refused_in_one_sentence(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with serving(tmp_path / "home"):
            try:
                async with Server(settings(tmp_path / "home")):
                    raise AssertionError("served twice")
            except Exception as error:  # noqa: BLE001 - its type and code are what is looked at
                return f"{type(error).__name__} {getattr(error, 'code', '')}"

    assert asyncio.run(scenario()) == "Conflict server_running"


def test_the_endpoint_and_the_port_survive_a_restart(tmp_path: Path) -> None:
    async def one() -> str:
        async with serving(tmp_path / "home") as server:
            assert server.url in Home(tmp_path / "home").endpoint.read_text()
            return server.url

    assert asyncio.run(one()) == asyncio.run(one())
