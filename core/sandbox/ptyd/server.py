"""The daemon's socket: answers requests, one coroutine per client, and outlives all of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .daemon import Daemon
from .requests import FILES, PIECE, QUICK, WAITING, Reply
from .runs import run
from .streams import OPS as STREAM_OPS
from .streams import PipedPrograms
from .terminal import Refused

HEADER = struct.Struct("!II")
JSON_LIMIT = 1 << 20
DATA_LIMIT = 1 << 20
SOCKET_CHECK_S = 2.0
_RUNS = ThreadPoolExecutor(16, "run")
_STREAMS = ThreadPoolExecutor(16, "stream")


class DaemonClient:
    """One connection. Its waiting requests and one-off runs end with it; terminals do not."""

    def __init__(self, daemon: Daemon, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.daemon = daemon
        self.reader = reader
        self.writer = writer
        self.tasks: set[asyncio.Task[None]] = set()
        self.streams = PipedPrograms(daemon.workspace)

    def send(self, message: dict[str, Any], data: bytes = b"") -> None:
        """Queue one frame."""
        if not self.writer.is_closing():
            self.writer.write(_frame(message, data))

    async def serve(self) -> None:
        """Read requests until the connection ends."""
        try:
            while True:
                size, extra = HEADER.unpack(await self.reader.readexactly(HEADER.size))
                if size > JSON_LIMIT or extra > DATA_LIMIT:
                    break
                message = json.loads(await self.reader.readexactly(size))
                if message.get("op") == "accept":  # from here on the connection is one of a program inside
                    ready = _frame({"type": "done", "rid": message.get("rid", 0)})
                    await self.daemon.relay.join(self.reader, self.writer, ready)
                    break
                self._spawn(self._answer(message, await self.reader.readexactly(extra)))
        except (asyncio.IncompleteReadError, ConnectionError, ValueError):
            pass
        finally:
            for task in list(self.tasks):
                task.cancel()
            self.writer.close()
            self.streams.close()

    def _spawn(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.get_running_loop().create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def _answer(self, m: dict[str, Any], data: bytes) -> None:
        rid = m.get("rid", 0)
        try:
            reply, extra = await self._do(m, data)
        except Refused as error:
            reply, extra = {"type": "error", "code": error.code, "text": error.text}, b""
        except OSError as error:
            name = {FileNotFoundError: "not_found", NotADirectoryError: "not_found", IsADirectoryError: "not_a_file",
                    PermissionError: "no_permission"}.get(type(error), "os_error")
            reply, extra = {"type": "error", "code": name, "text": f"{error.filename or ''}: {error.strerror}"}, b""
        except (KeyError, TypeError, ValueError) as error:
            reply, extra = {"type": "error", "code": "bad_request", "text": repr(error)[:500]}, b""
        except RuntimeError as error:  # no thread can be started: the limit of processes is reached
            reply, extra = {"type": "error", "code": "os_error", "text": str(error)}, b""
        while len(extra) > PIECE:
            self.send({"type": "part", "rid": rid}, extra[:PIECE])
            extra = extra[PIECE:]
        self.send({**reply, "rid": rid}, extra)
        await self.writer.drain()

    async def _do(self, m: dict[str, Any], data: bytes) -> Reply:
        op = str(m.get("op"))
        if op == "run":
            return await asyncio.get_running_loop().run_in_executor(_RUNS, run, m, data, self.daemon.workspace)
        if op in STREAM_OPS:
            return await asyncio.get_running_loop().run_in_executor(_STREAMS, self.streams.answer, m, data)
        if op in FILES:
            return await asyncio.get_running_loop().run_in_executor(None, FILES[op], self.daemon, m, data)
        if op in WAITING:
            return await WAITING[op](self.daemon, m)
        if op not in QUICK:
            raise Refused("bad_request", f"There is no request {op!r}.")
        return QUICK[op](self.daemon, m, data)


def _frame(message: dict[str, Any], data: bytes = b"") -> bytes:
    """Names of files need not be UTF-8; what cannot be said is said with question marks."""
    text = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    return HEADER.pack(len(text), len(data)) + text + data


async def serve(socket_folder: str, folder: str, workspace: str, shell: str) -> None:
    """Run until told to end. The socket is bound by a short relative name: its full path may be too long."""
    daemon = Daemon(folder, workspace, shell)

    async def on_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await DaemonClient(daemon, reader, writer).serve()
        except asyncio.CancelledError:  # the daemon ends: asyncio's streams would print this as an error
            pass

    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGCHLD, daemon.reap)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, daemon.shut_down)
    os.chdir(socket_folder)
    if os.path.lexists("s"):
        os.unlink("s")
    os.umask(0o077)
    server = await asyncio.start_unix_server(on_client, "s")
    os.umask(0o022)
    os.chdir(workspace)
    path = os.path.join(socket_folder, "s")
    ours = _inode(path)
    async with server:
        # Until told to stop; or until the socket is gone: then nobody can reach us, and a new daemon may be.
        while not daemon.stopped.is_set() and _inode(path) == ours:
            try:
                await asyncio.wait_for(daemon.stopped.wait(), SOCKET_CHECK_S)
            except asyncio.TimeoutError:
                pass
        daemon.shut_down()
    if _inode(path) == ours:
        os.unlink(path)


def _inode(path: str) -> int:
    try:
        return os.lstat(path).st_ino
    except OSError:
        return 0
