"""A server's own certificate, trusted by the fingerprint in its address: by runners, commands and desktops alike."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import stat
from pathlib import Path

import pytest
from support.agents import turns
from support.wire import admin_token, running_client, serving, until

from core.client.certificate import fingerprint, split_address, with_pin
from core.client.status import Status
from core.domain.errors import InvalidInput
from core.domain.session import FINAL_STATES
from core.domain.task import AgentSettings, ModelSettings, Task
from core.protocol.operations import CreateSession
from core.server.authority import Authority
from core.server.certificate import fingerprint_of, own_certificate
from core.store import log
from core.store.home import Home

PIN = "ab" * 32


@pytest.mark.parametrize(("address", "wanted"), [
    ("wss://lab:7717", ("wss://lab:7717", "")),
    (f"wss://lab:7717#sha256={PIN}", ("wss://lab:7717", PIN)),
    ("wss://lab#SHA256=" + ":".join(["AB"] * 32), ("wss://lab", PIN)),
])
def test_an_address_carries_its_fingerprint(address: str, wanted: tuple[str, str]) -> None:
    assert split_address(address) == wanted
    assert split_address(with_pin(*wanted)) == wanted


@pytest.mark.parametrize("address", [f"ws://127.0.0.1#sha256={PIN}", "wss://lab#sha256=ab", "wss://lab#", "wss://lab#md5=x"])
def test_what_pins_nothing_is_refused_and_not_ignored(address: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        split_address(address)
    assert refused.value.code == "bad_fingerprint"


def test_the_certificate_is_made_once_and_its_key_is_private(tmp_path: Path) -> None:
    home = Home(tmp_path)
    certificate, key = own_certificate(home, ["lab.example", "10.0.0.7"])
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    before = fingerprint_of(certificate)
    assert own_certificate(home, []) == (certificate, key)
    assert fingerprint_of(certificate) == before == fingerprint(ssl.PEM_cert_to_DER_cert(certificate.read_text()))


def test_a_session_works_over_the_servers_own_certificate(tmp_path: Path) -> None:
    """The server starts its runner, a desktop watches, a command speaks: each over TLS, each by the same address."""
    home, model = tmp_path / "home", ModelSettings(script=turns(2, tool="think"))
    agent = AgentSettings(model=model, sandbox="local", confirmed_unconfined=True)

    async def scenario() -> None:
        async with serving(home, supervise=True, self_signed=True, names=("lab.example",)) as server:
            address, pin = split_address(server.url)
            assert address.startswith("wss://127.0.0.1:")
            assert server.addresses == [with_pin(address.replace("127.0.0.1", "lab.example"), pin)]
            async with running_client(tmp_path / "r.db", server.url, admin_token(home), "s") as client:
                await client.send("s", CreateSession(task=Task(id="t", title="T", description="d"), agent=agent))
                await until(lambda: client.replica.head("s") > 0
                            and log.row(server.hub.reader, "s").state in FINAL_STATES, seconds=60)
                await until(lambda: client.replica.head("s") == log.head(server.hub.reader, "s"))
            async with Authority(Home(home)) as authority:
                await authority.do("later", CreateSession(task=Task(id="t", title="T", description="d"), agent=agent))
            await until(lambda: log.row(server.hub.reader, "later").state in FINAL_STATES, seconds=60)

    asyncio.run(scenario())


async def _refused(folder: Path, address: str, token: str) -> Status:
    async with running_client(folder / "copy.db", address, token) as client:
        await until(lambda: client.status.state == "denied")
        return client.status


def test_without_a_fingerprint_an_unknown_certificate_is_refused_and_the_remedy_told(tmp_path: Path) -> None:
    async def scenario() -> Status:
        async with serving(tmp_path / "home", self_signed=True) as server:
            return await _refused(tmp_path, split_address(server.url)[0], admin_token(tmp_path / "home"))

    status = asyncio.run(scenario())
    assert status.code == "unknown_certificate"
    assert "sha256=" in status.sentence


def test_a_man_in_the_middle_learns_nothing(tmp_path: Path) -> None:
    """Somebody with another certificate answers in the server's place: not a byte, not even the token, is told."""
    other = own_certificate(Home(tmp_path / "other"), [])

    async def scenario() -> tuple[Status, list[bytes]]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*other)
        heard: list[bytes] = []

        async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            received = b""
            with contextlib.suppress(OSError):
                while chunk := await reader.read(65536):
                    received += chunk
            heard.append(received)
            writer.close()

        async with (
            serving(tmp_path / "home", self_signed=True) as server,
            await asyncio.start_server(listen, "127.0.0.1", 0, ssl=context) as middle,
        ):
            port = middle.sockets[0].getsockname()[1]
            pin = split_address(server.url)[1]
            status = await _refused(tmp_path, f"wss://127.0.0.1:{port}#sha256={pin}", admin_token(tmp_path / "home"))
            await until(lambda: bool(heard))
            before = list(heard)
            trusting = f"wss://127.0.0.1:{port}#sha256={fingerprint_of(other[0])}"
            async with running_client(tmp_path / "trusting.db", trusting, "t" * 43):
                await until(lambda: any(heard[len(before):]), seconds=30)
            return status, before

    status, heard = asyncio.run(scenario())
    assert status.code == "certificate"
    assert fingerprint_of(other[0]) in status.sentence
    assert set(heard) == {b""}, "and one who trusts that certificate does speak to it"
