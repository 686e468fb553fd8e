"""The way to a daemon through `docker exec`, for engines that cannot be entered otherwise.

Speaks the engine's HTTP itself (Engine API, `POST /exec/{id}/start` with an upgrade), since the SDK gives no socket
of a TLS connection that asyncio can take.
"""

import asyncio
import json
import os
import ssl
import struct
from pathlib import Path
from urllib.parse import urlsplit

from core.aio import TaskScope
from core.domain.errors import NotFound, Unavailable
from core.sandbox.daemon_link import Streams
from core.sandbox.engine import Client, in_thread
from core.sandbox.placement import EngineAddress
from core.sandbox.tunnel import engine_tunnel

_FRAME = struct.Struct("!BxxxI")
_STDOUT = 1
_HEAD = 64 << 10


async def open_bridge(at: EngineAddress, engine: Client, container: str, command: list[str], scope: TaskScope
                      ) -> Streams:
    """Run a command in a container and give its standard output and input as streams, which last no longer than the
    scope. Raises Unavailable, NotFound."""
    made = await in_thread(lambda: engine.api.exec_create(container, command, stdin=True, stdout=True, stderr=True))
    outer, writer = await _connected(at)
    body = json.dumps({"Detach": False, "Tty": False}).encode()
    writer.write(f"POST /v{engine.api._version}/exec/{made['Id']}/start HTTP/1.1\r\nHost: docker\r\nConnection: Upgrade"
                 f"\r\nUpgrade: tcp\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode())
    writer.write(body)
    try:
        head = await outer.readuntil(b"\r\n\r\n")
    except (OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        writer.close()
        raise Unavailable("no_engine", f"The Docker engine did not begin a command: {error}.") from error
    status = head.split(b" ", 2)[1:2]
    if status not in ([b"101"], [b"200"]):
        writer.close()
        raise NotFound("not_in_engine", f"The Docker engine did not begin a command: {head[:200]!r}.")
    inner = asyncio.StreamReader()
    scope.spawn(_unwrap(outer, inner), name="unwrap")
    return inner, writer


async def _connected(at: EngineAddress) -> Streams:
    url = at.url or os.environ.get("DOCKER_HOST") or "unix:///var/run/docker.sock"
    if url.startswith("ssh://"):
        url = await asyncio.to_thread(engine_tunnel, url)
    parts = urlsplit(url)
    if parts.scheme == "unix":
        return await asyncio.open_unix_connection(parts.path, limit=_HEAD)
    tls = at.tls or (os.environ.get("DOCKER_CERT_PATH", "") if os.environ.get("DOCKER_TLS_VERIFY") else "")
    context = await asyncio.to_thread(_context, Path(tls)) if tls else None
    return await asyncio.open_connection(parts.hostname, parts.port or 2376, ssl=context, limit=_HEAD)


def _context(folder: Path) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(folder / "ca.pem"))
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    return context


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
