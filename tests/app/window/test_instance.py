"""One window per home: a second start hands its files, links and servers over, is checked, and ends."""

from __future__ import annotations

import asyncio
import json
import socket
import stat
import sys
from pathlib import Path

import pytest
from support.eventually import eventually

from app.window.instance import Doorbell, OpenRequest, take_or_hand_over
from core.aio import TaskScope
from core.domain.errors import InvalidInput, ReportableError
from core.store.home import Home
from core.store.lock import FileLock

LONG = "a-folder-of-a-name-that-is-far-too-long-for-the-path-of-a-socket/" * 2


async def start(home: Home, *arguments: str, cwd: Path | None = None) -> tuple[int, str]:
    """Start the desktop's program once more; its exit status and complaints."""
    root = Path(__file__).parents[3]
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", "--home", str(home.path), *arguments, cwd=cwd or root,
        stderr=asyncio.subprocess.PIPE,
        env={"PYTHONPATH": str(root), "QT_QPA_PLATFORM": "offscreen", "HOME": str(home.path)})
    _, err = await asyncio.wait_for(process.communicate(), 60)
    return process.returncode or 0, err.decode()


@pytest.mark.parametrize("folder", ["home", LONG])
async def test_a_second_start_hands_over_and_ends(qapp, tmp_path, folder):
    home = Home(tmp_path / folder)
    lock = take_or_hand_over(home, OpenRequest())
    assert lock is not None
    asked: list[OpenRequest] = []
    async with TaskScope("test") as scope:
        bell = Doorbell(home, scope, asked.append)
        await bell.listen()
        assert stat.S_IMODE((home.path / "desktop.sock").stat().st_mode) == 0o600
        token = tmp_path / "token"
        token.write_text("secret\n")
        status, complaint = await start(
            home, "--server", "ws://127.0.0.1:9", "--token-file", str(token), "--session", "s1", "--step", "4",
            "tiphys://session/s2?step=1", "run.json", cwd=tmp_path)
        assert (status, complaint) == (0, "")
        assert asked == [OpenRequest(server="ws://127.0.0.1:9", token="secret", session="s1", step=4,
                                 files=["tiphys://session/s2?step=1", str(tmp_path / "run.json")])]
        await bell.close()
    lock.release()


async def test_what_the_window_refuses_is_told_to_who_asked(qapp, tmp_path):
    home = Home(tmp_path)
    lock = FileLock(home.path / "desktop.lock")
    assert lock.take()

    def refuse(request: OpenRequest) -> None:
        raise InvalidInput("bad_address", "That is no address.")

    async with TaskScope("test") as scope:
        bell = Doorbell(home, scope, refuse)
        await bell.listen()
        status, complaint = await start(home)
        assert status == 2 and "That is no address." in complaint
        await bell.close()
    lock.release()


@pytest.mark.parametrize("line", [
    b"\n", b"{\n", b"[]\n", b'{"exec": "rm"}\n', b'{"step": -1}\n', b'{"session": "../x"}\n',
    b'{"files": ["run.json"]}\n', b'{"files": [1]}\n',
    json.dumps({"session": "x" * 5000}).encode() + b"\n", b"x" * 3_000_000])
async def test_a_request_that_no_start_makes_is_refused(qapp, tmp_path, line):
    home, asked = Home(tmp_path), []
    async with TaskScope("test") as scope:
        bell = Doorbell(home, scope, asked.append)
        await bell.listen()
        answer: list[bytes] = []

        def ring() -> None:
            with socket.socket(socket.AF_UNIX) as wire:
                wire.connect(str(home.path / "desktop.sock"))
                try:
                    wire.sendall(line)
                    answer.append(wire.recv(4096))
                except OSError:
                    answer.append(b"")

        await asyncio.to_thread(ring)
        await eventually(lambda: answer)
        assert asked == []
        assert answer[0] == b"" or "error" in json.loads(answer[0])
        await bell.close()


async def test_the_place_of_a_killed_window_is_taken(qapp, tmp_path):
    home = Home(tmp_path)
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(home.path / "desktop.sock"))
    asked: list[OpenRequest] = []
    async with TaskScope("test") as scope:
        lock = take_or_hand_over(home, OpenRequest())
        assert lock is not None, "nobody listens and nobody holds the lock"
        bell = Doorbell(home, scope, asked.append)
        await bell.listen()
        assert await asyncio.to_thread(take_or_hand_over, home, OpenRequest(session="s1")) is None
        assert [r.session for r in asked] == ["s1"]
        await bell.close()
        lock.release()


async def test_a_window_that_hangs_is_named(qapp, tmp_path, monkeypatch):
    monkeypatch.setattr("app.window.instance.HAND_OVER_S", 0.3)
    lock = FileLock(Home(tmp_path).path / "desktop.lock")
    assert lock.take()
    with pytest.raises(ReportableError) as caught:
        take_or_hand_over(Home(tmp_path), OpenRequest())
    assert caught.value.code == "desktop_busy"
    lock.release()
