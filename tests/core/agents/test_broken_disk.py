"""A disk that takes nothing more: the session does not fail for it, and goes on when there is room again."""

from __future__ import annotations

import asyncio
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from support.agents import turns
from support.wire import account, admin_token, running_client, serving, until

from core.domain.errors import Unavailable
from core.domain.events import SessionStateChanged, StepAdded, decode_event
from core.domain.session import EX_TEMPFAIL
from core.domain.task import AgentSettings, ModelSettings, Task
from core.protocol.operations import CreateSession
from core.server import runners
from core.server.runners import RunnerWatch, Supervisor
from core.store import log

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="starves a process by prlimit")


def start(home: Path, url: str, token: str) -> subprocess.Popen[bytes]:
    folder = home / "sessions/s"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "token").write_text(token)
    argv = [sys.executable, "-m", "core.cli", "agent", "--session", "s", "--url", url, "--token-file",
            str(folder / "token"), "--folder", str(folder)]
    return subprocess.Popen(argv, env={**os.environ, "TIPHYS_HOME": str(home)}, stderr=subprocess.DEVNULL)


def starve(process: subprocess.Popen[bytes]) -> None:
    _, hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (0, hard))


def test_a_runner_whose_journal_cannot_be_written_leaves_its_session_as_it_is(tmp_path: Path) -> None:
    home = tmp_path / "home"
    model = ModelSettings(script=turns(12, tool="think").replace("pace_s = 0.0", "pace_s = 0.05"))
    agent = AgentSettings(model=model, sandbox="local", confirmed_unconfined=True)

    async def scenario() -> list[object]:
        async with (
            serving(home) as server,
            running_client(tmp_path / "r.db", server.url, admin_token(home), "s") as client,
        ):
            await client.answer(await client.send("s", CreateSession(
                task=Task(id="t", title="T", description="d"), agent=agent)))
            token = account(home, "agent:s", "agent:s")
            first = start(home, server.url, token)
            await until(lambda: log.row(server.hub.reader, "s").steps >= 3, seconds=30)
            starve(first)
            await until(lambda: first.poll() is not None, seconds=30)
            assert first.returncode == EX_TEMPFAIL
            assert log.row(server.hub.reader, "s").state == "running"
            second = start(home, server.url, token)
            await until(lambda: second.poll() is not None, seconds=40)
            assert second.returncode == 0
            return [decode_event(p.body).fact for p in log.read_all(server.hub.reader, "s")]

    facts = asyncio.run(scenario())
    assert [f.state for f in facts if isinstance(f, SessionStateChanged)] == ["running", "finished"]
    steps = [f.head.number for f in facts if isinstance(f, StepAdded)]
    assert steps == list(range(1, 14))


def test_supervision_lives_through_a_full_disk_and_does_not_count_what_says_try_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runners, "TRY_AGAIN_S", 0.0)
    monkeypatch.setattr(runners, "LOOK_EVERY_S", 0.02)
    script = tmp_path / "runner.py"
    script.write_text(f"import sys; sys.exit({EX_TEMPFAIL})")
    home = tmp_path / "home"

    async def scenario() -> None:
        starts = []
        monkeypatch.setattr(runners, "spawn", lambda *a, real=runners.spawn: starts.append(1) or real(*a))
        monkeypatch.setattr(runners, "runner_token", _Full(runners.runner_token))
        async with (
            serving(home, supervise=True, runner=(sys.executable, "-S", str(script))) as server,
            running_client(tmp_path / "r.db", server.url, admin_token(home), "s") as client,
        ):
            await client.answer(await client.send("s", CreateSession(
                task=Task(id="t", title="T", description="d"))))
            await until(lambda: len(starts) > 4, seconds=30)
            assert log.row(server.hub.reader, "s").state == "queued", "not failed"

    asyncio.run(scenario())
    watch = RunnerWatch(started_at=time.monotonic())
    Supervisor._count_death(None, watch)  # type: ignore[arg-type]
    assert watch.quick_deaths == 1, "others are counted"


class _Full:
    """A disk that is full at first."""

    def __init__(self, work: Callable[..., Path]) -> None:
        self._work, self._times = work, 0

    def __call__(self, *arguments: object) -> Path:
        self._times += 1
        if self._times < 3:
            raise Unavailable("store_write_failed", "full")
        return self._work(*arguments)
