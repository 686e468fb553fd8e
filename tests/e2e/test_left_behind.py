"""Whoever started a process is killed: what nobody needs any more ends by itself, and what somebody needs stays."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.agents import turns
from support.stranger import foreigner
from support.tally import tally

from core.program import PARTS
from core.store import log
from core.store.endpoint import read_endpoint
from core.store.home import Home
from core.store.schema import open_log
from core.store.sqlite import connect

PATIENCE_S = 90.0
ROOT = Path(__file__).parents[2]


def wait(condition: Callable[[], object], what: str) -> None:
    """Until it is so."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def waits(pid: int) -> bool:
    """Whether a process has begun: it has done nothing for a while, as it waits for its input."""
    states = []
    for _ in range(10):
        states.append(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0])
        time.sleep(0.05)
    return set(states) == {"S"}


def is_alive(pid: int) -> bool:
    """Whether a process works; one that is dead and that nobody buried does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


# ---- workers

_PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, *sys.argv[2:]], stdin=int(sys.argv[1]), stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
child.stdout.readline() if "busy" in sys.argv[-1] else time.sleep(1)
print(child.pid, flush=True)
time.sleep(600)
"""

_BUSY = """
import re, sys
from core.workers.serve import serve
def make(send):
    sys.__stdout__.write("busy\\n"); sys.__stdout__.flush()
    return lambda line: re.match("(a+)+b", "a" * 60)
serve(make)
"""


NO_WORKERS = {"tiphys", "desktop", "screenshots", "qt-version", "devices", "train", "small-model"}
"""Parts of the program that do not answer who started them; a training goes on without its window."""


def workers(folder: Path) -> dict[str, list[str]]:
    """Every worker process that there is, by the part that it is."""
    events, index = str(folder / "log.db"), str(folder / "index.db")
    given = {"export": ["--log", events], "rules": ["--log", events, "--rules", str(folder)],
             "search": [events, index], "find": ["--copy", "", events, index]}
    parts = {name: ["-m", module, *given.get(name, [])] for name, module in PARTS.items() if name not in NO_WORKERS}
    return {**parts, "one that a regular expression holds": ["-c", _BUSY]}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_worker_ends_with_whoever_started_it(tmp_path: Path) -> None:
    """Also where its input stays open, as another process has it, and while it cannot listen."""
    open_log(tmp_path / "log.db").close()
    left: list[str] = []
    for name, command in workers(tmp_path).items():
        reading, writing = os.pipe()
        os.write(writing, b"{}\n" if name.startswith("one") else b"")
        parent = subprocess.Popen([sys.executable, "-c", _PARENT, str(reading), *command], pass_fds=[reading],
                                  stdout=subprocess.PIPE)
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        assert is_alive(child), f"{name} runs"
        if not name.startswith("one"):
            wait(lambda child=child: waits(child), name)  # type: ignore[misc]
        parent.send_signal(signal.SIGKILL)
        parent.wait()
        parent.stdout.close()
        try:
            wait(lambda child=child: not is_alive(child), name)  # type: ignore[misc]
        except AssertionError:
            os.kill(child, signal.SIGKILL)
            left.append(name)
        os.close(reading)
        os.close(writing)
    tally("workers whose parent was killed, still there", len(workers(tmp_path)), left)


def test_every_module_that_is_a_process_is_tried_or_named(tmp_path: Path) -> None:
    found = {str(path.relative_to(ROOT).with_suffix("")).replace("/", ".") for folder in ("core", "app")
             for path in (ROOT / folder).rglob("*.py")
             if 'if __name__ == "__main__":' in (text := path.read_text())
             and ("end_with_parent()" in text or path.name.endswith("worker.py"))}
    tried = {command[1] for command in workers(tmp_path).values() if command[0] == "-m"}
    assert found - tried == {PARTS["train"]} and set(PARTS) >= NO_WORKERS


# ---- private servers


@contextlib.contextmanager
def private_server(home: Path, minutes: str) -> Iterator[subprocess.Popen[bytes]]:
    """As a window starts it; whoever started it is dead."""
    server = subprocess.Popen([sys.executable, "-m", "core.cli", "--home", str(home), "serve", "--private"],
                              env={**os.environ, "TIPHYS_IDLE_MINUTES": minutes}, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        wait(lambda: (told := read_endpoint(Home(home))) and told.pid == server.pid, "it listens")
        yield server
    finally:
        if server.poll() is None:
            server.kill()
        server.wait()


_WINDOW = """
import asyncio, sys
from pathlib import Path
from support.wire import running_client, until
print("loaded", flush=True)
url, token = input(), input()
async def main():
    async with running_client(Path(sys.argv[1]), url, token) as client:
        await until(lambda: client.status.state == "online")
        print("online", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


def test_a_private_server_ends_after_its_window_was_killed_and_not_before(tmp_path: Path) -> None:
    home = tmp_path / "home"
    tests = str(Path(__file__).parents[1])
    window = subprocess.Popen(
        [sys.executable, "-c", _WINDOW, str(tmp_path / "copy.db")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": f"{tests}:{os.environ.get('PYTHONPATH', '')}"})
    assert window.stdin is not None and window.stdout is not None
    assert window.stdout.readline() == b"loaded\n"  # the server waits three seconds for who has to load first
    with private_server(home, "0.05") as server:
        told = read_endpoint(Home(home))
        assert told is not None
        window.stdin.write(f"{told.url}\n{Home(home).admin_token.read_text().strip()}\n".encode())
        window.stdin.close()
        assert window.stdout.readline() == b"online\n"
        time.sleep(8)  # more than twice what it may be idle
        assert server.poll() is None, "somebody is connected"
        window.send_signal(signal.SIGKILL)
        window.wait()
        window.stdout.close()
        wait(lambda: server.poll() is not None, "nobody is there any more")
        assert server.returncode == 0


def test_a_private_server_stays_while_a_session_works(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with private_server(home, "0.05") as server:
        asyncio.run(begin(home, turns(20, tool="think").replace("pace_s = 0.0", "pace_s = 0.4")))
        time.sleep(5)
        assert server.poll() is None, "a session is at work"
        wait(lambda: server.poll() is not None, "the session is over, nobody is there")
        assert server.returncode == 0
    with contextlib.closing(connect(Home(home).server_db, readonly=True)) as conn:
        assert log.row(conn, "s").state == "finished"


def test_a_server_and_its_runners_end_when_the_home_folder_is_deleted(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with private_server(home, "0") as server:
        asyncio.run(begin(home, turns(300, tool="think").replace("pace_s = 0.0", "pace_s = 0.4")))
        wait(lambda: len(processes_of(home)) == 2, "a runner is at work")
        shutil.rmtree(home, ignore_errors=True)
        wait(lambda: server.poll() is not None, "its home is gone")
        assert server.returncode == 0
        wait(lambda: not processes_of(home), "so is the runner's")
        assert not (home / "server.db").exists(), "nor does it come back"


def processes_of(home: Path) -> list[int]:
    """Who works in a home folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if f"{home}\0".encode() in path.read_bytes() or f"{home}/".encode() in path.read_bytes():
                found.append(int(path.parent.name))
    return found


async def begin(home: Path, script: str) -> None:
    """Let a session begin, and leave."""
    agent = {"model": {"kind": "scripted", "script": script}, "sandbox": "local", "confirmed_unconfined": True}
    endpoint = read_endpoint(Home(home))
    assert endpoint is not None
    async with foreigner(endpoint.url, Home(home).admin_token.read_text()) as peer:
        task = {"id": "t", "title": "T", "description": "d"}
        told = await peer.command("s", op="create_session", task=task, agent=agent)
        assert told["type"] == "ack", told


def test_a_server_for_others_stays(tmp_path: Path) -> None:
    """Only what was started for a window ends by itself, unless it was asked to."""
    from click.testing import CliRunner

    from core.cli import serve as command

    asked: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(command, "run", lambda settings, ready: asked.append(settings.idle_s))
        patch.setenv("TIPHYS_HOME", str(tmp_path))
        patch.delenv("TIPHYS_IDLE_MINUTES", raising=False)
        for arguments in ([], ["--private"], ["--private", "--idle-minutes", "0"], ["--idle-minutes", "2"]):
            assert CliRunner().invoke(command.serve, arguments).exit_code == 0
    assert asked == [0.0, 900.0, 0.0, 120.0]
