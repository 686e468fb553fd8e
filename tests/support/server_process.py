"""A server as a process of its own, that can be killed; sessions are put into its log before it starts."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

from support.logs import Maker, fill

from core.store.endpoint import read_endpoint
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import transaction

_SERVE = """
import sys
from core.server.serve import ServeSettings, run
from core.store.home import Home
port = int(sys.argv[2]) or None
settings = ServeSettings(home=Home(sys.argv[1]), private=True, supervise=False, port=port)
run(settings, lambda server: print(server.url, flush=True))
"""


class ServerProcess:
    """One server of one home; it keeps its address over a restart."""

    def __init__(self, folder: Path, **sessions: Maker) -> None:
        self.home = Home(folder)
        with contextlib.closing(open_log(self.home.server_db)) as conn, transaction(conn):
            for name, maker in sessions.items():
                fill(conn, name, maker.bodies, maker.blobs)
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""

    @property
    def token(self) -> str:
        """The administrator's token."""
        return self.home.admin_token.read_text()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        port = self.url.rsplit(":", 1)[1] if self.url else "0"
        self._process = subprocess.Popen([sys.executable, "-c", _SERVE, str(self.home.path), port],
                                         stdout=subprocess.PIPE, cwd=Path(__file__).parents[2])
        assert self._process.stdout is not None
        self._process.stdout.readline()
        told = read_endpoint(self.home)
        assert told is not None
        self.url = told.url

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._process.pid, signal.SIGKILL)
            self._process.wait()
            assert self._process.stdout is not None
            self._process.stdout.close()
            self._process = None

    def __enter__(self) -> ServerProcess:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
