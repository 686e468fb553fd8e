"""One window per home folder: whoever starts a second one hands over what was asked for, and the first is raised.

A UNIX socket in the home folder (mode 0600, peers of the same user only) takes one JSON line and answers one. Where
there are no such sockets every start has a window of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import struct
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec

from core.aio import TaskScope
from core.domain.deep_link import is_link
from core.domain.errors import InvalidInput, ReportableError, Unavailable
from core.domain.ids import is_id
from core.store.home import Home
from core.store.lock import FileLock

MAX_LINE = 1 << 20
ANSWER_S = 5.0
HAND_OVER_S = 15.0
"""How long a second start waits for the first, which may be starting or ending."""

_PATH_LIMIT = 100
"""Bytes of a socket's path that every system takes (108 with the last zero on Linux, 104 elsewhere)."""

Short = Annotated[str, msgspec.Meta(max_length=4096)]


class OpenRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What a command line asked for; paths are absolute."""

    server: Short = ""
    token: Short = ""
    session: Short = ""
    step: Annotated[int, msgspec.Meta(ge=0, le=10**9)] | None = None
    follow: bool = False
    files: Annotated[list[Short], msgspec.Meta(max_length=1000)] = []

    def check(self) -> None:
        """Raises InvalidInput (bad_request) for what no command line of ours would ask for."""
        odd = [f for f in self.files if not is_link(f) and not Path(f).is_absolute()]
        if (self.session and not is_id(self.session)) or odd:
            raise InvalidInput("bad_request", "This is no request that a start of Tiphys makes.")


class Doorbell:
    """Listens while the window is open; `asked` is called on the event loop with each request."""

    def __init__(self, home: Home, scope: TaskScope, asked: Callable[[OpenRequest], None]) -> None:
        self._path = home.path / "desktop.sock"
        self._scope, self._asked = scope, asked
        self._server: asyncio.Server | None = None

    async def listen(self) -> None:
        """Begin; a socket that a killed window left behind is replaced. Holding the lock is the caller's part."""
        if not can_share():
            return
        with contextlib.suppress(FileNotFoundError):
            self._path.unlink()
        made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        with _reachable(self._path) as path:
            made.bind(path)
        self._path.chmod(0o600)
        self._server = await asyncio.start_unix_server(self._on_ring, sock=made, limit=MAX_LINE)

    async def close(self) -> None:
        """Answer no more."""
        if self._server is not None:
            self._server.close()
            self._path.unlink(missing_ok=True)

    def _on_ring(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._scope.spawn(self._answer(reader, writer), name="another start")

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if not _is_ours(writer.get_extra_info("socket")):
                return
            async with asyncio.timeout(ANSWER_S):
                line = await reader.readline()
            writer.write(self._reply(line) + b"\n")
            await writer.drain()
        except (OSError, TimeoutError, ValueError):  # ValueError: a line that is too long
            return
        finally:
            writer.close()

    def _reply(self, line: bytes) -> bytes:
        try:
            request = msgspec.json.decode(line, type=OpenRequest)
            request.check()
            self._asked(request)
        except (ReportableError, ValueError, RecursionError) as error:
            sentence = error.sentence if isinstance(error, ReportableError) else f"The request cannot be read: {error}"
            return msgspec.json.encode({"error": sentence})
        return msgspec.json.encode({"ok": True})


def can_share() -> bool:
    """Whether this system has sockets in folders."""
    return hasattr(socket, "AF_UNIX") and os.name != "nt"


def take_or_hand_over(home: Home, request: OpenRequest) -> FileLock | None:
    """The lock of the home's one window; None where the window that holds it has taken the request.

    Raises Unavailable (desktop_busy) where it neither takes the request nor ends, InvalidInput where it refuses it.
    """
    lock = FileLock(home.path / "desktop.lock")
    if not can_share():
        return lock
    deadline = time.monotonic() + HAND_OVER_S
    while time.monotonic() < deadline:
        if lock.take():
            return lock
        if _ring(home.path / "desktop.sock", request):
            return None
        time.sleep(0.1)
    raise Unavailable("desktop_busy", "Tiphys is open already and does not answer. Close its window, or end its "
                      "process, and try again.")


def _ring(path: Path, request: OpenRequest) -> bool:
    """Whether somebody listened and took it. Raises InvalidInput where it was refused."""
    line = b""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as wire, contextlib.suppress(OSError):
        wire.settimeout(ANSWER_S)
        with _reachable(path) as address:
            wire.connect(address)
        wire.sendall(msgspec.json.encode(request) + b"\n")
        while not line.endswith(b"\n") and (more := wire.recv(4096)):
            line += more
    if not line.endswith(b"\n"):
        return False
    answer = msgspec.json.decode(line, type=dict[str, object])
    if "error" in answer:
        raise InvalidInput("bad_request", str(answer["error"]))
    return True


@contextlib.contextmanager
def _reachable(path: Path) -> Iterator[str]:
    """A name of the path that is short enough for a socket: through its open folder where it is too long."""
    if len(os.fsencode(path)) < _PATH_LIMIT:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _is_ours(peer: socket.socket) -> bool:
    """Whether the other end belongs to the same user; the folder's mode says so where the system cannot."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _, user, _ = struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return int(user) == os.getuid()
