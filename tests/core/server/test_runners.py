"""Supervision with real processes: a small runner of a few lines stands for the agent."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import textwrap
from pathlib import Path

import pytest
from support.wire import admin_token, bodies_of, fill, running_client, serving, until

from core.domain.events import SessionStateChanged, encode_event, make_event
from core.domain.task import Task
from core.domain.verdict import Author
from core.protocol.messages import Ack
from core.protocol.operations import Control, CreateSession
from core.server import runners
from core.server.authority import Authority
from core.server.runners import last_line
from core.store import accounts, log
from core.store.home import Home
from core.store.lock import is_held
from core.store.sqlite import Connection

TASK = Task(id="t", title="T", description="d")

RUNNER = """
import json, os, sys, time
from core.store.lock import FileLock
told = dict(zip(sys.argv[2::2], sys.argv[3::2]))
folder = told["--folder"]
lock = FileLock(os.path.join(folder, "runner.lock"))
if not lock.take():
    sys.exit(0)
with open(os.path.join(folder, "starts"), "a") as file:
    file.write(json.dumps({"pid": os.getpid(), "argv": sys.argv[1:], "leader": os.getsid(0) == os.getpid(),
                           "mode": oct(os.stat(told["--token-file"]).st_mode & 0o777)}) + "\\n")
if os.path.exists(os.path.join(folder, "..", "..", "die")):
    print("first line", file=sys.stderr)
    sys.exit("the model said no")
time.sleep(60)
"""


@pytest.fixture
def runner(tmp_path: Path) -> tuple[str, ...]:
    """How the small runner is called."""
    script = tmp_path / "runner.py"
    script.write_text(textwrap.dedent(RUNNER))
    return (sys.executable, str(script))


def starts(home: Path, session: str = "s") -> list[dict[str, object]]:
    path = home / "sessions" / session / "starts"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def end(home: Path) -> None:
    for one in [*starts(home), *starts(home, "later")]:
        try:
            os.kill(int(str(one["pid"])), signal.SIGKILL)
        except ProcessLookupError:
            continue


async def server_has_looked(home: Path) -> None:
    """Another session that needs a runner is made and has one: so the first was looked after before it."""
    async with Authority(Home(home)) as authority:
        await authority.do("later", CreateSession(task=TASK))
    await until(lambda: len(starts(home, "later")) == 1)


def state_of(conn: Connection, session: str = "s") -> str:
    return log.row(conn, session).state


def test_a_runner_is_started_outlives_the_server_and_is_not_started_twice(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    home = tmp_path / "home"

    async def scenario() -> None:
        async with serving(home, supervise=True, runner=runner) as server:
            async with running_client(tmp_path / "c.db", server.url, admin_token(home)) as client:
                assert isinstance(await client.answer(await client.send("s", CreateSession(task=TASK))), Ack)
                await until(lambda: len(starts(home)) == 1)
                asked = await client.answer(await client.send("s", Control(control="pause")))
                assert isinstance(asked, Ack)
            assert state_of(server.hub.reader) == "queued", "asked, not done for it"
            token = (home / "sessions/s/token").read_text()
            assert accounts.principal(server.hub.reader, token).scopes == ("agent:s",)
        assert is_held(home / "sessions/s/runner.lock"), "it lives on"
        async with serving(home, supervise=True, runner=runner):
            await server_has_looked(home)
            assert len(starts(home)) == 1
            os.kill(int(str(starts(home)[0]["pid"])), signal.SIGKILL)
            await until(lambda: len(starts(home)) == 2, "a dead runner is replaced")

    try:
        asyncio.run(scenario())
        [first, second] = starts(home)
        assert first["leader"] and first["mode"] == "0o600" and first["pid"] != second["pid"]
        argv = first["argv"]
        assert isinstance(argv, list)
        assert argv[:3] == ["agent", "--session", "s"] and (home / "sessions/s/token").read_text() not in argv
    finally:
        end(home)


def test_a_runner_that_keeps_dying_fails_its_session_with_its_last_words(
    tmp_path: Path, runner: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "die").touch()
    monkeypatch.setattr(runners, "LOOK_EVERY_S", 0.05)

    async def scenario() -> None:
        async with (
            serving(home, supervise=True, runner=runner) as server,
            running_client(tmp_path / "c.db", server.url, admin_token(home), "s") as client,
        ):
            await client.send("s", CreateSession(task=TASK))
            await until(lambda: (r := client.replica.row("s")) is not None and r.state == "failed", seconds=30)
            await until(lambda: client.replica.head("s") == 2)
            [*_, last] = client.replica.read("s")
            assert last.event.fact == SessionStateChanged(
                state="failed", reason="runner_died", detail="the model said no")
            assert len(starts(home)) == runners.QUICK_DEATHS
            await until(lambda: "agent:s" not in [a.name for a in accounts.accounts(server.hub.reader)])
            assert not (home / "sessions/s/token").exists()
            (home / "die").unlink()
            await client.send("s", Control(control="resume"))
            await until(lambda: len(starts(home)) == runners.QUICK_DEATHS + 1)

    try:
        asyncio.run(scenario())
    finally:
        end(home)


def test_a_session_that_cannot_be_looked_after_does_not_hinder_the_others(
    tmp_path: Path, runner: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    """Where its folder should be is a file, so that nothing can be started there; it is tried again and again."""
    home = tmp_path / "home"

    async def scenario() -> None:
        async with (
            serving(home, supervise=True, runner=runner) as server,
            running_client(tmp_path / "c.db", server.url, admin_token(home)) as client,
        ):
            (home / "sessions/a").write_text("in the way")
            for session in ("a", "s"):
                assert isinstance(await client.answer(await client.send(session, CreateSession(task=TASK))), Ack)
            await until(lambda: len(starts(home)) == 1, "the other session has its runner")
            assert "the runner of a cannot be looked after now" in caplog.text
            (home / "sessions/a").unlink()
            await until(lambda: len(starts(home, "a")) == 1, "as soon as it can be")

    try:
        asyncio.run(scenario())
    finally:
        end(home)
        for one in starts(home, "a"):
            os.kill(int(str(one["pid"])), signal.SIGKILL)


def test_imports_and_finished_sessions_and_remote_ones_get_no_runner(
    tmp_path: Path, runner: tuple[str, ...]
) -> None:
    home = tmp_path / "home"
    finished = [encode_event(make_event(SessionStateChanged(state=s), Author(kind="agent", name="a")))
                for s in ("running", "finished")]

    async def scenario() -> None:
        async with serving(home, supervise=True, runner=runner) as server:
            await fill(server, "finished", finished)
            await server.hub.store(lambda conn: log.create(conn, "empty"))
            await server.hub.store(lambda conn: log.create(conn, "remote") and log.lease(conn, "remote", "elsewhere"))
            await fill(server, "remote", bodies_of(1))
            async with running_client(tmp_path / "c.db", server.url, admin_token(home)) as client:
                await client.answer(await client.send("s", CreateSession(task=TASK)))
                await until(lambda: len(starts(home)) == 1)
            assert not any(starts(home, s) for s in ("finished", "empty", "remote"))

    try:
        asyncio.run(scenario())
    finally:
        end(home)


def test_the_last_line_that_says_something(tmp_path: Path) -> None:
    path = tmp_path / "log"
    assert last_line(path) == ""
    path.write_bytes(b"x" * 5000 + "\nwhy it died 原因\n\n  \n".encode())
    assert last_line(path) == "why it died 原因"
