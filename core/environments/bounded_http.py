"""JSON over HTTP with a server that nobody here answers for: bounded in size and time, no redirections."""

from __future__ import annotations

import asyncio
import http.client
import threading
import urllib.error
from collections.abc import Mapping
from typing import Any
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

import msgspec

from core.domain.errors import Unavailable

LONGEST = 4 << 20
"""Bytes of the longest answer."""
TIMEOUT_S = 120.0
"""For a whole answer: a game may think long before it speaks."""
PIECE = 1 << 16


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        """None: what redirects has failed."""


_OPENER = build_opener(_NoRedirection, ProxyHandler({}))


async def get(url: str) -> Any:
    """The JSON at an address. Raises as `post`."""
    return await _answer(Request(url, None, {"Accept": "application/json"}))


async def post(url: str, fields: Mapping[str, object]) -> Any:
    """The JSON that a server answers to some fields.

    Raises Unavailable (environment_away) for anything else: refusals, redirections, what is no JSON, or does not end.
    """
    return await _answer(Request(url, msgspec.json.encode(fields), {"Content-Type": "application/json",
                                                                     "Accept": "application/json"}))


async def _answer(request: Request) -> Any:
    ended, timeout_s = threading.Event(), TIMEOUT_S
    try:
        async with asyncio.timeout(timeout_s):
            return await asyncio.to_thread(_asked, request, timeout_s, ended)
    except TimeoutError:
        raise _away(request.full_url, f"it did not answer within {timeout_s:g} s") from None
    finally:
        ended.set()


def _asked(request: Request, timeout_s: float, ended: threading.Event) -> Any:
    url, data = request.full_url, bytearray()
    try:
        with _OPENER.open(request, timeout=timeout_s) as answer:
            while piece := answer.read1(PIECE):
                data += piece
                if len(data) > LONGEST or ended.is_set():
                    raise _away(url, f"its answer does not end within {LONGEST >> 20} MiB")
        return msgspec.json.decode(bytes(data))
    except urllib.error.HTTPError as error:
        with error:
            raise _away(url, f"it answers {error.code}: {error.read(300)!r}") from error
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        raise _away(url, f"{error!r}"[:300]) from error


def _away(url: str, why: str) -> Unavailable:
    return Unavailable("environment_away", f"The environment at {url} does not answer as one: {why}.", url=url)
