"""The real server under a service manager: ready, alive and over, by a real socket; its children hear nothing of it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.wire import serving

from core.server import service_manager

ROOT = Path(__file__).resolve().parents[3]


def heard(wire: socket.socket) -> str:
    return wire.recv(4096).decode()


@pytest.mark.parametrize("abstract", [False, True])
def test_the_manager_hears_that_the_server_is_ready_alive_and_ends(tmp_path: Path, abstract: bool) -> None:
    name = f"@tiphys-test-{os.getpid()}" if abstract else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as wire:
        wire.bind(name.replace("@", "\0"))
        wire.settimeout(30)
        env = {**os.environ, "TIPHYS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(ROOT), "NOTIFY_SOCKET": name,
               "WATCHDOG_USEC": "400000"}
        with subprocess.Popen([sys.executable, "-m", "core.cli", "serve", "--private"], env=env,
                              stdout=subprocess.PIPE) as process:
            assert heard(wire).splitlines()[0] == "READY=1"
            assert [heard(wire) for _ in range(3)] == ["WATCHDOG=1"] * 3
            process.send_signal(signal.SIGTERM)
            while (said := heard(wire)) == "WATCHDOG=1":
                continue
            assert said == "STOPPING=1"
            assert process.wait(30) == 0


def test_a_writer_that_hangs_gives_no_sign_of_life(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.server.serve.COMMIT_S", 0.2)

    async def scenario() -> None:
        async with serving(tmp_path) as server:
            assert await server.stores()
            release = asyncio.Event()
            loop = asyncio.get_running_loop()
            stuck = server.hub.writer.submit(
                lambda _: asyncio.run_coroutine_threadsafe(release.wait(), loop).result())
            assert not await server.stores()
            release.set()
            await asyncio.wrap_future(stuck)
            assert await server.stores()
            server.hub.writer.close()
            assert await server.stores(), "a disk that refuses does not hang"

    asyncio.run(scenario())


def test_what_the_manager_told_the_server_stays_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in service_manager.VARIABLES:
        monkeypatch.setenv(name, "1")
    assert not set(service_manager.VARIABLES) & service_manager.child_environment(tmp_path).keys()
    monkeypatch.setenv("WATCHDOG_PID", "1")
    assert service_manager.watchdog_s() == 0, "it was meant for another process"
    monkeypatch.setenv("WATCHDOG_USEC", "soon")
    assert service_manager.watchdog_s() == 0


def test_a_manager_that_is_gone_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "nobody"))
    service_manager.notify("READY=1")
