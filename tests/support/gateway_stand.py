"""A session of an external agent through the product's own server, runner, log and a desktop's replica."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path

import msgspec
from support.scripted_upstream import Script, Upstream, serve
from support.server_process import ServerProcess
from support.wire import account, admin_token, running_client, serving, until

from core.client.client import Client
from core.domain.context import MessageRef, apply_delta
from core.domain.events import ExchangeMade, Fact, SnapshotTaken
from core.domain.ids import new_id, root_session
from core.domain.session import SessionRow
from core.domain.task import AgentSettings, Host, Limits, ModelSettings, Task
from core.domain.trajectory import Trajectory, fold
from core.protocol.messages import Ack, Nak
from core.protocol.operations import Control, CreateSession, Guide
from core.sandbox.local import LocalSandbox
from core.store import blobs, log
from core.store.sqlite import connect
from core.tasks.allowances import Allowances

SESSION = f"s-{new_id()}"
"""A name of this process's own: containers are named after it."""

TASK = "TASK-MAIN: repair calc.py so that check.py passes."
FILES = {"calc.py": "def add(a, b):\n    return a - b\n",
         "check.py": 'from calc import add\nassert add(1, 2) == 3\nprint("ok")\n'}
KEY = "sk-the-real-key-0123456789"


class GatewayStand:
    """Home, server, runner processes and the scripted endpoint of one session."""

    def __init__(self, folder: Path, script: Script | None = None, *, path: str = "") -> None:
        """`path` stands before PATH, so that the agents are found."""
        self.home = folder / "home"
        self.home.mkdir(parents=True)
        self.folder = self.home / "sessions" / SESSION
        self.workspace = self.folder / "local" / "main" / "workspace"
        self.process: subprocess.Popen[bytes] | None = None
        self.server: ServerProcess | None = None
        self._serving = serve(script)
        self.upstream: Upstream = next(self._serving)
        self._path = path
        self.url = ""
        self._contained = False
        self._replica = folder / "replica.db"
        for name, text in FILES.items():
            self.workspace.mkdir(parents=True, exist_ok=True)
            (self.workspace / name).write_text(text)

    def settings(self, recipe: str, *, base: str = "", **more: object) -> AgentSettings:
        """The agent of a recipe, unconfined on this machine, at the scripted endpoint."""
        model = ModelSettings(kind="endpoint", name="scripted", base_url=self.upstream.url + base,
                              key_env="TEST_UPSTREAM_TOKEN")
        return AgentSettings(kind="external", recipe=recipe, model=model, sandbox="local", confirmed_unconfined=True,
                             **more)  # type: ignore[arg-type]

    def own(self, dialect: str, options: str = "", **more: object) -> AgentSettings:
        """The small agent of the tests, which has no recipe."""
        command = f"python3 {Path(__file__).with_name('scripted_agent.py')} {dialect} {options}"
        base = "/v1" if dialect in ("chat", "responses") else ""
        return self.settings("", base=base, dialect=dialect, command=command, resume=f"{command} --resume", **more)

    def contained(self, dialect: str, before: str) -> AgentSettings:
        """The small agent in a container without a network, after another command."""
        files = "".join(f"printf %s {shlex.quote(text)} > {name}\n" for name, text in FILES.items())
        return self._in_container(self.own(dialect), "scripted_agent.py", command=f"python3 ~/agent.py {dialect}",
                                  before=f"{files}{before}\n")

    def contained_by_protocol(self) -> AgentSettings:
        """The small agent that speaks the Agent Client Protocol in such a container; a person gives leave."""
        return self._in_container(self.own("chat"), "acp_agent.py", command="python3 ~/agent.py touched.txt",
                                  acp="desktop")

    def _in_container(self, settings: AgentSettings, name: str, *, before: str = "", **more: str) -> AgentSettings:
        self._contained = True
        script = base64.b64encode(Path(__file__).with_name(name).read_bytes()).decode()
        return msgspec.structs.replace(settings, resume="", sandbox="docker", confirmed_unconfined=False, **more,
                                       install=f"{before}echo {script} | base64 -d > ~/agent.py")

    @contextlib.asynccontextmanager
    async def session(self, settings: AgentSettings, limits: Limits = Limits(), *, apart: bool = False
                      ) -> AsyncIterator[Client]:
        """A server (`apart`: a process of its own, which can be killed), a desktop's client with its replica, the
        session and its runner."""
        Allowances(self.home / "allowed").allow_key("TEST_UPSTREAM_TOKEN", settings.model.base_url)
        async with contextlib.AsyncExitStack() as stack:
            self.server = ServerProcess(self.home) if apart else None
            server = stack.enter_context(self.server) if self.server else await stack.enter_async_context(
                serving(self.home))
            self.url = server.url
            async with running_client(self._replica, self.url, admin_token(self.home), SESSION) as client:
                task = Task(id="t", title="Repair calc", description=TASK, hosts=(Host(name="main"),), limits=limits)
                reply = await client.answer(await client.send(SESSION, CreateSession(task=task, agent=settings)))
                assert isinstance(reply, Ack), reply
                self.start_runner()
                yield client

    def snapshots(self) -> list[SnapshotTaken]:
        """Those that the server's log tells of."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return log.snapshots(conn, SESSION)

    def start_runner(self, session: str = SESSION) -> subprocess.Popen[bytes]:
        """A runner of the session, as the server starts it; of another one, which it works on from now on."""
        self.folder = self.home / "sessions" / session
        self.workspace = self.folder / "local/main/workspace"
        self.folder.mkdir(parents=True, exist_ok=True)
        token = self.folder / "token"
        if not token.exists():
            token.write_text(account(self.home, f"agent:{session}", f"agent:{session}"))
        argv = [sys.executable, "-m", "core.cli", "agent", "--session", session, "--url", self.url, "--token-file",
                str(token), "--folder", str(self.folder), "--allow"]
        env = {**os.environ, "TIPHYS_HOME": str(self.home), "TEST_UPSTREAM_TOKEN": KEY}
        if self._path:
            env["PATH"] = f"{self._path}{os.pathsep}{env['PATH']}"
        with (self.folder / "runner.log").open("ab") as out:
            self.process = subprocess.Popen(argv, stdout=out, stderr=out, env=env)
        return self.process

    def kill_runner(self) -> None:
        """SIGKILL."""
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait()

    async def guide(self, client: Client, text: str, session: str = SESSION) -> str:
        """A person's advice; gives its id."""
        name = new_id()
        await client.answer(await client.send(session, Guide(guidance=name, text=text)))
        return name

    async def control(self, client: Client, what: str, session: str = SESSION) -> Ack | Nak:
        """A person's control; gives the answer."""
        return await client.answer(await client.send(session, Control(control=what)))  # type: ignore[arg-type]

    async def over(self, client: Client, seconds: float = 90.0) -> Trajectory:
        """Wait for the runner's end; the trajectory, which the desktop's replica equals."""
        process = self.process
        assert process is not None
        await until(lambda: self.process is not None and self.process.poll() is not None, seconds=seconds)
        await until(lambda: client.replica.head(SESSION) == self.trajectory().seq)
        return self.trajectory()

    def trajectory(self, session: str = SESSION) -> Trajectory:
        """The session as its log says."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return fold(session, log.read_all(conn, session))

    def subagents(self) -> list[SessionRow]:
        """The sessions of the agent's subagents."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return [row for row in log.rows(conn) if row.session != SESSION and root_session(row.session) == SESSION]

    def facts(self, kind: type[Fact], session: str = SESSION) -> list[Fact]:
        """All facts of a kind."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return [p.event.fact for p in log.read_all(conn, session) if isinstance(p.event.fact, kind)]

    def blob(self, name: str) -> bytes:
        """A payload of the log."""
        with contextlib.closing(connect(self.home / "server.db", readonly=True)) as conn:
            return blobs.get(conn, name)

    def requests_in_log(self, sessions: Sequence[str] = ()) -> dict[tuple[str, int], tuple[ExchangeMade, bytes]]:
        """Every exchange with the bytes of its request, put together from the logs alone (of the stand's session and
        its subagents where no other are named), in the order of their beginnings; by session and number."""
        found: list[tuple[str, ExchangeMade, bytes]] = []
        for session in sessions or (SESSION, *(row.session for row in self.subagents())):
            bodies: dict[int, list[MessageRef]] = {0: []}
            for fact in sorted(self.facts(ExchangeMade, session), key=lambda f: f.number):
                assert isinstance(fact, ExchangeMade)
                bodies[fact.number] = apply_delta(bodies[fact.since], fact.pieces)
                found.append((session, fact, b"".join(self.blob(piece.hash) for piece in bodies[fact.number])))
        found.sort(key=lambda one: one[1].started_at)
        return {(session, fact.number): (fact, raw) for session, fact, raw in found}

    def said(self) -> str:
        """What the runner wrote, for a failed test."""
        path = self.folder / "runner.log"
        shown = path.read_text()[-3000:] if path.exists() else ""
        tape = self.folder / "local" / "main" / "state" / "agent"
        return shown + (tape.read_bytes()[-3000:].decode(errors="replace") if tape.is_file() else "")

    def close(self) -> None:
        """End what runs."""
        self.kill_runner()
        with contextlib.suppress(StopIteration):
            next(self._serving)
        for place in self.home.glob("sessions/*/local/main/s"):
            asyncio.run(LocalSandbox(SESSION, Host(name="main"), place.parents[2]).stop())
        if self._contained:
            from core.sandbox.docker import DockerSandbox

            asyncio.run(DockerSandbox(SESSION, Host(name="main"), self.folder, home=str(self.home)).remove())


def standing(folder: Path, script: Script | None = None, **more: str) -> Iterator[GatewayStand]:
    """A stand for a fixture."""
    stand = GatewayStand(folder, script, **more)
    try:
        yield stand
    finally:
        stand.close()


