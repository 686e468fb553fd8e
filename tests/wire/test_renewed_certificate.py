"""A certificate that is renewed while the server runs: who is connected stays, who comes sees the new one."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import ssl
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from support.wire import admin_token, running_client, serving, until

from core.aio import TaskScope
from core.client.certificate import split_address, with_pin
from core.client.connection import ReconnectingConnection
from core.protocol.operations import SetTag
from core.server import certificate as certificates
from core.server.certificate import fingerprint_of, own_certificate
from core.store.endpoint import read_endpoint
from core.store.home import Home


async def fetch_fingerprint(address: str) -> str:
    """The fingerprint that whoever connects now is shown."""
    place = urlsplit(address)
    shown = await asyncio.to_thread(ssl.get_server_certificate, (str(place.hostname), int(place.port or 443)))
    return hashlib.sha256(ssl.PEM_cert_to_DER_cert(shown)).hexdigest()



class Bystander:
    """Owns a link and wants nothing of it."""

    client = "bystander"

    async def on_welcome(self, welcome) -> None: ...

    async def on_message(self, message) -> None: ...

    async def on_piece(self, frame) -> None: ...

    def on_status_changed(self, status) -> None: ...


def fresh(folder: Path, name: str) -> tuple[Path, Path]:
    return own_certificate(Home(folder / name), ["lab.example"])


def put(pair: tuple[Path, Path], certificate: Path, key: Path) -> None:
    for source, target in zip(pair, (certificate, key), strict=True):
        target.write_bytes(source.read_bytes())


def test_a_renewed_certificate_ends_no_connection(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "LOOK_S", 0.1)
    home, certificate, key = tmp_path / "home", tmp_path / "tls.crt", tmp_path / "tls.key"
    first, second = fresh(tmp_path, "a"), fresh(tmp_path, "b")
    put(first, certificate, key)

    async def scenario() -> None:
        async with serving(home, certificate=str(certificate), key=str(key)) as server:
            before = server.url
            address = split_address(before)[0]
            async with running_client(tmp_path / "r.db", before, admin_token(home)) as client:
                await until(lambda: client.status.state == "online")
                since = client.status.since
                put(second, certificate, key)
                await until(lambda: server.url != before)
                assert await fetch_fingerprint(address) == fingerprint_of(second[0])
                assert read_endpoint(Home(home)).url == server.url == with_pin(address, fingerprint_of(second[0]))
                await client.answer(await client.send("s", SetTag(step=0, tag="x")))
                assert client.status.state == "online" and client.status.since == since
            async with running_client(tmp_path / "old.db", before, admin_token(home)) as late:
                await until(lambda: late.status.code == "certificate")
            link = ReconnectingConnection(before, admin_token(home), Bystander(), find=lambda: server.url)
            async with TaskScope("link") as scope:
                scope.spawn(link.run(), name="link")
                await until(lambda: link.is_online)

    asyncio.run(scenario())


def test_files_that_do_not_fit_change_nothing(tmp_path: Path) -> None:
    home, certificate, key = tmp_path / "home", tmp_path / "tls.crt", tmp_path / "tls.key"
    first, second = fresh(tmp_path, "a"), fresh(tmp_path, "b")
    put(first, certificate, key)

    async def scenario() -> None:
        async with serving(home, certificate=str(certificate), key=str(key)) as server:
            address = split_address(server.url)[0]
            certificate.write_bytes(second[0].read_bytes())  # the key is yet to come
            server.reload()
            assert await fetch_fingerprint(address) == fingerprint_of(first[0])
            certificate.write_text("rubbish")
            server.reload()
            certificate.unlink()
            server.reload()
            assert await fetch_fingerprint(address) == fingerprint_of(first[0])
            put(second, certificate, key)
            server.reload()
            assert await fetch_fingerprint(address) == fingerprint_of(second[0])

    asyncio.run(scenario())


def test_sighup_reads_the_files_again(tmp_path: Path) -> None:
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    first, second = fresh(tmp_path, "a"), fresh(tmp_path, "b")
    put(first, certificate, key)
    env = {**os.environ, "TIPHYS_HOME": str(tmp_path / "home"), "PYTHONPATH": str(Path(__file__).parents[2])}
    unwatched = ("from core.server import certificate; certificate.LOOK_S = 1e9; "
                 "from core.cli import main; main()")
    command = [sys.executable, "-c", unwatched, "serve", "--private", "--certificate", str(certificate),
               "--key", str(key)]
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = split_address(process.stdout.readline().split()[-1])[0]
        put(second, certificate, key)
        process.send_signal(signal.SIGHUP)

        async def shown() -> None:
            async with asyncio.timeout(60):
                while await fetch_fingerprint(address) != fingerprint_of(second[0]):
                    await asyncio.sleep(0.05)

        try:
            asyncio.run(shown())
        finally:
            process.terminate()
