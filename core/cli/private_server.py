"""A server for the length of a command: the one that runs already, or a private one as a child process."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

from core import program
from core.domain.errors import Unavailable
from core.store.endpoint import serving
from core.store.home import Home
from core.store.lock import is_held

_START_S = 30.0
_END_S = 15.0


@contextmanager
def served(home: Home) -> Iterator[str]:
    """The address of a server of this home. One that is started here ends with the block."""
    if endpoint := serving(home):
        yield endpoint.url
        return
    child = start(home)
    try:
        yield wait_until_ready(home, child)
    finally:
        end(child)


def start(home: Home) -> subprocess.Popen[bytes]:
    """Start a private server; its log goes to the home's logs."""
    out = (home.logs / "server-output.log").open("ab")
    command = program.command("tiphys", "--home", str(home.path), "serve", "--private")
    with out:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True)


def wait_until_ready(home: Home, child: subprocess.Popen[bytes]) -> str:
    """The address of the child once it listens, or of the server that another command started first. Raises Unavailable
    when neither comes."""
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline and (child.poll() is None or is_held(home.server_lock)):
        if endpoint := serving(home):
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
