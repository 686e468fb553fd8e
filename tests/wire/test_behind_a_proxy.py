"""Behind the real nginx and Caddy with the documented configuration: names, upgrade, large frames, who it was."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
from support.proxies import caddy, nginx
from support.wire import account, admin_token, bodies_of, fill, running_client, serving, until
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from core.client.certificate import with_pin
from core.client.invitation import accept
from core.domain.invitation import Invitation
from core.protocol.codec import decode_from_server, encode
from core.protocol.messages import PROTOCOL, SUBPROTOCOL, Hello, Welcome
from core.server.certificate import fingerprint_of, own_certificate
from core.store import accounts, invitations
from core.store.home import Home

PROXIES = {"nginx": nginx, "caddy": caddy}


@contextlib.asynccontextmanager
async def behind(proxy: str, folder: Path, trusted: tuple[str, ...] = ("127.0.0.1",)):
    """A server behind a proxy: (server, port of the proxy, fingerprint of its certificate)."""
    certificate, key = own_certificate(Home(folder / "proxy"), ["lab.example"])
    async with serving(folder / "home", address="wss://lab.example", trusted_proxies=trusted) as server:
        upstream = int(server.url.rsplit(":", 1)[1])
        with PROXIES[proxy](folder / "proxy", upstream, certificate, key) as port:
            yield server, port, fingerprint_of(certificate)


async def greeted(port: int, token: str, *, host: str = "lab.example", source: str = "127.0.0.1",
                  headers: dict[str, str] | None = None) -> str:
    """The name under which the server greets whoever comes so through the proxy."""
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    async with connect(f"wss://{host}:{port}", host="127.0.0.1", port=port, ssl=context, compression=None, proxy=None,
                       subprotocols=[SUBPROTOCOL], local_addr=(source, 0),
                       additional_headers={"Authorization": f"Bearer {token}", **(headers or {})}) as socket:
        await socket.send(encode(Hello(protocol=PROTOCOL, client="c")))
        welcome = decode_from_server(await socket.recv())
        assert isinstance(welcome, Welcome)
        return welcome.name


def address_of(server, name: str) -> str:
    return next(a.last_address for a in accounts.accounts(server.hub.reader) if a.name == name)


@pytest.mark.parametrize("proxy", PROXIES)
def test_people_work_through_a_proxy_and_are_known_by_their_own_address(proxy: str, tmp_path: Path) -> None:
    home = tmp_path / "home"

    async def scenario() -> None:
        async with behind(proxy, tmp_path) as (server, port, pin):
            assert server.addresses == ["wss://lab.example"]
            token = account(home, "li", "view")
            assert await greeted(port, token, source="127.0.0.7") == "li"
            await until(lambda: address_of(server, "li") == "127.0.0.7")
            forged = account(home, "liar", "view")
            await greeted(port, forged, source="127.0.0.8", headers={"X-Forwarded-For": "10.9.9.9"})
            await until(lambda: address_of(server, "liar") == "127.0.0.8")
            await fill(server, "s", bodies_of(50, 60_000))
            address = with_pin(f"wss://127.0.0.1:{port}", pin)
            if proxy == "nginx":  # Caddy serves no address that it was not told
                async with running_client(tmp_path / "r.db", address, admin_token(home), "s") as client:
                    await until(lambda: client.replica.head("s") == 50)
                once = await server.hub.store(lambda c: invitations.invite(c, "new", ["view"], timedelta(days=1)))
                joined = await accept(Invitation(server=address, name="new", token=once), accounts.make_token())
                assert joined.name == "new"

    asyncio.run(scenario())


@pytest.mark.parametrize("proxy", PROXIES)
def test_guesses_through_a_proxy_slow_down_who_guesses_and_nobody_else(proxy: str, tmp_path: Path) -> None:
    async def status(port: int, token: str, source: str) -> int:
        try:
            await greeted(port, token, source=source)
        except InvalidStatus as refused:
            return refused.response.status_code
        return 101

    async def scenario() -> None:
        async with behind(proxy, tmp_path) as (_, port, _):
            guesses = [await status(port, f"guess{n}", "127.0.0.7") for n in range(25)]
            assert guesses[0] == 401 and guesses[-1] == 429
            assert await status(port, "wrong", "127.0.0.8") == 401

    asyncio.run(scenario())


def test_a_proxy_that_is_not_trusted_is_not_believed(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with behind("nginx", tmp_path, trusted=()) as (server, port, _):
            token = account(tmp_path / "home", "li", "view")
            await greeted(port, token, source="127.0.0.7")
            await until(lambda: address_of(server, "li") == "127.0.0.1")

    asyncio.run(scenario())


def test_web_pages_stay_out_behind_a_proxy(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with behind("nginx", tmp_path) as (_, port, _):
            token = account(tmp_path / "home", "li", "view")
            with pytest.raises(InvalidStatus) as refused:
                await greeted(port, token, headers={"Origin": "https://evil.example"})
            assert refused.value.response.status_code == 403
            with pytest.raises(InvalidStatus) as refused:
                await greeted(port, token, host="evil.example")
            assert refused.value.response.status_code == 403

    asyncio.run(scenario())
