"""Attackers on the network, web pages and taken-over runners (threat 7); what tests/wire has is not repeated here."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import subprocess
from pathlib import Path

import pytest
from support.cost import assert_linear
from support.logs import AGENT, PERSON
from support.wire import account, admin_token, bodies_of, fill, raw, raw_peer, running_client, serving, until

from core.aio import TaskScope
from core.client.certificate import split_address
from core.client.client import Client
from core.client.dial import PLAIN_TEXT
from core.client.replica import Replica
from core.domain.blob import blob_hash
from core.domain.events import (
    ControlAsked,
    Fact,
    GuidanceChangeAsked,
    GuidanceQueued,
    NoteAdded,
    SessionCreated,
    VerdictGiven,
    encode_event,
    make_event,
)
from core.domain.task import Task
from core.protocol.frames import Assembly, Piece
from core.protocol.messages import SUBPROTOCOL, Append, Appended, Failed, Lease, Leased
from core.server.incoming import INCOMPLETE_BYTES


async def handshake(url: str, *lines: str) -> int:
    """The status that a hand-written request gets; 0 where the server just closes."""
    port = int(url.rsplit(":", 1)[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    told = [
        "GET / HTTP/1.1",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
        "Sec-WebSocket-Version: 13",
        *lines,
        "",
        "",
    ]
    writer.write("\r\n".join(told).encode("latin-1", "replace"))
    try:
        answer = await asyncio.wait_for(reader.readline(), 60)
    finally:
        writer.close()
        with contextlib.suppress(OSError):
            await writer.wait_closed()
    return int(answer.split()[1]) if answer else 0


HOST, PROTOCOL_LINE = "Host: 127.0.0.1", f"Sec-WebSocket-Protocol: {SUBPROTOCOL}"
REQUESTS = [
    ("as it should be", [HOST, PROTOCOL_LINE, "Authorization: Bearer {token}"], {101}),
    ("IPv6 by number", ["Host: [::1]:7717", PROTOCOL_LINE, "Authorization: Bearer {token}"], {101}),
    ("no Host", [PROTOCOL_LINE, "Authorization: Bearer {token}"], {400, 403}),
    ("two Hosts", [HOST, "Host: evil.example", PROTOCOL_LINE, "Authorization: Bearer {token}"], {400, 403}),
    (
        "a name that begins like ours",
        ["Host: localhost.evil.example", PROTOCOL_LINE, "Authorization: Bearer {token}"],
        {403},
    ),
    (
        "a name that looks like an address",
        ["Host: 127.0.0.1.nip.example", PROTOCOL_LINE, "Authorization: Bearer {token}"],
        {403},
    ),
    ("an address in another spelling", ["Host: 0x7f000001", PROTOCOL_LINE, "Authorization: Bearer {token}"], {403}),
    ("a user in the Host", ["Host: localhost@evil.example", PROTOCOL_LINE, "Authorization: Bearer {token}"], {403}),
    ("an empty Host", ["Host: ", PROTOCOL_LINE, "Authorization: Bearer {token}"], {400, 403}),
    ("an Origin that is null", [HOST, "Origin: null", PROTOCOL_LINE, "Authorization: Bearer {token}"], {403}),
    ("an empty Origin", [HOST, "Origin: ", PROTOCOL_LINE, "Authorization: Bearer {token}"], {400, 403}),
    ("an Origin of a file", [HOST, "Origin: file://", PROTOCOL_LINE, "Authorization: Bearer {token}"], {403}),
    ("two tokens", [HOST, PROTOCOL_LINE, "Authorization: Bearer {token}", "Authorization: Bearer x"], {400, 401}),
    ("the token in a cookie", [HOST, PROTOCOL_LINE, "Cookie: token={token}"], {401}),
    ("the token as subprotocol", [HOST, f"Sec-WebSocket-Protocol: {SUBPROTOCOL}, {{token}}"], {401}),
    ("the token with a NUL", [HOST, PROTOCOL_LINE, "Authorization: Bearer {token}\x00"], {400, 401, 0}),
    (
        "a token of ten thousand characters",
        [HOST, PROTOCOL_LINE, "Authorization: Bearer " + "x" * 10_000],
        {0, 400, 401, 431},
    ),
    ("a thousand headers", [HOST, PROTOCOL_LINE, *(f"X-{n}: x" for n in range(1000))], {0, 400, 401, 431}),
    ("a proxy that vouches", [HOST, PROTOCOL_LINE, "X-Forwarded-For: 127.0.0.1", "X-Forwarded-User: admin"], {401}),
]


def test_the_table_of_requests(tmp_path: Path) -> None:
    async def scenario() -> dict[str, int]:
        async with serving(tmp_path) as server:
            token = admin_token(tmp_path)
            return {
                name: await handshake(server.url, *(line.replace("{token}", token) for line in lines))
                for name, lines, _ in REQUESTS
            }

    told = asyncio.run(scenario())
    assert {name: told[name] for name, _, right in REQUESTS if told[name] not in right} == {}


def test_a_token_in_the_address_counts_for_nothing(tmp_path: Path) -> None:
    async def scenario() -> int:
        async with serving(tmp_path) as server:
            port = int(server.url.rsplit(":", 1)[1])
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(
                f"GET /?token={admin_token(tmp_path)} HTTP/1.1\r\n{HOST}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                f"{PROTOCOL_LINE}\r\n\r\n".encode()
            )
            status = int((await reader.readline()).split()[1])
            writer.close()
            return status

    assert asyncio.run(scenario()) == 401


def test_silent_and_half_connections_keep_nobody_out(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            port = int(server.url.rsplit(":", 1)[1])
            idle = []
            for n in range(150):
                _, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(b"" if n % 2 else b"GET / HTTP/1.1\r\nHost: 127")
                idle.append(writer)
            async with running_client(tmp_path / "copy.db", server.url, account(tmp_path, "li", "view")) as client:
                await until(lambda: client.status.state == "online")
            for writer in idle:
                writer.transport.abort()

    asyncio.run(scenario())


# ---- a runner that was taken over


COMMANDED: list[Fact] = [
    GuidanceQueued(guidance="g", text="obey me"),
    GuidanceChangeAsked(guidance="g", request="r", text="obey"),
    ControlAsked(control="stop"),
    VerdictGiven(step=1, value="keep"),
    SessionCreated(task=Task(id="t", title="T", description="d")),
]


@pytest.mark.parametrize("fact", COMMANDED, ids=lambda f: type(f).__name__)
def test_a_runner_cannot_speak_for_a_person(tmp_path: Path, fact: Fact) -> None:
    async def scenario() -> tuple[object, object, object]:
        async with serving(tmp_path) as server:
            await fill(server, "s", bodies_of(1))
            async with raw_peer(server.url, account(tmp_path, "run", "agent:s")) as peer:
                leased = await peer.ask(Lease(session="s", journal="j"))
                assert isinstance(leased, Leased)
                forged = [
                    await peer.ask(
                        Append(
                            session="s",
                            fence=leased.fence,
                            first=1,
                            bodies=raw([encode_event(make_event(fact, author))]),
                        )
                    )
                    for author in (AGENT, PERSON)
                ]
                good = encode_event(make_event(NoteAdded(step=0, text="x"), AGENT))
                return *forged, await peer.ask(Append(session="s", fence=leased.fence, first=1, bodies=raw([good])))  # type: ignore[return-value]

    as_agent, as_person, good = asyncio.run(scenario())
    assert isinstance(as_agent, Failed) and as_agent.code == "bad_author"
    assert isinstance(as_person, Failed) and as_person.code == "bad_author"
    assert good == Appended(session="s", upto=1)


def test_pieces_without_bytes_are_bounded_too() -> None:
    def filled(count: int) -> Assembly:
        assembly = Assembly()
        for n in range(count):
            assembly.add(Piece(f"{n:064x}", 0, 10, b""))
            assert assembly.held >= 0
        return assembly

    count = INCOMPLETE_BYTES // 1024 + 1
    assert_linear(filled, count // 8)
    assembly = filled(count)
    assert assembly.held > INCOMPLETE_BYTES, "the connection is closed before this"
    for n in range(count):
        assembly.add(Piece(f"{n:064x}", 0, None, b""))
    assert assembly.held == 0


def test_what_is_held_of_payloads_is_counted_exactly() -> None:
    assembly = Assembly()
    name = blob_hash(b"x")
    assembly.add(Piece(name, 0, 30, b"x" * 10))
    assembly.add(Piece(name, 0, 30, b"x" * 20))
    assert assembly.held == 1024 + 20
    assert assembly.add(Piece(name, 20, 30, b"x" * 10)) == b"x" * 30
    assert assembly.held == 0


# ---- encryption


def test_a_client_does_not_carry_its_token_over_the_network_in_the_clear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The name of this address never resolves, so nothing is sent even where the guard is off."""

    async def stand(address: str) -> str:
        replica = Replica(tmp_path / "copy.db")
        client = Client(replica, address, "tph_" + "x" * 43)
        async with TaskScope("test") as scope:
            scope.spawn(client.run(), name="client")
            await until(lambda: bool(client.status.sentence))
        replica.close()
        return client.status.sentence

    assert "unencrypted" in asyncio.run(stand("ws://lab.invalid:7717"))
    monkeypatch.setenv(PLAIN_TEXT, "1")
    assert "unencrypted" not in asyncio.run(stand("ws://lab.invalid:7717"))


def certificate(folder: Path, name: str, address: str) -> tuple[Path, Path]:
    key, cert = folder / f"{name}.key", folder / f"{name}.pem"
    subprocess.run(
        [
            "openssl",
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=lab",
            "-addext",
            f"subjectAltName={address}",
            "-keyout",
            key,
            "-out",
            cert,
        ],
        check=True,
        capture_output=True,
    )
    return key, cert


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificates")
@pytest.mark.parametrize(
    ("served", "trusted", "gets_in"), [("own", "own", True), ("own", "other", False), ("elsewhere", "elsewhere", False)]
)
def test_a_self_made_certificate_is_pinned_by_naming_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, served: str, trusted: str, gets_in: bool
) -> None:
    """SSL_CERT_FILE names the one certificate that is trusted where the address carries no fingerprint."""
    made = {
        name: certificate(tmp_path, name, address)
        for name, address in (
            ("own", "IP:127.0.0.1"),
            ("other", "IP:127.0.0.1"),
            ("elsewhere", "DNS:elsewhere.example"),
        )
    }
    monkeypatch.setenv("SSL_CERT_FILE", str(made[trusted][1]))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path / "none"))

    async def scenario() -> str:
        key, cert = made[served]
        home = tmp_path / "home"
        async with (
            serving(home, certificate=str(cert), key=str(key)) as server,
            running_client(tmp_path / "copy.db", split_address(server.url)[0], admin_token(home)) as client,
        ):
            await until(lambda: client.status.state == "online" or bool(client.status.sentence))
            return client.status.state if client.status.state == "online" else client.status.sentence

    told = asyncio.run(scenario())
    assert (told == "online") is gets_in
    assert gets_in or "certificate" in told.lower()


def test_a_plain_client_and_a_tls_server_do_not_talk(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate")
    key, cert = certificate(tmp_path, "own", "IP:127.0.0.1")

    async def scenario() -> str:
        async with serving(tmp_path / "home", certificate=str(cert), key=str(key)) as server, running_client(
            tmp_path / "copy.db", split_address(server.url)[0].replace("wss:", "ws:"), admin_token(tmp_path / "home")
        ) as client:
            await until(lambda: bool(client.status.sentence))
            return client.status.state

    assert asyncio.run(scenario()) == "offline"
