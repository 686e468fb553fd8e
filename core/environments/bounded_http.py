"""JSON over HTTP with a server that nobody here answers for: bounded in size and time, no redirections, no proxy."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from core.domain.errors import Unavailable

LONGEST = 4 << 20
"""Bytes of the longest answer."""
TIMEOUT_S = 120.0
"""For a whole answer: a game may think long before it speaks."""
PIECE = 1 << 16


async def get(url: str) -> Any:
    """The JSON at an address. Raises as `post`."""
    return await _answer("GET", url, None)


async def post(url: str, fields: Mapping[str, object]) -> Any:
    """The JSON that a server answers to some fields.

    Raises Unavailable (environment_away) for anything else: refusals, redirections, what is no JSON, or does not end.
    """
    return await _answer("POST", url, msgspec.json.encode(fields))


async def _answer(method: str, url: str, body: bytes | None) -> Any:
    """A thread that still waits when the time is over finds its socket shut: it stays with no slow server."""
    parts, timeout_s = urlsplit(url), TIMEOUT_S
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection, opened = kind(parts.netloc, timeout=timeout_s), list[socket.socket]()
    try:
        async with asyncio.timeout(timeout_s):
            return await asyncio.to_thread(_asked, connection, opened, method, url, body)
    except TimeoutError:
        raise _away(url, f"it did not answer within {timeout_s:g} s") from None
    finally:
        for one in opened:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


def _asked(connection: http.client.HTTPConnection, opened: list[socket.socket], method: str, url: str,
           body: bytes | None) -> Any:
    headers = {"Accept": "application/json"} | ({} if body is None else {"Content-Type": "application/json"})
    try:
        connection.connect()
        opened.append(connection.sock)
        connection.request(method, urlsplit(url).path or "/", body, headers)
        with connection.getresponse() as answer:
            if not 200 <= answer.status < 300:
                raise _away(url, f"it answers {answer.status}: {answer.read(300)!r}")
            return msgspec.json.decode(_body(url, answer))
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        raise _away(url, f"{error!r}"[:300]) from error
    finally:
        connection.close()


def _body(url: str, answer: http.client.HTTPResponse) -> bytes:
    data = bytearray()
    while piece := answer.read1(PIECE):
        data += piece
        if len(data) > LONGEST:
            raise _away(url, f"its answer does not end within {LONGEST >> 20} MiB")
    return bytes(data)


def _away(url: str, why: str) -> Unavailable:
    return Unavailable("environment_away", f"The environment at {url} does not answer as one: {why}.", url=url)
