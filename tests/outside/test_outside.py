"""Runners that share no code with us, made from the protocol page: each takes a session from guidance to its end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from support.wire import account, admin_token, running_client, serving, until

from core.client.client import Client
from core.domain.task import AgentSettings, Task
from core.domain.trajectory import Trajectory
from core.protocol.messages import Ack
from core.protocol.operations import ChangeGuidance, Control, CreateSession, Guide

HERE = Path(__file__).parent
NPM = ("ws@8.23.0", "esbuild@0.28.2")


@pytest.fixture(scope="session")
def typescript() -> list[str]:
    """The runner in TypeScript, made runnable; skipped where npm or its registry is not there."""
    if shutil.which("npm") is None:
        pytest.skip("no npm")
    cache = os.environ.get("TIPHYS_TEST_CACHE") or Path(tempfile.gettempdir()) / f"tiphys-test-cache-{os.getuid()}"
    folder = Path(cache) / "outside"
    if not (folder / "node_modules" / "ws").exists():
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text('{"private": true, "type": "module"}')
        install = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *NPM]
        done = subprocess.run(install, cwd=folder, capture_output=True, text=True, timeout=120)
        if done.returncode:
            pytest.skip(f"npm: {done.stderr[-300:]}")
    subprocess.run([folder / "node_modules/.bin/esbuild", HERE / "runner.ts", f"--outfile={folder / 'runner.js'}"],
                   check=True, capture_output=True)
    return ["node", str(folder / "runner.js")]


def test_the_runner_in_python(tmp_path: Path) -> None:
    asyncio.run(whole_life(tmp_path, [sys.executable, str(HERE / "runner.py")]))


def test_the_runner_in_typescript(tmp_path: Path, typescript: list[str]) -> None:
    asyncio.run(whole_life(tmp_path, typescript))


async def whole_life(folder: Path, command: list[str]) -> None:
    """Two runners want one session, one has it: it is guided, killed, paused while advice is changed, and finishes."""
    home = folder / "home"
    async with serving(home) as server, running_client(folder / "r.db", server.url, admin_token(home), "s") as client:
        token = account(home, "outside", "view", "run")

        def start(name: str) -> subprocess.Popen[bytes]:
            with (folder / f"{name}.log").open("ab") as out:
                return subprocess.Popen([*command, server.url, token, str(folder / name), "4", "0.2"], stderr=out)

        runners = {name: start(name) for name in ("one", "two")}
        try:
            task = Task(id="t", title="T", description="Say what you do.")
            assert isinstance(await do(client, CreateSession(task=task, agent=AgentSettings(kind="outside"))), Ack)
            await do(client, Guide(guidance="g1", text="Look 看 at the tests."))
            await until(lambda: len(seen(client).steps) >= 2, seconds=30)
            for name in runners:  # whichever has it is killed; the other one still waits
                runners[name].send_signal(signal.SIGKILL)
                runners[name].wait()
                runners[name] = start(name)
            await do(client, Control(control="pause"))
            await until(lambda: seen(client).row.state == "paused", seconds=30)
            await do(client, Guide(guidance="g2", text="Stop."))
            await do(client, ChangeGuidance(guidance="g2", text="Go on."))
            await do(client, ChangeGuidance(guidance="g1", text="Too late."))
            await do(client, Control(control="resume"))
            await until(lambda: seen(client).row.state == "finished", seconds=30)
            await until(lambda: any(one.poll() == 0 for one in runners.values()), seconds=30)
            assert not (home / "sessions" / "s").exists(), "the server started none of its own"
            check(client)
        finally:
            for one in runners.values():
                one.kill()
                one.wait()


async def do(client: Client, op: object) -> object:
    return await client.answer(await client.send("s", op))  # type: ignore[arg-type]


def seen(client: Client) -> Trajectory:
    return client.replica.trajectory("s")


def check(client: Client) -> None:
    trajectory = seen(client)
    steps = [step.head.number for step in trajectory.steps]
    assert steps == list(range(1, len(steps) + 1)) and len(steps) >= 4
    first, second = trajectory.guidance["g1"], trajectory.guidance["g2"]
    assert (first.state, second.state, second.text) == ("answered", "answered", "Go on.")
    assert second.delivered_step > 2 >= first.delivered_step
    sources = [ref.source for ref in trajectory.context(len(steps))]
    assert sources[0] == "task" and sources.count("guidance:g1") == sources.count("guidance:g2") == 1
