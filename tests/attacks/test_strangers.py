"""Connections before a token, by the thousand, against a real server process with TLS (threats 7 and 13)."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import os
import resource
import signal
import socket
import ssl
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.stranger import foreigner
from support.tally import tally
from support.wire import account, admin_token, serving, until

from core.server import entrance
from core.server.entrance import SHAKING_MOST, SILENT_MOST, Crowd, Stranger, neighbourhood
from core.store.endpoint import read_endpoint
from core.store.home import Home

CROWD = 5_000
MEGABYTE = 1024 * 1024


@pytest.fixture
def many_sockets() -> Iterator[int]:
    """How many strangers this process can play."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = CROWD + 500 if hard == resource.RLIM_INFINITY else min(hard, CROWD + 500)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    yield min(max(soft, wanted) - 500, CROWD)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class TlsServer:
    """`tiphys serve --self-signed` as a process of its own, which may have 1,024 sockets as usual."""

    def __init__(self, home: Path) -> None:
        command = [sys.executable, "-m", "core.cli", "--home", str(home), "serve", "--private", "--self-signed"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024)))
        assert self._process.stdout is not None
        self._process.stdout.readline()
        endpoint = read_endpoint(Home(home))
        assert endpoint is not None
        self.url = endpoint.url
        self.port = int(self.url.partition("#")[0].rsplit(":", 1)[1])

    @property
    def resident(self) -> int:
        """Bytes of memory."""
        pages = int(Path(f"/proc/{self._process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")

    @property
    def sockets(self) -> int:
        """Open sockets and files."""
        return sum(1 for _ in Path(f"/proc/{self._process.pid}/fd").iterdir())

    def end(self) -> None:
        """As Ctrl+C would."""
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(30)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def tls_server(tmp_path: Path) -> Iterator[TlsServer]:
    server = TlsServer(tmp_path / "home")
    yield server
    server.end()


def client_hello() -> bytes:
    """What a TLS client says first."""
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    context = ssl.create_default_context()
    with contextlib.suppress(ssl.SSLWantReadError):
        context.wrap_bio(into, out, server_hostname="localhost").do_handshake()
    return out.read()


KINDS: dict[str, Callable[[], bytes]] = {
    "silent": lambda: b"",
    "a byte": lambda: b"\x16",
    "half a ClientHello": lambda: client_hello()[:100],
    "a ClientHello, then nothing": client_hello,
    "no TLS": lambda: b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n",
}


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory is read from /proc")
@pytest.mark.parametrize("kind", KINDS)
def test_thousands_who_say_no_name_cost_little_and_keep_nobody_out(
    tls_server: TlsServer, tmp_path: Path, many_sockets: int, kind: str
) -> None:
    words = KINDS[kind]()
    count = many_sockets if kind in ("silent", "a ClientHello, then nothing") else many_sockets // 5

    async def crowd() -> tuple[int, int, int]:
        async with foreigner(tls_server.url, admin_token(tmp_path / "home"), "warm"):
            before = tls_server.resident
        strangers: list[socket.socket] = []
        came_in = highest = 0
        try:
            for n in range(count):
                one = socket.create_connection(("127.0.0.1", tls_server.port))
                strangers.append(one)
                with contextlib.suppress(OSError):
                    one.sendall(words)
                if n % 1_000 == 999:
                    async with foreigner(tls_server.url, admin_token(tmp_path / "home"), f"c{n}"):
                        came_in += 1
                        assert tls_server.sockets < SILENT_MOST + SHAKING_MOST + 100
                        highest = max(highest, tls_server.resident - before)
            await asyncio.sleep(2.5)  # what they left is given back once a second
            return came_in, tls_server.resident - before, highest
        finally:
            for one in strangers:
                one.close()

    came_in, grown, highest = asyncio.run(crowd())
    assert came_in == count // 1_000, "a client gets in while they hold on"
    sys.stderr.write(f"{kind}: {count} strangers, {grown / MEGABYTE:.0f} MB, at most {highest / MEGABYTE:.0f}\n")
    assert highest < 200 * MEGABYTE
    tally("strangers with TLS that cost the server more than 100 MB", count,
          max(0, (grown - 100 * MEGABYTE) // 20_000))


def test_a_stranger_is_sent_away_after_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
                                               caplog: pytest.LogCaptureFixture) -> None:
    """Whether it was silent or stopped in the middle; who introduced itself stays."""
    monkeypatch.setattr(entrance, "INTRODUCTION_S", 0.5)
    caplog.set_level(logging.INFO)

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            port = int(server.url.rsplit(":", 1)[1])
            async with foreigner(server.url, account(tmp_path, "li", "view")) as peer:
                strangers = [await asyncio.open_connection("127.0.0.1", port) for _ in range(20)]
                for _, writer in strangers[10:]:
                    writer.write(b"GET / HTTP/1.1\r\nHost: 127")
                for reader, _ in strangers:
                    with contextlib.suppress(ConnectionError):
                        await asyncio.wait_for(reader.read(), 20)
                for _, writer in strangers:
                    writer.close()
                assert (await peer.ask(type="watch_sessions"))["type"] == "sessions"

    asyncio.run(scenario())
    told = [r.getMessage() for r in caplog.records if "introduce" in r.getMessage()]
    assert len(told) == 1, told


def test_a_crowd_keeps_itself_out() -> None:
    def come(crowd: Crowd, name: str, address: str) -> str:
        gone = crowd.add(Stranger(socket.socket(), name, address, 0.0, 0.0))
        if gone is None:
            return ""
        crowd.remove(gone.peer)
        gone.socket.close()
        return str(gone.peer)

    crowd = Crowd(10, 5)
    assert come(crowd, "quiet", "10.0.0.9") == ""
    assert [come(crowd, f"a{n}", "10.0.0.1") for n in range(7)] == ["", "", "", "", "", "a0", "a1"]
    assert [come(crowd, f"b{n}", f"10.1.0.{n}") for n in range(6)] == ["", "", "", "", "a2", "a3"]
    assert "quiet" in [s.peer for s in crowd.all()]
    for stranger in crowd.all():
        stranger.socket.close()


@pytest.mark.parametrize(("address", "who"), [
    ("10.0.0.1", "10.0.0.1"), ("2001:db8::1", "2001:db8::/64"), ("2001:db8::ffff:1", "2001:db8::/64"),
    ("fe80::1%eth0", "fe80::/64"), ("::ffff:10.0.0.1", "10.0.0.1"), ("", "")])
def test_a_network_of_ipv6_counts_as_one(address: str, who: str) -> None:
    assert neighbourhood(address) == who


def test_who_left_is_no_stranger_any_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            port = int(server.url.rsplit(":", 1)[1])
            for _ in range(entrance.SHAKING_OF_ADDRESS * 3):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"nonsense\r\n\r\n")
                writer.close()
            async with foreigner(server.url, account(tmp_path, "li", "view")) as peer:
                await until(lambda: peer.cseq == 0)

    asyncio.run(scenario())


@pytest.mark.parametrize("passes", [0, 1, 2, 5])
def test_who_half_came_in_neither_outlives_nor_delays_the_servers_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, passes: int
) -> None:
    monkeypatch.setattr(entrance, "INTRODUCTION_S", 1e6)  # waited for, this test would not end
    crowd = [socket.socket() for _ in range(40)]

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            for stranger in crowd:
                stranger.connect(("127.0.0.1", int(server.url.rsplit(":", 1)[1])))
                stranger.send(b"GET / HTTP/1.1\r\nHost: 127")
            for _ in range(passes):
                await asyncio.sleep(0)

    with warnings.catch_warnings(record=True) as left:
        warnings.simplefilter("always", ResourceWarning)
        asyncio.run(scenario())
        gc.collect()
    for stranger in crowd:
        stranger.close()
    assert [str(one.message) for one in left] == []
