"""The stand of a run: who lives in it, kept alive; and how one sees that it has come to rest."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import secrets
import signal
import sys
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import msgspec
from faults.containers import Engine
from faults.party import PLAN
from faults.pipe import Pipe
from faults.processes import Process, Zygote

from core.aio import TaskScope
from core.domain.errors import ReportableError
from core.domain.events import GuidanceDelivered, GuidanceQueued, GuidanceWithdrawn, decode_event
from core.domain.session import FINAL_STATES
from core.store import log
from core.store.sqlite import connect, driver, scalar

HERE = Path(__file__).parent


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What kind of run. `pause_s` is the mean time between two faults, `rate` the messages per second and client."""

    name: str = "random"
    seed: int = 1
    seconds: float = 20.0
    clients: int = 3
    rate: float = 30.0
    steps: int = 40
    pace_s: float = 0.02
    failing: float = 0.1
    pause_s: float = 0.1
    following: int = 100
    """Clients whose sessions each client follows and talks to: itself and those after it."""
    margin: int = 4
    """Steps before a session's end from which on nobody talks to it any more."""
    backlog: int = 1_000_000
    """Unanswered messages from which on a client waits: what comes after a session's end is only refused."""
    burst: int = 1
    sessions: int = 1
    patience_s: float = 60.0
    """How long peace may take, each time: until all is answered, delivered, over."""
    kills: int = 0
    messages: int = 0
    """Go on until so many kills and so many messages were reached, at most `seconds`; 0: for all the `seconds`."""
    events_per_kill: float = 0.0
    """A kill waits until the log has grown by so many events for each kill before: a run without progress proves
    nothing."""
    without: str = ""
    clock: bool = True
    restores: bool = True
    faults: tuple[str, ...] = ()
    """Only these; empty: all."""
    sandbox: str = ""
    """"docker": the agents act in real containers; else their actions are lines in a ledger."""
    elsewhere: bool = False
    """The server reads no runner's journal, as if all runners worked on other machines."""
    weights: dict[str, float] = {}
    """How often some faults happen, where it is not as in `Chaos`."""


class Stand:
    """The parties of a run, kept alive."""

    def __init__(self, folder: Path, settings: Settings, zygote: Zygote, **plan: Any) -> None:
        self.folder, self.settings, self.zygote = folder, settings, zygote
        self.home = folder / "home"
        self.chance = random.Random(settings.seed)
        self.pipe = Pipe(self._server_at, self.chance)
        self.parties: dict[str, Process] = {}
        self.held: set[str] = set()
        """Parties that are not to be started again for the moment."""
        self.engine: Engine | None = None
        self.killed = 0
        """How many living processes were killed."""
        self._plan = plan
        self._scope = TaskScope("stand")

    async def start(self) -> None:
        """Bring everybody to life."""
        self.home.mkdir(parents=True)
        await self.pipe.start()
        runner = [sys.executable, "-I", "-S", str(HERE / "stub.py"), str(self.zygote.socket)]
        plan = {
            "folder": str(self.folder),
            "home": str(self.home),
            "url": f"ws://127.0.0.1:{self.pipe.port}",
            "runner": runner,
            "tag": f"-{secrets.token_hex(3)}" if self.settings.sandbox else "",  # an engine knows one of each name
            **msgspec.to_builtins(self.settings),
            **self._plan,
        }
        (self.folder / "plan.json").write_text(json.dumps(plan))
        if self.settings.sandbox:
            self.engine = Engine(self.folder, self.home)
            await self.engine.start()
        await self.revive("endpoint")
        await self.revive("server")
        self._scope.spawn(self._keep(), name="keep")
        await until(lambda: (self.home / "server.json").exists() and (self.folder / "endpoint.port").exists())
        for n in range(1, self.settings.clients + 1):
            await self.revive(f"client{n}")

    async def close(self) -> None:
        """End everything."""
        await self._scope.close()
        await self.zygote.clear()
        await self.pipe.close()
        if self.engine is not None:
            await asyncio.to_thread(self.engine.write_acts, self.folder / "prompts.jsonl", self.folder / "acts.jsonl")
            await self.engine.close()

    async def revive(self, name: str) -> None:
        """Start a party."""
        argv = ("client", name) if name.startswith("client") else (name,)
        self.parties[name] = await self.spawn(*argv)

    async def spawn(self, *argv: str) -> Process:
        """Start some process of this run."""
        env = {PLAN: str(self.folder / "plan.json"), "TIPHYS_HOME": str(self.home)}
        if self.engine is not None:
            env["DOCKER_HOST"] = f"unix://{self.engine.socket}"
        return await self.zygote.spawn(self.folder, *argv, **env)

    async def _keep(self) -> None:
        while True:
            for name, process in list(self.parties.items()):
                if process.ended.is_set() and name not in self.held:
                    await self.revive(name)
            await asyncio.sleep(0.01)

    def runners(self) -> list[int]:
        """The process ids of the living runners."""
        known = {p.pid for p in self.parties.values()}
        return [pid for pid in self.zygote.children() if pid not in known]

    async def kill(self, name: str) -> None:
        """SIGKILL a party and wait until it is dead."""
        process = self.parties[name]
        self.killed += not process.ended.is_set() and process.signal(signal.SIGKILL)
        process.signal(signal.SIGCONT)
        await process.ended.wait()

    def _server_at(self) -> tuple[str, int] | None:
        try:
            return "127.0.0.1", int((self.home / "server.port").read_text())
        except (OSError, ValueError):
            return None

    # ---- peace

    def be_quiet(self) -> None:
        """No more messages, no more failing endpoint."""
        (self.folder / "quiet").touch()

    def make_end(self) -> None:
        """Every agent is done with its next step."""
        (self.folder / "end").touch()

    def is_settled(self) -> bool:
        """Whether every outbox is empty, all guidance is resolved and every copy is as long as the log."""
        try:
            return self.outboxes_empty() and self._all_resolved()
        except (driver.Error, ReportableError):
            return False

    def outboxes_empty(self) -> bool:
        """Whether every command is answered."""
        for replica in self.folder.glob("client*.db"):
            with contextlib.closing(connect(replica, readonly=True)) as conn:
                if scalar(conn, "SELECT 1 FROM outbox WHERE state = 'queued'"):
                    return False
        return True

    def _all_resolved(self) -> bool:
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            for row in log.rows(conn):
                if row.state in FINAL_STATES:
                    continue
                facts = [
                    decode_event(b).fact
                    for (b,) in conn.execute(
                        "SELECT body FROM event WHERE session = ? AND kind LIKE 'guidance%'", (row.session,)
                    )
                ]
                done = {f.guidance for f in facts if isinstance(f, GuidanceDelivered | GuidanceWithdrawn)}
                if any(f.guidance not in done for f in facts if isinstance(f, GuidanceQueued)):
                    return False
        return True

    def is_working(self) -> bool:
        """Whether some agent has made a step."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return any(r.steps for r in log.rows(conn))

    def is_over(self) -> bool:
        """Whether every session has ended and every runner is gone."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return all(r.state in FINAL_STATES for r in log.rows(conn)) and not self.runners()


async def until(holds: Callable[[], bool], seconds: float = 60.0) -> float:
    """Wait for something on disk; gives how long it took. Raises TimeoutError."""
    began = time.monotonic()
    while not holds():
        if time.monotonic() - began > seconds:
            raise TimeoutError
        await asyncio.sleep(0.05)
    return time.monotonic() - began


@contextlib.asynccontextmanager
async def zygote(folder: Path) -> AsyncIterator[Zygote]:
    """A zygote, ended whatever happens."""
    made = Zygote(folder)
    try:
        await made.start()
        yield made
    finally:
        await made.close()


@contextlib.asynccontextmanager
async def standing(folder: Path, settings: Settings, made: Zygote, **plan: Any) -> AsyncIterator[Stand]:
    """A stand, ended whatever happens."""
    stand = Stand(folder, settings, made, **plan)
    try:
        await stand.start()
        yield stand
    finally:
        await stand.close()
