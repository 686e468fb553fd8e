"""The reconnecting link against real sockets: waiting, hurrying, and what it says of itself."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from support.wire import account, admin_token, bodies_of, fill, serving, until
from websockets.asyncio.server import ServerConnection, serve

from core.aio import TaskScope
from core.client import patience
from core.client.connection import ReconnectingConnection
from core.client.dial import is_loopback
from core.client.patience import ANSWERED_S, DENIED_S, LAST_S, Patience
from core.client.status import Status
from core.domain.errors import Conflict
from core.protocol.codec import encode
from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Lease, Leased, Sessions, Welcome, Wire


class Owner:
    """Notes what it is told."""

    client = "owner"

    def __init__(self) -> None:
        self.heard: list[Wire] = []
        self.states: list[Status] = []

    async def on_welcome(self, welcome: Welcome) -> None:
        self.heard.append(welcome)

    async def on_message(self, message: Wire) -> None:
        self.heard.append(message)

    async def on_piece(self, frame: bytes) -> None:
        raise AssertionError

    def on_status_changed(self, status: Status) -> None:
        self.states.append(status)


def test_waits_grow_to_a_roof_and_are_never_the_same_for_all() -> None:
    links = [Patience() for _ in range(50)]
    waits = [[link.wait() for _ in range(40)] for link in links]
    assert all(0 <= w[0] <= 0.2 for w in waits)
    assert all(w <= LAST_S for many in waits for w in many)
    assert max(w[-1] for w in waits) > 4 and len({round(w[5], 6) for w in waits}) > 40


def test_waits_are_short_again_once_the_server_answers() -> None:
    link = Patience()
    grown = [link.wait() for _ in range(40)]
    link.ended(None)
    waits = [link.wait() for _ in range(40)]
    assert max(grown) > 2 and max(waits[:5]) > 1, "nobody answered"
    for _ in range(40):
        link.ended(0.1)
        assert link.wait() <= ANSWERED_S
    link.ended(60.0)
    assert link.wait() <= 0.2


def test_a_refused_token_is_tried_again_soon_and_then_ever_more_seldom() -> None:
    waits = [[link.wait(denied=True) for _ in range(40)] for link in [Patience() for _ in range(50)]]
    assert all(sum(w[:3]) < 1.1 for w in waits), "a restored server lets the runners that live in a moment later"
    assert LAST_S < max(w[-1] for w in waits) <= DENIED_S


def test_who_was_away_for_long_does_not_wait_long_when_the_server_asks_it_to_come_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a restore the first connection only tells that the log is another one."""
    monkeypatch.setattr(patience, "LAST_S", 1_000.0)
    monkeypatch.setattr(patience, "FACTOR", 10_000.0)
    monkeypatch.setattr(patience.random, "uniform", lambda low, high: high)
    owner = Owner()

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            url, token = server.url, admin_token(tmp_path)
        link = ReconnectingConnection(url, token, owner)
        async with TaskScope("test") as scope:
            scope.spawn(link.run(), name="link")
            await until(lambda: link.status.state == "offline")
            async with serving(tmp_path):
                for times in (1, 2):
                    link.hurry() if times == 1 else await link.restart()
                    await until(lambda times=times: len([m for m in owner.heard if isinstance(m, Welcome)]) == times)

    asyncio.run(scenario())


@pytest.mark.parametrize(("url", "loopback"), [
    ("ws://127.0.0.1:1", True), ("ws://[::1]:1", True), ("ws://localhost:1", True),
    ("ws://127.0.0.1.evil.com:1", False), ("wss://lab.example:7717", False), ("ws://10.0.0.1:1", False),
])
def test_a_proxy_is_never_asked_about_this_computer(url: str, loopback: bool) -> None:
    assert is_loopback(url) == loopback


def test_a_proxy_of_the_surroundings_does_not_stand_before_this_computer(tmp_path: Path,
                                                                         monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)

    async def scenario() -> None:
        async with serving(tmp_path) as server, TaskScope("test") as scope:
            link = ReconnectingConnection(server.url, admin_token(tmp_path), Owner())
            scope.spawn(link.run(), name="link")
            await until(lambda: link.status.state not in ("connecting", "off", ""))
            assert link.is_online

    asyncio.run(scenario())


def test_what_a_newer_server_says_is_passed_over(tmp_path: Path) -> None:
    owner = Owner()

    async def newer(socket: ServerConnection) -> None:
        await socket.recv()
        welcome = Welcome(protocol=PROTOCOL, epoch="e", program="tomorrow", name="li", scopes=("view",), cseq=0)
        for frame in (encode(welcome), '{"type": "of_tomorrow", "what": 1}', encode(Sessions(rows=()))):
            await socket.send(frame)
        await socket.wait_closed()

    async def scenario() -> None:
        async with serve(newer, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL]) as server, TaskScope("test") as scope:
            port = next(iter(server.sockets)).getsockname()[1]
            link = ReconnectingConnection(f"ws://127.0.0.1:{port}", "t", owner)
            task = scope.spawn(link.run(), name="link")
            await until(lambda: len(owner.heard) == 2)
            assert link.is_online and [type(m) for m in owner.heard] == [Welcome, Sessions]
            task.cancel()

    asyncio.run(scenario())


def test_it_comes_back_by_itself_and_says_since_when(tmp_path: Path) -> None:
    owner = Owner()

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            url, token = server.url, admin_token(tmp_path)
        link = ReconnectingConnection(url, token, owner)
        async with TaskScope("test") as scope:
            scope.spawn(link.run(), name="link")
            await until(lambda: link.status.state == "offline")
            since = link.status.since
            assert "cannot be reached" in link.status.sentence
            async with serving(tmp_path) as server:
                link.hurry()
                await until(lambda: link.is_online)
                assert link.status.since > since and link.status.latency_ms is not None
            await until(lambda: link.status.state == "offline")

    asyncio.run(scenario())
    assert [s.state for s in owner.states if s.state != "connecting"][:3] == ["offline", "online", "offline"]


def test_a_refused_token_is_said_and_asked_about_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            link = ReconnectingConnection(server.url, "tph_wrong", Owner())
            async with TaskScope("test") as scope:
                scope.spawn(link.run(), name="link")
                await until(lambda: link.status.state == "denied")
                assert "unknown or was revoked" in link.status.sentence

    asyncio.run(scenario())


def test_who_is_fenced_stops_for_good(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            token = account(tmp_path, "runner", "agent:s")
            owners = Owner(), Owner()
            old, new = (ReconnectingConnection(server.url, token, o) for o in owners)
            async with TaskScope("test") as scope:
                fenced = asyncio.get_running_loop().create_future()
                scope.spawn(old.run(), name="old", on_error=fenced.set_result)
                await until(lambda: old.is_online)
                old.post(Lease(session="s", journal="j"))
                await until(lambda: any(isinstance(m, Leased) for m in owners[0].heard))
                scope.spawn(new.run(), name="new")
                await until(lambda: new.is_online)
                new.post(Lease(session="s", journal="j"))
                error = await asyncio.wait_for(fenced, 60)
                assert isinstance(error, Conflict) and error.code == "fenced"
                assert new.is_online

    asyncio.run(scenario())


@pytest.mark.parametrize("url", ["", "lab", "http://127.0.0.1:1", "ws://[::1", "ws://127.0.0.1:99999"])
def test_an_address_that_is_none_is_said_to_be_so(url: str) -> None:
    async def scenario() -> None:
        link = ReconnectingConnection(url, "t", Owner())
        async with TaskScope("test") as scope:
            scope.spawn(link.run(), name="link")
            await until(lambda: link.status.state == "offline")
            assert link.status.sentence

    asyncio.run(scenario())


def test_something_that_is_no_server_of_ours_is_not_believed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async def parrot(socket: object) -> None:
            async for frame in socket:  # type: ignore[attr-defined]
                await socket.send(frame)  # type: ignore[attr-defined]

        async with serve(parrot, "127.0.0.1", 0, subprotocols=[SUBPROTOCOL]) as server:  # type: ignore[list-item]
            port = server.sockets[0].getsockname()[1]
            link = ReconnectingConnection(f"ws://127.0.0.1:{port}", "t", Owner())
            async with TaskScope("test") as scope:
                scope.spawn(link.run(), name="link")
                await until(lambda: link.status.state in ("offline", "denied"))
                assert link.status.sentence

    asyncio.run(scenario())
