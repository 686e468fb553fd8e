"""What a log-in provider, a server that an invitation names and a learning run's folder may say that is valid JSON and
hostile, or none: each ends in an answer or in a sentence with a code, within a bounded time."""

from __future__ import annotations

import asyncio
import base64
import http.server
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from support.hostile import ROOT
from support.tally import tally
from websockets.datastructures import Headers
from websockets.http11 import Response

from core.client import device_login, invitation, issuer
from core.client.device_login import LogInOffer, ServersProvider
from core.domain.errors import ReportableError, Unavailable
from core.gateway.recipe import DIALECTS
from core.rollouts.followed_run import FollowedRun
from core.server.id_tokens import IdTokens, rules_of

DEEP = b"[" * 100_000
ODD = {"nothing": b"", "null": b"null", "a number": b"1e999", "many digits": b"9" * 5000, "a list": b"[]",
       "deep": DEEP, "deep in a field": b'{"keys": ' + DEEP, "deep and whole": b'{"x": ' + DEEP + b"]" * 100_000 + b"}",
       "NaN": b'{"keys": NaN}', "half": b'{"keys": [',
       "no UTF-8": b'{"name": "\xff\xfe"}', "surrogate": rb'{"a": "\ud800"}',
       "too long": b'{"a": "' + b"x" * (3 << 20) + b'"}', "other types": b'{"keys": 7, "name": [], "device_code": {}}'}
KEYS = [{"kty": value, "use": value, "alg": value, "kid": "x", "crv": value, "x": value, "n": value, "e": value}
        for value in ([], {}, 7, None, "", "RSA", "EC", "OKP", "A" * 100_000, "\ud800")] + [
            {"kty": kind, "kid": "x", "alg": {"a": 1}, "n": "AQAB", "e": "AQAB", "crv": [], "x": "AA"}
            for kind in ("RSA", "EC", "OKP")]
WHEN = (10**400, -(10**400), 1e308, -1e308, True, None, [], {}, "9" * 400, "-" + "9" * 400, "x", 0, 2**63)


@contextmanager
def pages(answer: Callable[[str], bytes | Iterator[bytes]]) -> Iterator[str]:
    """A web server of this computer; an answer may come piece by piece."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found = answer(self.path)
            self.send_response(200)
            self.end_headers()
            try:
                for piece in [found] if isinstance(found, bytes) else found:
                    self.wfile.write(piece)
            except OSError:
                self.close_connection = True

        do_POST = do_GET

        def log_message(self, *_: object) -> None:
            """Nothing."""

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def harm_of(what: str, ask: Callable[[], object]) -> list[str]:
    """Nothing, where it answers or is refused with a code."""
    try:
        ask()
    except ReportableError:
        return []
    except Exception as error:  # noqa: BLE001  what anything else says is the harm
        return [f"{what}: {error!r}"[:300]]
    return []


class Provider:
    """A provider whose one path answers as a test wants."""

    def __init__(self) -> None:
        self.odd, self.body = "", b""
        self.url = ""

    def __call__(self, path: str) -> bytes:
        """The body of a path."""
        if path == self.odd:
            return self.body
        return json.dumps({"issuer": self.url, "jwks_uri": f"{self.url}/keys", "token_endpoint": f"{self.url}/token",
                           "device_authorization_endpoint": f"{self.url}/device"}).encode()

    @property
    def judge(self) -> IdTokens:
        """A server's, which has asked for no keys yet."""
        return IdTokens(rules_of(self.url, "tiphys", "openid", "name", "groups", ("*=reviewer",), 1.0))


@pytest.fixture
def provider() -> Iterator[Provider]:
    made = Provider()
    with pages(made) as made.url:
        yield made


def encoded(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).rstrip(b"=").decode()


TOKEN = f"{encoded({'alg': 'RS256', 'kid': 'x'})}.e30.AAAA"


def test_odd_answers_of_a_provider(provider: Provider) -> None:
    harm: list[str] = []
    offer = LogInOffer(issuer=provider.url, client="t", scope="openid")
    asked = {"/.well-known/openid-configuration": lambda: issuer.discover(provider.url),
             "/keys": lambda: provider.judge.identity(TOKEN),
             "/device": lambda: device_login._code_of(offer, issuer.ask(f"{provider.url}/device", {})),
             "/token": lambda: issuer.ask(f"{provider.url}/token", {})}
    for provider.odd, ask in asked.items():
        for what, provider.body in ODD.items():
            harm += harm_of(f"{provider.odd} {what}", ask)
    provider.odd = "/keys"
    for key in KEYS:
        provider.body = json.dumps({"keys": [key, key]}).encode()
        harm += harm_of(f"key {str(key)[:80]}", lambda: provider.judge.identity(TOKEN))
    tally("odd answers of a log-in provider", len(asked) * len(ODD) + len(KEYS), harm)


def test_odd_claims_of_a_provider(provider: Provider) -> None:
    private = Ed25519PrivateKey.generate()
    public = json.loads(jwt.algorithms.OKPAlgorithm.to_jwk(private.public_key()))
    provider.odd, provider.body = "/keys", json.dumps({"keys": [{**public, "kid": "x"}]}).encode()
    now, judge = int(time.time()), provider.judge
    good: dict[str, Any] = {"iss": provider.url, "sub": "7", "aud": "tiphys", "exp": now + 60, "iat": now,
                            "name": "Anna"}

    def sign(claims: dict[str, Any]) -> str:
        head = f"{encoded({'alg': 'EdDSA', 'kid': 'x'})}.{encoded(claims)}"
        return f"{head}.{base64.urlsafe_b64encode(private.sign(head.encode())).rstrip(b'=').decode()}"

    assert judge.identity(sign(good)).name == "Anna"
    harm = [line for name in (*good, "groups", "azp", "nbf") for value in WHEN
            for line in harm_of(
                f"{name} {str(value)[:30]}", lambda token=sign({**good, name: value}): judge.identity(token))]
    tally("odd claims of a log-in provider", 9 * len(WHEN), harm)


def test_an_answer_that_comes_byte_by_byte_has_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer, "WHOLE_S", 0.5)

    def drip(path: str) -> Iterator[bytes]:
        yield b'{"a": "'
        while True:
            time.sleep(0.02)
            yield b"x"

    with pages(drip) as url, pytest.raises(Unavailable, match="did not answer within"):
        issuer.ask(url)


def test_odd_answers_of_a_server_that_an_invitation_names(monkeypatch: pytest.MonkeyPatch) -> None:
    given = [Response(200, "OK", Headers())]

    async def page(*_: object) -> Response:
        return given[0]

    monkeypatch.setattr(invitation, "page", page)
    monkeypatch.setattr(device_login, "page", page)
    provider, tried, harm = ServersProvider("wss://lab.example", ""), 0, []
    for status in (200, 401, 403, 429, 500, 999):
        for what, body in ODD.items():
            given[0] = Response(status, "x", Headers({"Tiphys-Code": "x" * 4000}), body)
            for ask in (lambda: invitation.exchange("wss://lab.example", "", "/invitation", "x", {}), provider.code,
                        lambda: provider.answer("x"), lambda: device_login.begin("wss://lab.example")):
                harm += harm_of(f"{status} {what}", lambda a=ask: asyncio.run(a()))
                tried += 1
    tally("odd answers of a server that an invitation names", tried, harm)


def test_a_learning_runs_folder_with_odd_files(tmp_path: Path) -> None:
    harm: list[str] = []
    (tmp_path / "policy" / "²").mkdir(parents=True)
    policy = SimpleNamespace(name="policy", version=0)
    for what, body in ODD.items():
        (tmp_path / "run.json").write_bytes(body)
        harm += harm_of(f"run.json {what}", lambda: FollowedRun(tmp_path, 1, lambda folder, update: policy))
        (tmp_path / "run.json").write_text('{"model": "m"}')
        (tmp_path / "metrics.jsonl").write_bytes(body + b"\n")
        followed = FollowedRun(tmp_path, 1, lambda folder, update: policy)
        harm += harm_of(f"metrics.jsonl {what}", followed._made)
    tally("odd files of a learning run's folder", 2 * len(ODD), harm)


def test_an_error_of_an_endpoint_that_is_none() -> None:
    harm = [line for dialect in DIALECTS.values() for what, body in ODD.items()
            for line in harm_of(f"{dialect.name} {what}", lambda d=dialect, b=body: d.late_error(500, b))]
    tally("odd errors of a model's endpoint", len(DIALECTS) * len(ODD), harm)


def test_whoever_reads_json_minds_its_depth_and_its_letters() -> None:
    """`msgspec.DecodeError` is neither: what is deep is a RecursionError, what is no UTF-8 a UnicodeDecodeError."""
    alone = [path.name for folder in (ROOT / "core", ROOT / "app") for path in folder.rglob("*.py")
             if "except msgspec.DecodeError" in path.read_text(encoding="utf-8")]
    assert alone == []
