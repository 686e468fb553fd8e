"""Who gets in: a table of handshakes, and what revocation does to those who are in."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from pathlib import Path

import pytest
from support.wire import account, admin_token, raw_peer, running_client, serving, until
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from core.domain.errors import InvalidInput
from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Close, Failed, Hello, Welcome
from core.server import connection
from core.store import accounts
from core.store.home import Home
from core.store.sqlite import connect as open_database
from core.store.sqlite import transaction

GOOD = "good"


async def status(url: str, headers: dict[str, str], subprotocol: str | None = SUBPROTOCOL, host: str = "") -> int:
    """The status of one handshake; 101 when it got in."""
    port = int(url.rsplit(":", 1)[1])
    try:
        async with connect(f"ws://{host or '127.0.0.1'}:{port}", host="127.0.0.1", port=port, compression=None,
                           subprotocols=[subprotocol] if subprotocol else None, additional_headers=headers, proxy=None):
            return 101
    except InvalidStatus as error:
        return error.response.status_code


TABLE = [
    ("a good token", {"token": GOOD}, 101),
    ("no token", {}, 401),
    ("a wrong token", {"token": "tph_wrong"}, 401),
    ("a token of another kind", {"Authorization": "Basic eDp5"}, 401),
    ("a revoked token", {"token": "revoked"}, 401),
    ("a web page", {"token": GOOD, "Origin": "https://evil.example"}, 403),
    ("a web page of this computer", {"token": GOOD, "Origin": "http://127.0.0.1:8000"}, 403),
    ("a rebound name", {"token": GOOD, "host": "evil.example"}, 403),
    ("localhost by name", {"token": GOOD, "host": "localhost"}, 101),
    ("an older protocol", {"token": GOOD, "subprotocol": "tiphys.v0"}, 400),
    ("no subprotocol", {"token": GOOD, "subprotocol": None}, 400),
]


@pytest.mark.parametrize(("how", "expected"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_the_table_of_handshakes(tmp_path: Path, how: dict[str, str], expected: int) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as server:
            tokens = {GOOD: admin_token(tmp_path), "revoked": account(tmp_path, "gone", "view")}
            revoke(tmp_path, "gone")
            options = dict(how)
            token = options.pop("token", "")
            host, subprotocol = options.pop("host", ""), options.pop("subprotocol", SUBPROTOCOL)
            headers = options | ({"Authorization": f"Bearer {tokens.get(token, token)}"} if token else {})
            return await status(server.url, headers, subprotocol, host)

    assert asyncio.run(scenario()) == expected


def revoke(folder: Path, name: str) -> None:
    conn = open_database(Home(folder).server_db)
    with contextlib.closing(conn), transaction(conn):
        accounts.revoke(conn, name)


def test_who_guesses_tokens_is_slowed_down(tmp_path: Path) -> None:
    async def scenario() -> list[int]:
        async with serving(tmp_path) as server:
            return [await status(server.url, {"Authorization": f"Bearer guess{n}"}) for n in range(25)]

    statuses = asyncio.run(scenario())
    assert statuses[0] == 401 and statuses[-1] == 429


def test_revocation_closes_live_connections(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "home") as server:
            token = account(tmp_path / "home", "li", "view")
            async with running_client(tmp_path / "copy.db", server.url, token) as client:
                await until(lambda: client.status.state == "online")
                assert (client.status.name, client.status.scopes) == ("li", ("view",))
                since = client.status.since
                revoke(tmp_path / "home", "li")
                await until(lambda: client.status.state == "denied")
                assert client.status.since > since and client.status.sentence

    asyncio.run(scenario())


def test_a_silent_connection_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "HELLO_S", 0.1)

    async def scenario() -> int:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path), hello=False) as peer:
            return await peer.closed()

    assert asyncio.run(scenario()) == Close.HELLO_TIMEOUT


@pytest.mark.parametrize(("frame", "code"), [
    ('{"type":"no_such_message"}', Close.BAD_FRAME),
    ("not json", Close.BAD_FRAME),
    ("[" * 100_000, Close.BAD_FRAME),
    ('{"type":"subscribe","session":7}', Close.BAD_FRAME),
    (b"\x09" * 60, Close.BAD_FRAME),
    ("x" * (5 * 1024 * 1024), 1009),
])
def test_a_frame_that_cannot_be_read_ends_the_connection(tmp_path: Path, frame: str | bytes, code: int) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path)) as peer:
            with contextlib.suppress(Exception):
                await peer.say(frame)
            return await peer.closed()

    assert asyncio.run(scenario()) == code


def test_another_protocol_is_told_so(tmp_path: Path) -> None:
    async def scenario() -> tuple[str, int]:
        async with serving(tmp_path) as server, raw_peer(server.url, admin_token(tmp_path), hello=False) as peer:
            failed = await peer.ask(Hello(protocol=PROTOCOL + 1, client="c"), Failed)
            assert isinstance(failed, Failed)
            return failed.code, await peer.closed()

    assert asyncio.run(scenario()) == ("protocol_version", Close.VERSION)


def test_nothing_is_compressed_and_only_loopback_listens(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            async with connect(server.url, subprotocols=[SUBPROTOCOL], proxy=None,
                               additional_headers={"Authorization": f"Bearer {admin_token(tmp_path)}"}) as ws:
                assert ws.response is not None and "Sec-WebSocket-Extensions" not in ws.response.headers
            port = int(server.url.rsplit(":", 1)[1])
            own = socket.gethostbyname(socket.gethostname())
            if not own.startswith("127."):
                with pytest.raises(OSError):
                    socket.create_connection((own, port), timeout=1).close()

    asyncio.run(scenario())


def test_an_open_address_needs_tls_or_an_explicit_word(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path, host="0.0.0.0"):
            pass

    with pytest.raises(InvalidInput, match="certificate"):
        asyncio.run(scenario())


def test_no_token_reaches_a_log(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")

    async def scenario() -> str:
        async with serving(tmp_path) as server:
            await status(server.url, {"Authorization": "Bearer tph_wrong_but_secret"})
            async with raw_peer(server.url, admin_token(tmp_path)) as peer:
                assert isinstance(peer.welcome, Welcome)
            return admin_token(tmp_path)

    token = asyncio.run(scenario())
    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("websockets.client"))
    assert token not in ours and "tph_wrong_but_secret" not in ours
