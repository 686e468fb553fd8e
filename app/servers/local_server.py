"""The connections: one to each server, and a private server that is started as a process of its own and kept alive."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess

from PySide6.QtCore import QObject

from app.desk.desk import Desk
from app.desk.notices import Notices, sentence_of
from app.desk.session_key import key_of
from core import program
from core.aio import TaskScope
from core.domain.errors import ReportableError, Unavailable, make_error
from core.domain.version import named, numbers, version
from core.protocol.client_state import HELD
from core.protocol.messages import Failed
from core.store.endpoint import Endpoint, serving
from core.store.home import Home
from core.store.lock import is_held

START_S = 30.0
SLOW_S = 300.0
"""How long a server may take to answer: one that somebody else started, and one of our own, whose life is seen. On a
busy machine it answers late, and until then the window says that it starts."""

CHECK_S = 2.0


class DeskConnection:
    """Keeps one desk's client running; each server has its own, so that none waits for another."""

    def __init__(self, desk: Desk, scope: TaskScope, notices: Notices) -> None:
        self._desk, self._scope, self._notices = desk, scope, notices
        self._task: asyncio.Task[None] | None = None
        self.url = ""
        self.wanted: tuple[str, str] | None = None
        """(url, token) that it works with; None while it is offline by choice."""

    def connect_to(self, url: str, token: str) -> None:
        """Work with the server of an address; one that was worked with before is left."""
        self._stop()
        from core.client.client import Client  # with all of WebSocket, which no window waits for

        self.url, self.wanted = url, (url, token)
        client = Client(self._desk.replica, url, token, program=named("tiphys desktop"))
        client.on_failed.append(self._on_failed)
        self._desk.attach(client)
        self._task = self._scope.spawn(client.run(), name="client")

    def _on_failed(self, failed: Failed) -> None:
        if failed.code == HELD:
            session = key_of(failed.about, self._desk.server)
            why = make_error(failed.kind, failed.code, failed.sentence, failed.params)
            self._notices.tell(sentence_of(why), "error", session)

    def leave(self) -> asyncio.Task[None] | None:
        """Work without a server; the task ends soon."""
        task = self._stop()
        self.url, self.wanted = "", None
        self._desk.detach()
        return task

    def _stop(self) -> asyncio.Task[None] | None:
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
        return task


class LocalServer(QObject):
    """This home's own server: started where it does not run, kept alive, and the desk connected to it."""

    def __init__(self, home: Home, desk: Desk, scope: TaskScope, notices: Notices) -> None:
        super().__init__()
        self._home, self._desk, self._scope, self._notices = home, desk, scope, notices
        self._child: subprocess.Popen[bytes] | None = None
        self._connection = DeskConnection(desk, scope, notices)
        self._serving = False

    def serve_here(self) -> None:
        """Work with this home's own server; start it when it does not run."""
        if not self._serving:
            self._serving = True
            self._scope.spawn(self._keep_serving(), name="private server")

    async def _keep_serving(self) -> None:
        reported = False
        while True:
            try:
                endpoint = await self._endpoint()
            except ReportableError as error:
                if not reported:
                    self._notices.report(error)
                reported = True
                await asyncio.sleep(5 * CHECK_S)
                continue
            reported = False
            if endpoint.url != self._connection.url:
                self._connection.connect_to(endpoint.url, self._home.admin_token.read_text(encoding="utf-8").strip())
            elif self._desk.client is not None:
                self._desk.client.hurry()
            while is_held(self._home.server_lock):
                await asyncio.sleep(CHECK_S)

    async def _endpoint(self) -> Endpoint:
        await self._end_older()
        if not is_held(self._home.server_lock):
            self._child = self._start()
        loop = asyncio.get_running_loop()
        began = loop.time()
        while loop.time() < began + (SLOW_S if self._child is not None else START_S):
            if (endpoint := self._endpoint_now()) is not None:
                return endpoint
            if self._child is not None and self._child.poll() is not None:
                break
            await asyncio.sleep(0.05)
        raise Unavailable("server_start", "The private server did not start.", folder=str(self._home.logs))

    async def _end_older(self) -> None:
        """A server that a window of an older version left behind, for this computer alone: it ends, so that this
        version's takes its place and brings the log up to date. Its runners go on, and their sessions with them."""
        found = self._endpoint_now()
        if found is None or found.addresses or numbers(found.version) >= numbers(version()):
            return
        with contextlib.suppress(PermissionError, ProcessLookupError, TimeoutError):
            os.kill(found.pid, signal.SIGTERM)
            async with asyncio.timeout(START_S):
                while is_held(self._home.server_lock):
                    await asyncio.sleep(0.05)

    def _endpoint_now(self) -> Endpoint | None:
        """Where the home's server listens, and lets this computer in."""
        return serving(self._home) if self._home.admin_token.exists() else None

    def _start(self) -> subprocess.Popen[bytes]:
        with (self._home.logs / "server-output.log").open("ab") as out:
            return subprocess.Popen(program.command("tiphys", "--home", str(self._home.path), "serve", "--private"),
                                    stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)

    def leave(self, *, sessions_run: bool) -> None:
        """The window closes: the server that was started here stays while sessions run, else it is told to end."""
        if self._child is None or self._child.poll() is not None:
            return
        if not sessions_run:
            self._child.terminate()
        self._child.returncode = 0  # it outlives us on purpose; without this Python warns of a running child
