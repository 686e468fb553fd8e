"""The way to a daemon through `docker exec`, for engines that cannot mount a folder of this machine."""

from __future__ import annotations

import asyncio
import struct
from typing import Any

from core.aio import TaskScope
from core.sandbox.daemon_link import Streams
from core.sandbox.engine import Client, in_thread

_FRAME = struct.Struct("!BxxxI")
_STDOUT = 1


async def open_bridge(engine: Client, container: str, command: list[str]) -> Streams:
    """Run a command in a container and give its standard output and input as streams. Raises Unavailable."""

    def start() -> Any:
        made = engine.api.exec_create(container, command, stdin=True, stdout=True, stderr=True)
        held = engine.api.exec_start(made["Id"], socket=True)
        own = held._sock.dup()  # the SDK closes its socket together with the response that holds it
        held._response.close()
        own.setblocking(False)
        return own

    raw = await in_thread(start)
    outer, writer = await asyncio.open_connection(sock=raw)
    inner = asyncio.StreamReader()
    scope = TaskScope(f"bridge {container}")
    scope.spawn(_unwrap(outer, inner), name="unwrap")
    return inner, writer


async def _unwrap(outer: asyncio.StreamReader, inner: asyncio.StreamReader) -> None:
    """Take the engine's frames apart."""
    try:
        while True:
            kind, size = _FRAME.unpack(await outer.readexactly(_FRAME.size))
            data = await outer.readexactly(size)
            if kind == _STDOUT:
                inner.feed_data(data)
    except (OSError, asyncio.IncompleteReadError):
        pass
    finally:
        inner.feed_eof()
