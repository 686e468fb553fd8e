"""The processes of the whole product, started, asked and killed as the end-to-end tests need."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from core.cli import main
from core.domain.events import Fact, Placed, decode_event
from core.domain.trajectory import Trajectory, fold
from core.store import log
from core.store.sqlite import connect

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
ANSWER_S = 90.0


class Parts:
    """One home folder with its server, its runners and its window."""

    def __init__(self, home: Path, **env: str) -> None:
        self.home = home
        paths = os.pathsep.join(str(p) for p in (ROOT, ROOT / "tests", HERE))
        self.env = {**os.environ, "TIPHYS_HOME": str(home), "QT_QPA_PLATFORM": "offscreen", "LANG": "C.UTF-8",
                    "PYTHONPATH": paths, **env}
        self.server: subprocess.Popen[bytes] | None = None
        self.window: subprocess.Popen[str] | None = None
        self._held: dict[tuple[Path, str], tuple[tuple[str, int], list[Placed]]] = {}
        self._folded: dict[str, tuple[list[Placed], Trajectory]] = {}
        self._facts: dict[str, tuple[list[Placed], list[Fact]]] = {}

    # ---- the command line

    def tiphys(self, *words: str, status: int = 0) -> list[Any]:
        """Run a command; the objects that it prints. `--json` is added.

        In this process, for a process of its own costs more than most commands; not where a loop runs here, nor where
        torch would be loaded.
        """
        if words[0] in ("export", "train") or asyncio._get_running_loop() is not None:
            return self._in_a_process(words, status)
        out, complaints = io.StringIO(), io.StringIO()
        with (mock.patch.dict(os.environ, self.env), mock.patch("sys.excepthook"), contextlib.redirect_stdout(out),
              contextlib.redirect_stderr(complaints)):
            ended = main([*words, "--json"])
        assert ended == status, f"{words}: {ended}\n{out.getvalue()}\n{complaints.getvalue()}"
        return [json.loads(line) for line in out.getvalue().splitlines()]

    def _in_a_process(self, words: Sequence[str], status: int) -> list[Any]:
        command = [sys.executable, "-m", "core.cli", *words, "--json"]
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=200, check=False)
        assert done.returncode == status, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return [json.loads(line) for line in done.stdout.splitlines()]

    # ---- the server

    def start_server(self) -> None:
        """Start the server and wait until it listens."""
        with contextlib.suppress(FileNotFoundError):
            (self.home / "server.json").unlink()
        command = [sys.executable, "-m", "core.cli", "serve", "--private"]
        self.server = subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL)
        wait(lambda: (self.home / "server.json").exists(), "the server listens")

    def kill_server(self) -> None:
        """SIGKILL."""
        assert self.server is not None
        self.server.kill()
        self.server.wait()

    # ---- the runner

    def runners(self, session: str) -> list[int]:
        """The process ids of a session's runners."""
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                with contextlib.suppress(OSError):
                    words = (folder / "cmdline").read_bytes().split(b"\0")
                    if b"agent" in words and session.encode() in words:
                        found.append(int(folder.name))
        return found

    def kill_runner(self, session: str) -> None:
        """SIGKILL the session's runner; there must be exactly one."""
        pids = self.runners(session)
        assert len(pids) == 1, f"runners of {session}: {pids}"
        os.kill(pids[0], signal.SIGKILL)
        wait(lambda: pids[0] not in self.runners(session), "the runner is dead")

    # ---- the window

    def open_window(self, session: str) -> None:
        """Open the desktop on a session, with a typist at it."""
        command = [sys.executable, str(HERE / "typist.py"), str(self.home), session]
        self.window = subprocess.Popen(command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def type(self, line: str) -> str:
        """Have the typist do something; its answer."""
        assert self.window is not None
        assert self.window.stdin is not None
        assert self.window.stdout is not None
        self.window.stdin.write(line + "\n")
        self.window.stdin.flush()
        ready, _, _ = select.select([self.window.stdout], [], [], ANSWER_S)
        assert ready, f"the typist did not answer {line!r} within {ANSWER_S:g} s"
        return self.window.stdout.readline().strip()

    def kill_window(self) -> None:
        """SIGKILL."""
        assert self.window is not None
        self.window.kill()
        self._close_window()

    def close_window(self) -> None:
        """Close it as a person does."""
        assert self.type("quit") == "bye"
        assert self.window is not None
        assert self.window.wait(30) == 0
        self._close_window()

    def _close_window(self) -> None:
        assert self.window is not None
        self.window.wait(30)
        for stream in (self.window.stdin, self.window.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self.window = None

    # ---- what lies on disk

    def trajectory(self, session: str) -> Trajectory:
        """The session as the log of record tells it."""
        placed = self._placed(self.home / "server.db", session)
        if self._folded.get(session, ([], None))[0] is not placed:
            self._folded[session] = placed, fold(session, placed)
        return self._folded[session][1]

    def facts(self, session: str) -> list[Fact]:
        """What the log of record tells, in order."""
        placed = self._placed(self.home / "server.db", session)
        if self._facts.get(session, ([], []))[0] is not placed:
            self._facts[session] = placed, [decode_event(one.body).fact for one in placed]
        return self._facts[session][1]

    def bodies(self, database: Path, session: str) -> list[bytes]:
        """The event bodies of a session in some database."""
        return [placed.body for placed in self._placed(database, session)]

    def _placed(self, database: Path, session: str) -> list[Placed]:
        """The very list of before while nothing came: who waits asks twenty times a second, and mostly for nothing."""
        with contextlib.closing(connect(database, readonly=True)) as conn:
            key, head = (database, session), (log.epoch(conn), log.head(conn, session))
            if self._held.get(key, (None, []))[0] != head:
                self._held[key] = head, list(log.read_all(conn, session))
        return self._held[key][1]

    def stop(self, session: str) -> None:
        """Leave nothing running: of a session that is over the runner is just removing its hosts."""
        if self.window is not None:
            self.kill_window()
        for pid in self.runners(session) if self.trajectory(session).row.state != "finished" else ():
            os.kill(pid, signal.SIGTERM)
        wait(lambda: not self.runners(session), "the runner ends")
        if self.server is not None and self.server.poll() is None:
            self.server.terminate()
            self.server.wait(30)


@contextlib.contextmanager
def stopped(whole: Parts, session: str) -> Iterator[None]:
    """Stops everything at the end, whatever happens."""
    try:
        yield
    finally:
        whole.stop(session)


def wait(condition: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    """Wait until something on disk or among the processes is so. Fails with `what` when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"waited {seconds:g} s until {what}"
        time.sleep(0.05)
