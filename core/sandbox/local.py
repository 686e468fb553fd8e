"""The *unconfined* local sandbox: the same daemon as a plain process of this user, in a folder.

Whatever an agent runs here can do all that the user can. It exists so that a person without a Docker engine
can try the program, and only after saying so (`AgentSettings.confirmed_unconfined`).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from core import program
from core.domain.errors import ReportableError, Unavailable
from core.domain.task import Host
from core.sandbox.daemon_link import Streams
from core.sandbox.daemon_socket import BOOT, connect_socket, make_socket_folder, size_of
from core.sandbox.replies import DoneReply
from core.sandbox.sandbox import Sandbox

PASSED_ON = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER", "LOGNAME", "TMPDIR", "SHELL")
"""What a local sandbox inherits of this process's environment; keys and tokens stay behind."""

DETACH = "import os; os.fork() and os._exit(0); os.setsid(); "


class LocalSandbox(Sandbox):
    """A host that is only a folder of this machine. Nothing is confined."""

    confined = False

    def __init__(self, session: str, host: Host, folder: Path) -> None:
        """`folder` is the session's; the workspace lies in it and stays when the sandbox is removed."""
        self.session = session
        self.folder = (folder / "local" / host.name).absolute()
        super().__init__(host, str(self.folder / "workspace"))
        self.folders["home"] = str(self.folder / "home")

    async def start(self) -> None:
        make_socket_folder(self.folder)
        if await self._answers():
            return
        self.is_new = not (self.folder / "workspace").exists()
        for name in ("workspace", "home", "state"):
            (self.folder / name).mkdir(exist_ok=True, mode=0o700)
        await asyncio.to_thread(self._launch)
        for _ in range(500):
            if (self.folder / "s").exists() and await self._answers():
                return
            await asyncio.sleep(0.05)
        raise Unavailable("sandbox_start", f"The local sandbox {self.host.name} did not start; see {self.folder}/log.")

    async def disk_used(self) -> int:
        return await asyncio.to_thread(size_of, self.folder)

    async def stop(self) -> None:
        """See Sandbox. The daemon is gone afterwards: a start right after must not meet it dying."""
        with contextlib.suppress(Unavailable):
            await self.link.ask(DoneReply, "shutdown", timeout=5)
        await self.close()
        for _ in range(250):
            try:
                _, writer = await connect_socket(self.folder)
            except OSError:
                return
            writer.close()
            await asyncio.sleep(0.02)

    async def end(self) -> bool:
        """Stop the daemon where one still answers; whether one did."""
        answers = await self._answers()
        if answers:
            await self.stop()
        await self.close()
        return answers

    async def remove(self) -> None:
        """End everything; the workspace stays, as it may hold the person's own work."""
        await self.stop()
        for name in ("state", "home"):
            await asyncio.to_thread(shutil.rmtree, self.folder / name, ignore_errors=True)

    @classmethod
    def left_in(cls, session: str, folder: Path) -> list[LocalSandbox]:
        """The hosts of a session whose daemon has left its socket in the session's folder; it may run still."""
        return [cls(session, Host(name=socket.parent.name), folder) for socket in sorted(folder.glob("local/*/s"))]

    async def _connect(self) -> Streams:
        return await connect_socket(self.folder)

    async def _answers(self) -> bool:
        try:
            await self.terminals.list()
        except ReportableError:
            return False
        return True

    def _launch(self) -> None:
        """Start the daemon in a session of its own, so that it outlives this process."""
        if sys.platform == "win32":
            raise Unavailable("no_local_sandbox", "The local sandbox needs Linux or macOS.")
        python = program.interpreter()
        shell = shutil.which("bash")
        if not python or not shell:
            raise Unavailable("no_local_sandbox", "The local sandbox needs python3 and bash on this machine.")
        argv = [python, "-I", "-B", "-c", DETACH + BOOT, str(Path(__file__).parent), "serve", str(self.folder),
                str(self.folder / "state"), self.workspace, shell]
        env = {k: os.environ[k] for k in PASSED_ON if k in os.environ} | {"HOME": str(self.folder / "home")}
        with (self.folder / "log").open("ab") as log:
            subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env, cwd=self.folder, check=True)
