"""Real sandboxes for tests: one container (or local folder) per module, a fresh client of it per test."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import docker
import docker.errors
import pytest

from core.actions.registry import parse_call
from core.actions.runner import ActionRunner, RunnerState
from core.actions.sink import WakeReason
from core.domain.blob import blob_hash
from core.domain.events import Fact
from core.domain.ids import new_id
from core.domain.message import ToolCall
from core.domain.step import Observation, Output
from core.domain.task import AgentSettings, Host
from core.sandbox.kinds import SandboxKind, open_sandbox
from core.sandbox.sandbox import Sandbox
from core.sandbox.values import Job

HOME = f"tests-{new_id()}"


def need_engine() -> None:
    """Skip where no Docker engine answers."""
    try:
        client = docker.from_env(timeout=60)
    except docker.errors.DockerException as error:
        pytest.skip(f"no Docker engine: {error}")
    client.close()


class Box:
    """One host of one session, on which each `use` is a process's life: connect, work, let go."""

    def __init__(self, kind: SandboxKind, folder: Path, host: Host = Host(name="main")) -> None:
        self.kind: SandboxKind = kind
        self.folder = folder
        self.host = host
        self.session = new_id()

    def make(self, image: str = "") -> Sandbox:
        return open_sandbox(self.kind, self.session, self.host, self.folder, image, home=HOME)

    def use(self, work: Callable[[Any], Awaitable[None]]) -> None:
        async def life() -> None:
            sandbox = self.make()
            await sandbox.start()
            try:
                await work(sandbox)
            finally:
                await sandbox.close()

        asyncio.run(life())

    def remove(self) -> None:
        asyncio.run(self.make().remove())


@contextmanager
def box(kind: SandboxKind, folder: Path, host: Host = Host(name="main")) -> Iterator[Box]:
    """A box that is removed at the end."""
    if kind == "docker":
        need_engine()
    made = Box(kind, folder, host)
    try:
        yield made
    finally:
        made.remove()


async def command(sandbox: Sandbox, text: str, terminal: str = "t", timeout: float = 60.0) -> tuple[Job, str]:
    """Run a command in a terminal to its end; its job and its raw output."""
    await sandbox.terminals.open(terminal)
    job = new_id()
    await sandbox.terminals.command(terminal, job, text)
    ended = await sandbox.terminals.wait_job(job, timeout)
    chunk = await sandbox.terminals.read(terminal, ended.start, ended.end)
    return ended, chunk.data.decode("utf-8", "replace")


class Recorder:
    """An agent's side that remembers; `woken` is what `wait` answers when it is set."""

    def __init__(self) -> None:
        self.facts: list[Fact] = []
        self.blobs: dict[str, bytes] = {}
        self.woken = asyncio.Event()
        self.calls: list[str] = []

    async def emit(self, fact: Fact) -> None:
        self.facts.append(fact)

    async def put_blob(self, data: bytes) -> str:
        self.blobs[blob_hash(data)] = data
        return blob_hash(data)

    async def wait(self, seconds: float) -> WakeReason:
        try:
            async with asyncio.timeout(seconds):
                await self.woken.wait()
        except TimeoutError:
            return "time"
        return "guidance"

    async def evaluate(self, step: int) -> Observation:
        self.calls.append(f"evaluate {step}")
        return Observation(call_id="", output=Output(text="Score: 50"))

    async def finish(self, step: int) -> Observation:
        self.calls.append(f"finish {step}")
        return Observation(call_id="", output=Output(text="The task is marked as done."))

    def of(self, kind: type[Any]) -> list[Any]:
        return [f for f in self.facts if isinstance(f, kind)]


class Acting:
    """A runner of actions with its recorder; `do` is what a model's call would be."""

    def __init__(self, runner: ActionRunner, sink: Recorder) -> None:
        self.runner = runner
        self.sink = sink
        self.step = 0

    async def do(self, tool: str, **arguments: Any) -> Observation:
        self.step += 1
        call = ToolCall(id=f"call-{self.step}", name=tool, arguments=json.dumps(arguments))
        return await self.runner.run(parse_call(call), self.step)


def acting(box: Box, work: Callable[[Acting], Awaitable[None]], state: RunnerState = RunnerState(),
           settings: AgentSettings = AgentSettings()) -> Recorder:
    """One life of a runner on a box."""
    async def life() -> Recorder:
        sink = Recorder()
        runner = ActionRunner({box.host.name: box.make()}, sink, settings, state)
        await runner.start()
        try:
            await work(Acting(runner, sink))
        finally:
            await runner.close()
        return sink

    return asyncio.run(life())
