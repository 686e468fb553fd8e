"""The one way out of a session's closed network: an HTTP proxy that lets named hosts through. Standard library only.

Runs in a container of its own, which is on the session's network and on one that leads outside:
`python3 -c SOURCE PORT NAME…`, where a NAME is as `Host.reach` describes it, or `*` for every public address.
It resolves names itself and connects to the very address that it judged. Addresses of the link (with the metadata
services of clouds), of this machine and of nobody are refused always; private ones unless they are named in full.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from urllib.parse import urlsplit

HEAD = 64 << 10
CONNECT_S = 20.0
IDLE_S = 600.0
WEB_PORTS = (80, 443)
CLIENTS = 256
Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NotLetOut(Exception):
    """Why a request is not let through: a status and a sentence."""

    def __init__(self, status: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class WayOut:
    """Judges where requests may go."""

    def __init__(self, names: list[str]) -> None:
        self._names = names

    def admits(self, host: str, port: int) -> tuple[bool, bool]:
        """Whether a host and port may be reached, and whether they are named in full, so that private ones may."""
        found = full = False
        for pattern in self._names:
            name, _, wanted = pattern.lower().partition(":")
            is_port = port == int(wanted) if wanted else name == "*" or port in WEB_PORTS
            if is_port and (name in ("*", host) or (name.startswith("*.") and host.endswith(name[1:]))):
                found, full = True, full or name == host
        return found, full

    async def address(self, host: str, port: int) -> tuple[str, int]:
        """The address to connect to. Raises NotLetOut."""
        host = host.lower().rstrip(".").strip("[]")
        found, full = self.admits(host, port)
        if not found:
            raise NotLetOut("403 Forbidden", f"{host}:{port} is not among what this session may reach.")
        try:
            infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise NotLetOut("502 Bad Gateway", f"{host} is not known: {error}.") from error
        for info in infos:
            if _may_connect(str(info[4][0]), full):
                return str(info[4][0]), port
        raise NotLetOut("403 Forbidden", f"{host} has no address that a session may reach.")


def _may_connect(text: str, is_named: bool) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    if address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    return is_named or address.is_global


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: WayOut) -> None:
    """One client: CONNECT, or one request of plain HTTP."""
    try:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), CONNECT_S)
        line, _, fields = head.partition(b"\r\n")
        method, target, version = line.decode("latin-1").split(" ")
        if method == "CONNECT":
            host, _, port = target.rpartition(":")
            onward = await _connect(way, host, int(port))
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            parts = urlsplit(target)
            if parts.scheme != "http" or not parts.hostname:
                raise NotLetOut("400 Bad Request", "This is a proxy for http:// and CONNECT.")
            onward = await _connect(way, parts.hostname, parts.port or 80)
            path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            onward[1].write(f"{method} {path} {version}\r\n".encode("latin-1") + _once(fields))
        await _join((reader, writer), onward)
    except NotLetOut as refusal:
        text = f"{refusal}\n".encode()
        writer.write(f"HTTP/1.1 {refusal.status}\r\nContent-Type: text/plain\r\nContent-Length: {len(text)}\r\n"
                     "Connection: close\r\n\r\n".encode() + text)
        await writer.drain()
    except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # it went away, or speaks no HTTP
    finally:
        writer.close()


def _once(fields: bytes) -> bytes:
    """The request's fields, with the connection closed behind it: the next request is judged anew."""
    fields_left = [one for one in fields.split(b"\r\n")
            if one and one.split(b":")[0].strip().lower() not in (b"connection", b"proxy-connection", b"keep-alive")]
    return b"\r\n".join([*fields_left, b"Connection: close", b"", b""])


async def _connect(way: WayOut, host: str, port: int) -> Pair:
    address, port = await way.address(host, port)
    try:
        return await asyncio.wait_for(asyncio.open_connection(address, port), CONNECT_S)
    except (TimeoutError, OSError) as error:
        raise NotLetOut("502 Bad Gateway", f"{host}:{port} does not answer: {error}.") from error


async def _join(one: Pair, other: Pair) -> None:
    """Carry bytes both ways until both have ended."""
    await asyncio.gather(_carry(one[0], other[1]), _carry(other[0], one[1]))


async def _carry(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    try:
        while data := await asyncio.wait_for(source.read(65536), IDLE_S):
            target.write(data)
            await target.drain()
        target.write_eof()
    except (TimeoutError, OSError, RuntimeError):
        target.close()


async def main(port: int, names: list[str]) -> None:
    """Serve for ever."""
    way, places = WayOut(names), asyncio.Semaphore(CLIENTS)

    async def on_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with places:
            await serve(reader, writer, way)

    server = await asyncio.start_server(on_client, "0.0.0.0", port, limit=HEAD)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
