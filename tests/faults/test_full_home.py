"""The home folder is on a disk that gets full: everything of it, its logs and the runners' stderr too."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.agents import turns
from support.full_disk import fill_up, mounted
from support.tally import tally
from support.wire import admin_token, raw_peer, until

from core.domain.task import AgentSettings, ModelSettings, Task
from core.protocol.messages import Ack, Command
from core.protocol.operations import AddNote, CreateSession
from core.server.runners import QUICK_DEATHS
from core.store import log
from core.store.endpoint import read_endpoint
from core.store.home import Home
from core.store.sqlite import connect

STEPS = 200
_STARTED = re.compile(r"started runner (\d+) of session s")


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "disk") as place:
        yield place


@contextlib.contextmanager
def server(home: Path, out: Path) -> Iterator[str]:
    """A server process with runners, whose output goes to a file that may be on the full disk as well."""
    with out.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "core.cli", "--home", str(home), "serve", "--private"], stdout=file, stderr=file,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    try:
        while (endpoint := read_endpoint(Home(home))) is None or endpoint.pid != process.pid:
            assert process.poll() is None
            time.sleep(0.05)
        yield endpoint.url
    finally:
        process.terminate()
        assert process.wait(60) == 0


def row(home: Path):
    with contextlib.closing(connect(Home(home).server_db, readonly=True)) as conn:
        return log.row(conn, "s")


def test_a_session_lives_through_a_full_home_and_the_server_says_so_in_few_words(
    small_disk: Path, tmp_path: Path
) -> None:
    home, out = small_disk / "home", tmp_path / "server.out"
    model = ModelSettings(script=turns(STEPS, tool="think").replace("pace_s = 0.0", "pace_s = 0.02"))
    agent = AgentSettings(model=model, sandbox="local", confirmed_unconfined=True)

    def starts() -> int:
        return len(_STARTED.findall(out.read_text(errors="replace")))

    async def scenario(url: str) -> None:
        async with raw_peer(url, admin_token(home)) as peer:
            op = CreateSession(task=Task(id="t", title="T", description="d"), agent=agent)
            reply = await peer.ask(Command(id="m1", cseq=1, session="s", op=op))
            assert isinstance(reply, Ack), reply
        await until(lambda: row(home).steps >= 5, seconds=60)
        before, ballast = starts(), fill_up(small_disk)
        wanted = before + QUICK_DEATHS + 2
        while starts() < wanted:
            fill_up(small_disk)
            with contextlib.suppress(Exception):
                async with raw_peer(url, admin_token(home), client="writer") as peer:
                    for n in range(1, 40):
                        await peer.say(Command(id=f"n{n}", cseq=n, session="s", op=AddNote(step=0, text="x" * 3_000)))
                    await peer.closed()
            await asyncio.sleep(0.05)
        assert row(home).state == "running", "not failed, however often its runner ended"
        ballast.unlink()
        await until(lambda: row(home).state == "finished", seconds=120)

    with server(home, out) as url:
        asyncio.run(scenario(url))
    assert row(home).steps == STEPS + 1
    text = out.read_text(errors="replace")
    harm = [line for line in text.splitlines() if "Traceback" in line or "Logging error" in line]
    tally("starts of a runner on a full disk", QUICK_DEATHS + 2, harm)
    for said in ("cannot be written", "looked after now", "Nothing could be written"):
        assert text.count(said) <= 12, f"{said}: {text.count(said)} times"
