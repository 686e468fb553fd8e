"""An external agent as a program in a terminal of its session's first host: installed, started, watched, ended; and
the commands that it runs at this moment, which a person may end without it."""

import asyncio
import io
import logging
import re
import shlex
import zipapp
from pathlib import Path

import msgspec

from core.actions.runner import ActionRunner
from core.agents.journal import Journal
from core.domain.errors import NotFound, ReportableError, Unavailable
from core.gateway import acp
from core.gateway.recipe import ACP_PROGRAM, Recipe, RecipeValues
from core.sandbox.sandbox import Sandbox
from core.sandbox.streams import own_python
from core.sandbox.values import Job, Ran

log = logging.getLogger("agent")

TERMINAL = "agent"
RETOLD = "TIPHYS_RETOLD"
"""The variable of a `resume` whose agent writes no record: the task, with what the session knows of what it did."""
INSTALL_S, PROBE_S, KILL_S, LOOK_S = 1800.0, 60.0, 5.0, 5.0
_ESCAPES = re.compile(r"\x1b(?:\].*?(?:\x07|\x1b\\|\Z)|\[[0-?]*[ -/]*[@-~])", re.DOTALL)
_PATH = 'export PATH="$HOME/.local/bin:$PATH"'

_INTERRUPT = r"""
import os, signal, sys
top, since = int(sys.argv[1]), float(sys.argv[2])
with open("/proc/uptime") as file:
    now = float(file.read().split()[0])
parents, ages = {}, {}
for entry in os.listdir("/proc"):
    if entry.isdigit():
        try:
            with open("/proc/%s/stat" % entry, errors="replace") as file:
                fields = file.read().rpartition(")")[2].split()
        except OSError:
            continue
        parents[int(entry)] = int(fields[1])
        ages[int(entry)] = now - int(fields[19]) / os.sysconf("SC_CLK_TCK")
def above(pid):
    while pid in parents and pid != top:
        pid = parents[pid]
        yield pid
since += ages[os.getpid()]  # how long this program took to begin
tools = [pid for pid in parents if parents[pid] != top and top in above(pid) and ages[pid] <= since]
for pid in tools:
    try:
        os.kill(pid, signal.SIGINT)
    except OSError:
        pass
print(len(tools))
"""
"""Below the terminal's shell is the agent; what is below that and began after the model's answer is its tools."""

_INTERRUPT_SLACK_S = 0.5


def acp_program() -> bytes:
    """What speaks with an agent of the Agent Client Protocol, as one file that any Python from 3.9 on runs."""
    file, package = io.BytesIO(), Path(acp.__file__).parent
    zipapp.create_archive(package.parent, file, main=f"{package.name}.program:main",
                          filter=lambda part: part.parent.name == package.name and part.suffix == ".py")
    return file.getvalue()


class Start(msgspec.Struct, frozen=True):
    """The start that was made last: its job in the terminal, how many there were, at which step."""

    job: str
    count: int = 1
    step: int = 0


class AgentProcess:
    """The agent's program. It outlives the runner; a runner that comes later finds it by its job."""

    def __init__(self, journal: Journal, host: Sandbox, actions: ActionRunner, recipe: Recipe) -> None:
        self._journal, self._host, self._actions, self._recipe = journal, host, actions, recipe

    @property
    def last(self) -> Start | None:
        """The start that was made last."""
        return self._journal.slot("agent_start", Start)

    async def prepare(self, filling: RecipeValues) -> str:
        """Have the agent and its files there; gives its version. Raises Unavailable (agent_not_installed)."""
        host = self._host.host.name
        version, why = await self._version(), ""
        if not version and self._recipe.install:
            log.info("installing %s", self._recipe.title)
            done = await self._run(self._recipe.install, INSTALL_S)
            version = await self._version()
            why = f": {_text(done).strip()[-500:]}"
        if not version and self._recipe.probe:
            raise Unavailable("agent_not_installed", f"{self._recipe.title} is not installed on host {host}{why}.",
                              host=host)
        home = await self._home()
        for name, text in self._recipe.files.items():
            await self._host.write_file(name.replace("~", home, 1), filling.fill(text).strip().encode() + b"\n")
        await self._host.write_file(f"{home}/.tiphys/task.md", filling.task.encode())
        if self._recipe.speaks_acp:
            await self._host.write_file(f"{home}/{ACP_PROGRAM}", acp_program())
        return version

    async def write_retold(self, text: str) -> None:
        """Have the next start find this as RETOLD."""
        await self._host.write_file(f"{await self._home()}/.tiphys/retold.md", text.encode("utf-8", "replace"))

    async def start(self, filling: RecipeValues, command: str, step: int) -> Start:
        """Start a command of the recipe in the terminal. The journal knows of it before it runs."""
        before = self.last
        count = before.count + 1 if before else 1
        start = Start(f"agent-{count}", count, step)
        self._journal.put_slot("agent_start", start)
        host = self._host.host.name
        await self._host.terminals.open(TERMINAL, offset=self._journal.terminals().get(f"{host}/{TERMINAL}", 0))
        self._actions.follow(host, TERMINAL)
        values = {**self._recipe.env, "TIPHYS_MODEL": "{model}"}
        exports = " ".join(f"{name}={shlex.quote(filling.fill(value))}" for name, value in values.items())
        text = (f'{_PATH} {exports} TIPHYS_TASK="$(cat ~/.tiphys/task.md)"'
                f' {RETOLD}="$(cat ~/.tiphys/retold.md 2>/dev/null)"\n'
                f"cd {shlex.quote(filling.workspace)}\n{command}\n")
        await self._host.terminals.command(TERMINAL, start.job, text)
        return start

    async def ended(self, start: Start) -> Job | None:
        """Wait for the end of a start; None where nobody knows of it any more, or it never began."""
        while True:
            try:
                job = await self._host.terminals.wait_job(start.job, LOOK_S)
                if job.ended:
                    return job
            except NotFound:
                return None
            except ReportableError as error:  # its daemon is gone for a moment, or for good
                log.info("the agent's terminal: %s", error.sentence)
                await self._host.start()

    async def end(self) -> None:
        """End the agent and all that it started."""
        try:
            for force in (False, True):
                if not await self._host.terminals.kill(TERMINAL, force=force):
                    return
                await asyncio.sleep(KILL_S if not force else 0.2)
        except ReportableError as error:
            log.info("the agent's terminal: %s", error.sentence)

    async def interrupt_tools(self, since_s: float) -> int:
        """Send SIGINT to what the agent has started since the model's answer, so many seconds ago, never to the agent;
        gives how many processes got it. Raises Unavailable where the sandbox does not answer."""
        shell = next((info.pid for info in await self._host.terminals.list() if info.name == TERMINAL), 0)
        if not shell:
            return 0
        ran = await self._host.run(
            own_python("-I", "-c", _INTERRUPT, str(shell), f"{since_s + _INTERRUPT_SLACK_S:.1f}"), timeout=10.0)
        words = _text(ran).split()
        return int(words[-1]) if ran.exit_code == 0 and words and words[-1].isdecimal() else 0

    async def last_words(self) -> str:
        """The end of what the terminal shows, for a person who asks why it died."""
        try:
            infos = {info.name: info for info in await self._host.terminals.list()}
            total = infos[TERMINAL].total if TERMINAL in infos else 0
            data = (await self._host.terminals.read(TERMINAL, max(0, total - 2000), total)).data
        except ReportableError:
            return ""
        shown = _ESCAPES.sub("", data.decode("utf-8", "replace"))
        lines = [line.strip() for line in shown.splitlines() if line.strip()]
        return " ".join(lines[-3:])[-400:]

    async def _home(self) -> str:
        return _text(await self._run('printf %s "$HOME"', PROBE_S))

    async def _version(self) -> str:
        if not self._recipe.probe:
            return ""
        ran = await self._run(self._recipe.probe, PROBE_S)
        words = _text(ran).strip().splitlines()
        return words[-1][:100] if ran.exit_code == 0 and words else ""

    async def _run(self, command: str, seconds: float) -> Ran:
        return await self._host.run(["bash", "-c", f"{_PATH}\n{command}"], timeout=seconds)


def _text(ran: Ran) -> str:
    return ran.output.decode("utf-8", "replace")
