"""Where the server listens, and what it is called elsewhere."""

import socket
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from core.domain.errors import InvalidInput, Unavailable
from core.store.home import Home, write_private

DEFAULT_PORT = 7717


def host_of(address: str) -> str:
    """The host name of an address; "" of none. Raises InvalidInput (bad_public_address)."""
    wrong = InvalidInput("bad_public_address", f"{address[:200]!r} is no address: wss://HOST or ws://HOST is expected.",
                         address=address[:200])
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError as error:
        raise wrong from error
    if address and (parts.scheme not in ("ws", "wss") or not host):
        raise wrong
    return host


def bind(home: Home, host: str, port: int | None, private: bool) -> socket.socket:
    """A listening socket: on `port`; or, when that is None, on the port of the last time, else a free one.

    Raises Unavailable where the address cannot be had.
    """
    if port is None and not private:
        port = DEFAULT_PORT
    for former in _former(home) if port is None else ():
        with suppress(OSError):
            return _remember_port(home, _listen(host, former))
    number = port or 0
    try:
        return _remember_port(home, _listen(host, number))
    except OSError as error:
        raise Unavailable("address", f"Cannot listen on {host}:{number}: {error.strerror}.", host=host, port=number
                          ) from error


def url_of(listener: socket.socket, tls: bool) -> str:
    """The address under which programs on this computer reach the socket."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"{'wss' if tls else 'ws'}://{f'[{host}]' if ':' in host else host}:{port}"


def addresses_of(listener: socket.socket, tls: bool, names: Sequence[str]) -> list[str]:
    """The addresses under which programs elsewhere may reach the socket: its own, if it has one, and by name."""
    host, port = listener.getsockname()[:2]
    own = [] if host in ("0.0.0.0", "::", "127.0.0.1", "::1") else [host]
    return [f"{'wss' if tls else 'ws'}://{f'[{name}]' if ':' in name else name}:{port}" for name in [*own, *names]]


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=128)


def _remember_port(home: Home, listener: socket.socket) -> socket.socket:
    write_private(_port_file(home), str(listener.getsockname()[1]).encode())
    return listener


def _former(home: Home) -> list[int]:
    try:
        return [int(_port_file(home).read_text())]
    except (OSError, ValueError):
        return []


def _port_file(home: Home) -> Path:
    return home.path / "server.port"
