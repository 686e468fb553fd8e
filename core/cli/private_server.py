"""A server for the length of a command: the one that runs already, or a private one as a child process."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from core import program
from core.domain.errors import Unavailable
from core.store.endpoint import read_endpoint
from core.store.home import Home
from core.store.lock import FileLock

_START_S = 30.0
_END_S = 15.0


@contextmanager
def served(home: Home) -> Iterator[str]:
    """The address of a server of this home. One that is started here ends with the block."""
    if is_served(home) and (endpoint := read_endpoint(home)):
        yield endpoint.url
        return
    child = start(home)
    try:
        yield wait_until_ready(home, child)
    finally:
        end(child)


def is_served(home: Home) -> bool:
    """Whether a process holds the home's log."""
    lock = FileLock(home.server_lock)
    free = lock.take()
    lock.release()
    return not free


def start(home: Home) -> subprocess.Popen[bytes]:
    """Start a private server; its log goes to the home's logs."""
    out = (home.logs / "server-output.log").open("ab")
    command = program.command("tiphys", "--home", str(home.path), "serve", "--private")
    with out:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)


def wait_until_ready(home: Home, child: subprocess.Popen[bytes]) -> str:
    """The address of the child once it listens. Raises Unavailable when it ends first or takes too long."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and child.poll() is None:
        endpoint = read_endpoint(home)
        if endpoint and endpoint.pid == child.pid:
            return endpoint.url
        time.sleep(0.05)
    lines = (home.logs / "server-output.log").read_text(errors="replace").strip().splitlines()
    raise Unavailable("server_not_started", f"The private server did not start: {lines[-1] if lines else 'no word'}")


def end(child: subprocess.Popen[bytes]) -> None:
    """End a server tidily, or else by force."""
    child.send_signal(signal.SIGTERM)
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
