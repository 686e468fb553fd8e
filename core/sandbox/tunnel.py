"""The way to machines by SSH, through this machine's own `ssh`: its keys, agents, jump hosts and known hosts count.

Nobody is asked for a password (`BatchMode`), and an unknown machine's key is refused: who runs the server logs in once
by hand, or writes the key into `known_hosts`.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import shutil
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

from core.domain.errors import InvalidInput, Unavailable

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
OPTIONS = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10", "-o", "ServerAliveInterval=10",
           "-o", "ServerAliveCountMax=3", "-o", "ControlPath=none")
OPEN_S = 15.0
_lock = threading.Lock()
_tunnels: dict[str, _Tunnel] = {}


def ssh_argv(url: str) -> list[str]:
    """The `ssh` command line up to the machine's name. Raises InvalidInput (bad_ssh_address), Unavailable (no_ssh)."""
    program = shutil.which("ssh")
    if program is None:
        raise Unavailable("no_ssh", "This machine has no ssh; install the package openssh-client.")
    try:
        parts = urlsplit(url)
        port, name, user = parts.port, parts.hostname or "", parts.username or ""
    except ValueError:
        parts, port, name, user = urlsplit(""), None, "", ""
    if parts.scheme != "ssh" or not name or name.startswith("-") or user.startswith("-") or parts.password:
        raise InvalidInput("bad_ssh_address", f"{url[:120]!r} is no address of the form ssh://[USER@]HOST[:PORT].")
    return [program, *OPTIONS, *(["-p", str(port)] if port else []), *(["-l", user] if user else []), name]


def engine_tunnel(url: str) -> str:
    """The address of a socket of this machine behind which the Docker engine of another one answers. Blocking.

    One tunnel for each address and process; a dead one is made anew. The path of `ssh://HOST/PATH` is the engine's
    socket there. Raises Unavailable (ssh_failed).
    """
    with _lock:
        tunnel = _tunnels.get(url)
        if tunnel is None or not tunnel.is_alive():
            if tunnel is not None:
                tunnel.close()
            tunnel = _tunnels[url] = _Tunnel(url)
        return f"unix://{tunnel.socket}"


class _Tunnel:
    """One `ssh -L`, whose socket lies in a folder of its own."""

    def __init__(self, url: str) -> None:
        self._folder = tempfile.mkdtemp(prefix="tiphys-ssh-")
        self.socket = Path(self._folder) / "s"
        remote = urlsplit(url).path or "/var/run/docker.sock"
        argv = ssh_argv(url)
        argv[1:1] = ["-N", "-T", "-o", "ExitOnForwardFailure=yes", "-L", f"{self.socket}:{remote}"]
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the tunnel
        self._process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                         stderr=self._errors, start_new_session=True)
        atexit.register(self.close)
        self._wait(url)

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        atexit.unregister(self.close)
        with contextlib.suppress(ProcessLookupError):
            self._process.terminate()
        self._process.wait()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _wait(self, url: str) -> None:
        until = time.monotonic() + OPEN_S
        while not self.socket.exists():
            if not self.is_alive() or time.monotonic() > until:
                self._errors.seek(0)
                why = self._errors.read().decode("utf-8", "replace").strip()[-300:] or "no answer"
                self.close()
                raise Unavailable("ssh_failed", f"{url} cannot be reached by SSH: {why}.", why=why)
            time.sleep(0.02)


async def ssh_streams(url: str, command: str) -> Streams:
    """Run a command on a machine and give its input and output as streams; it ends with them. Raises as `ssh_argv`."""
    process = await asyncio.create_subprocess_exec(
        *ssh_argv(url)[:-1], "-T", ssh_argv(url)[-1], command, stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL, start_new_session=True)
    assert process.stdin is not None
    assert process.stdout is not None
    return process.stdout, process.stdin
