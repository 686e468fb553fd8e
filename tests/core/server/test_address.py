"""Where the server listens: the same port again, another one when that is taken, and TLS."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
from pathlib import Path

import pytest
from support.wire import serving

from core.domain.errors import InvalidInput, Unavailable
from core.server.address import bind, url_of
from core.store.endpoint import read_endpoint, write_endpoint
from core.store.home import Home


def port_of(listener: socket.socket) -> int:
    return int(listener.getsockname()[1])


def test_a_private_server_comes_back_to_its_port_and_gives_way_when_it_is_taken(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with bind(home, "127.0.0.1", None, True) as first:
        port = port_of(first)
        with bind(home, "127.0.0.1", None, True) as other:
            assert port_of(other) != port
            moved = port_of(other)
    with bind(home, "127.0.0.1", None, True) as again:
        assert port_of(again) == moved, "the last one is where runners were sent"


def test_a_port_that_was_asked_for_is_had_or_refused(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(Unavailable, match="Cannot listen"):
        bind(Home(tmp_path), "127.0.0.1", port_of(taken), False)


def test_the_endpoint_is_private_and_never_half(tmp_path: Path) -> None:
    home = Home(tmp_path)
    assert read_endpoint(home) is None
    write_endpoint(home, "ws://127.0.0.1:5")
    endpoint = read_endpoint(home)
    assert endpoint is not None and (endpoint.url, endpoint.pid) == ("ws://127.0.0.1:5", os.getpid())
    assert home.endpoint.stat().st_mode & 0o077 == 0
    home.endpoint.write_text("{")
    assert read_endpoint(home) is None


def test_addresses_are_those_by_which_this_computer_reaches_it(tmp_path: Path) -> None:
    with contextlib.ExitStack() as stack:
        everywhere = stack.enter_context(bind(Home(tmp_path), "0.0.0.0", None, True))
        assert url_of(everywhere, True) == f"wss://127.0.0.1:{port_of(everywhere)}"


def test_a_certificate_that_is_none_is_refused(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home", certificate=str(tmp_path / "missing.pem")):
            raise AssertionError("served")

    with pytest.raises(InvalidInput, match="certificate"):
        asyncio.run(scenario())
