"""One process of a run: the real server, the real runner, a headless client with a real replica, or the endpoint.

What differs from the product is said in `_hasten` and `_world`: waiting times are shortened, and the runner's actions
are lines in a ledger instead of commands in a sandbox. Mutants and deaths at boundaries are put in here too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import random
import sys
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from faults import boundaries, endpoint, mutants, talker

import core.agents.loop
import core.agents.runner
import core.client.dial
import core.client.patience
import core.server.connection
import core.server.recall
import core.server.runners
import core.server.serve
from core.actions.runner import RunnerState
from core.domain.errors import Conflict, ReportableError, Unavailable
from core.domain.session import EX_TEMPFAIL
from core.domain.step import Action, ActionError, Observation, Output
from core.domain.task import Host
from core.store.home import Home

PLAN = "TIPHYS_FAULTS"
"""Environment variable: the file with the plan of the run."""

ACTION_S = 0.01
"""How long an action takes."""


def main(argv: list[str]) -> int:
    """Be a party; gives the exit status."""
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    random.seed(os.urandom(8))
    plan = json.loads(Path(os.environ[PLAN]).read_text())
    kind = argv[0]
    if kind != "server":  # all wait for the server: on a busy machine it must not be the last to have its turn
        os.nice(5)
    _hasten()
    if plan.get("clock"):
        _shift_clock(random.choice((-1, 1)) * timedelta(hours=random.uniform(1, 48)))
    if plan.get("without"):
        mutants.apply(plan["without"])
    dies = plan.get("dies") or {}
    if kind == dies.get("party"):
        boundaries.watch(boundaries.Boundaries(kind, Path(plan["folder"]), dies["at"]))
    return {"server": _server, "agent": _agent, "client": _client, "endpoint": _endpoint}[kind](argv[1:], plan)


def _hasten() -> None:
    """Hours in minutes: shorter pauses and pings, and no end of restarts."""
    core.server.runners.QUICK_S = 0.0
    core.server.runners.LOOK_EVERY_S = 0.1
    core.server.runners.TRY_AGAIN_S = 0.5
    core.server.runners.LOOK_PAUSE_S = 0.01
    core.server.serve.PING_S = 2.0
    core.server.connection.COMMANDS_PER_S = 1000.0
    core.client.patience.LAST_S = core.client.patience.DENIED_S = 0.5
    core.client.dial.connect = partial(_short_pings, core.client.dial.connect)  # type: ignore[assignment]
    core.agents.loop.Agent.__init__.__kwdefaults__["back_off_s"] = 0.02  # type: ignore[index]
    core.agents.runner.CATCH_UP_S = 1.0


def _short_pings(connect: Any, *args: Any, **told: Any) -> Any:
    return connect(*args, **{**told, "ping_interval": 2, "ping_timeout": 2})


def _shift_clock(by: timedelta) -> None:
    class Shifted(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + by

    modules = [(name, module) for name, module in list(sys.modules.items()) if name.startswith("core.")]
    for _, module in modules:  # their annotations are read now, while `datetime` still is what they mean
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
                with contextlib.suppress(NameError, TypeError):
                    msgspec.json.Decoder(kind)
    for _, module in modules:
        if getattr(module, "datetime", None) is datetime:
            module.datetime = Shifted  # type: ignore[attr-defined]


def _server(argv: list[str], plan: dict[str, Any]) -> int:
    if plan.get("elsewhere"):
        core.server.recall.recall_sessions = lambda conn, home: []
        core.server.recall.recall_entries = _nothing
    try:
        core.server.serve.run(
            core.server.serve.ServeSettings(home=Home(plan["home"]), private=True, runner=tuple(plan["runner"]))
        )
    except ReportableError as error:  # a disk that is broken at the start
        logging.getLogger("session").warning("%s", error.sentence)
        return 1
    return 0


async def _nothing(*_: Any) -> int:
    return 0


def _agent(argv: list[str], plan: dict[str, Any]) -> int:
    told = dict(zip(argv[::2], argv[1::2], strict=True))
    _world(Path(plan["folder"]), in_containers=bool(plan["sandbox"]))
    try:
        token = Path(told["--token-file"]).read_text().strip()
    except FileNotFoundError:  # the session ended before this second runner came
        return 1
    try:
        asyncio.run(core.agents.runner.run_session(Path(told["--folder"]), plan["url"], token, told["--session"]))
    except Conflict as error:
        logging.getLogger("agent").warning("%s", error.sentence)
        return 1
    except Unavailable as error:
        logging.getLogger("agent").warning("%s", error.sentence)
        return EX_TEMPFAIL
    return 0


def _client(argv: list[str], plan: dict[str, Any]) -> int:
    asyncio.run(talker.run(argv[0], plan))
    return 0


def _endpoint(argv: list[str], plan: dict[str, Any]) -> int:
    asyncio.run(
        endpoint.run(
            Path(plan["folder"]),
            plan["seed"],
            steps=plan["steps"],
            failing=plan["failing"],
            pace_s=plan["pace_s"],
            act="echo {} >> acts" if plan["sandbox"] else "{}",
        )
    )
    return 0


# ---- the runner's world


class Ledger:
    """Carries actions out by writing them down, in a file that outlives everybody (`ActionRunner` for the loop)."""

    def __init__(self, path: Path, session: str) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._session = session

    async def start(self) -> None:
        """Nothing to start."""

    async def run(self, action: Action, step: int) -> Observation:
        """Write the action down."""
        if action.tool != "finish":
            line = {"session": self._session, "step": step, "call": action.call_id}
            os.write(self._file, json.dumps(line).encode() + b"\n")
            await asyncio.sleep(ACTION_S)
        return Observation(call_id="", output=Output(text=f"did {action.call_id}"), exit_code=0)

    async def recover(self, action: Action, step: int) -> Observation:
        """What was begun before a crash is not repeated."""
        error = ActionError(kind="interrupted", message="The runner was restarted while this ran.")
        return Observation(call_id="", status="failed", error=error)

    async def interrupt(self) -> bool:
        """Nothing runs long."""
        return False

    async def flush(self) -> None:
        """Nothing is held back."""

    def offsets(self) -> dict[str, int]:
        """There are no terminals."""
        return {}

    def state(self) -> RunnerState:
        """There is none."""
        return RunnerState()

    async def close(self) -> None:
        """Let go."""
        os.close(self._file)


class Nowhere:
    """A sandbox in which nothing can be done."""

    workspace = "/nowhere"
    host = Host(name="main")

    async def disk_used(self) -> int:
        """Nothing is written."""
        return 0

    async def start(self) -> None:
        """Nothing to start."""

    async def stop(self) -> None:
        """Nothing to stop."""


def _world(folder: Path, in_containers: bool) -> None:
    if in_containers:
        return

    def acts(hosts: Any, sink: Any, *more: Any) -> Ledger:
        return Ledger(folder / "acts.jsonl", sink._journal.session)

    core.agents.runner.ActionRunner = acts  # type: ignore[assignment,misc]
    core.agents.runner.open_sandbox = lambda *a, **k: Nowhere()  # type: ignore[assignment]


def now() -> str:
    """The time, for lines of evidence."""
    return datetime.now(UTC).isoformat()
