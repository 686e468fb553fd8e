"""The one way out of a session's closed network: an HTTP proxy that lets named hosts through. Standard library only.

Runs in a container of its own, which is on the session's network and on one that leads outside:
`python3 -c SOURCE PORT NAME…`, where a NAME is as `Host.reach` describes it, `*` for every public address, or
`!ADDRESS` for one of the machine. It resolves names itself and connects to the very address that it judged. Addresses
of the link, metadata services of clouds, this machine and nobody are refused always, in whatever spelling, whatever a
name that is allowed resolves to; private ones unless they are named in full.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import sys
from pathlib import Path
from urllib.parse import urlsplit

HEAD = 64 << 10
CONNECT_S = 20.0
IDLE_S = 600.0
WEB_PORTS = (80, 443)
CLIENTS = 256
READY = "listening"
"""What it says once clients are taken."""
METADATA = frozenset(map(ipaddress.ip_address, (
    "168.63.129.16", "100.100.100.200", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")))
"""Of clouds that keep theirs outside of the link's addresses: Azure, Alibaba, Oracle, AWS, Google."""
CARRIERS = tuple(map(ipaddress.IPv6Network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""IPv6 networks whose last 32 bits are an IPv4 address that is meant (RFC 4291, 2765, 6052)."""
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class NotLetOut(Exception):
    """Why a request is not let through: a status and a sentence."""

    def __init__(self, status: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class WayOut:
    """Judges where requests may go."""

    def __init__(self, names: list[str]) -> None:
        self._names = [name for name in names if not name.startswith("!")]
        own = {ipaddress.ip_address(name[1:]) for name in names if name.startswith("!")}
        self._never = METADATA | own | gateways()

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
            if self._may_connect(str(info[4][0]), full):
                return str(info[4][0]), port
        raise NotLetOut("403 Forbidden", f"{host} has no address that a session may reach.")

    def _may_connect(self, text: str, is_named: bool) -> bool:
        address = ipaddress.ip_address(text.partition("%")[0])
        meant = _meant(address)
        if any(one in self._never or one.is_loopback or one.is_link_local or one.is_multicast or one.is_unspecified
               for one in (address, meant)):
            return False
        return is_named or meant.is_global


def _meant(address: Address) -> Address:
    """The IPv4 address that one of IPv6 carries, else itself."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in CARRIERS):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address.sixtofour or address


def gateways() -> set[Address]:
    """The engine's machine as this container sees it: where its routes lead through."""
    try:
        lines = Path("/proc/net/route").read_text(encoding="ascii").splitlines()[1:]
        found = [int(line.split()[2], 16) for line in lines]
    except OSError:  # no Linux
        return set()
    return {ipaddress.IPv4Address(one.to_bytes(4, sys.byteorder)) for one in found if one}


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
    sys.stdout.write(f"{READY}\n")
    sys.stdout.flush()
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
