"""Logging in by the lab's own provider: with a real one, by a code; and every forged or foreign ID token is refused."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import logging
import threading
import time
from collections.abc import Awaitable, Iterator
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote_plus

import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from support import glewlwyd
from support.wire import account, running_client, serving, until

from core.client.device_login import ServersProvider, begin, log_in
from core.domain.errors import Denied, ReportableError
from core.server.id_tokens import LogInRules, rules_of
from core.store import accounts, identities
from core.store.home import Home
from core.store.sqlite import connect as open_database
from core.store.sqlite import transaction

KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
PUBLIC = KEY.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)


def rules(issuer: str, **more: object) -> LogInRules:
    usual = {"client": "tiphys", "scope": "openid", "name": "preferred_username", "groups": "groups",
             "roles": ("bosses=admin", "lab=reviewer"), "hours": 1.0}
    return rules_of(issuer, **{**usual, **more})  # type: ignore[arg-type]


class Provider(BaseHTTPRequestHandler):
    """Names its keys and itself; whoever has KEY speaks for it."""

    asked: list[str] = []

    def do_GET(self) -> None:
        Provider.asked.append(self.path)
        root = f"http://127.0.0.1:{self.server.server_address[1]}"
        key = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(KEY.public_key())), "kid": "1", "use": "sig"}
        shared = {"kty": "oct", "k": "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2Vj", "kid": "shared", "alg": "HS256"}
        body = json.dumps({"keys": [key, shared]} if self.path == "/keys" else {
            "issuer": root, "jwks_uri": f"{root}/keys", "token_endpoint": f"{root}/token"}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def issuer() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    Provider.asked = []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def claims(issuer: str, **more: object) -> dict[str, object]:
    now = int(time.time())
    usual = {"iss": issuer, "aud": "tiphys", "sub": "s-1", "iat": now, "exp": now + 300, "preferred_username": "li",
             "groups": ["lab"], "jti": str(time.time_ns())}
    return {k: v for k, v in {**usual, **more}.items() if v is not None}


def signed(issuer: str, headers: dict[str, object] | None = None, **more: object) -> str:
    return jwt.encode(claims(issuer, **more), KEY, "RS256", {"kid": "1", **(headers or {})})


def confused(issuer: str) -> str:
    """The provider's public key taken for a shared secret (PyJWT refuses to make such a token)."""
    parts = [base64.urlsafe_b64encode(json.dumps(p).encode()).rstrip(b"=") for p in (
        {"alg": "HS256", "kid": "1", "typ": "JWT"}, claims(issuer))]
    mac = hmac.new(PUBLIC, b".".join(parts), hashlib.sha256).digest()
    return b".".join([*parts, base64.urlsafe_b64encode(mac).rstrip(b"=")]).decode()


def forged(issuer: str) -> str:
    """Right in all but its signature."""
    head, body, mark = signed(issuer).split(".")
    return ".".join([head, body, mark[:20] + ("A" if mark[20] != "A" else "B") + mark[21:]])


def of_another_kind(issuer: str) -> str:
    return jwt.encode(claims(issuer), ec.generate_private_key(ec.SECP256R1()), "ES256", {"kid": "1"})


HOSTILE = {
    "another program's": (lambda i: signed(i, aud="other"), "id_token_audience"),
    "several programs', and not for us": (lambda i: signed(i, aud=["tiphys", "other"], azp="other"),
                                          "id_token_audience"),
    "several programs', for nobody": (lambda i: signed(i, aud=["tiphys", "other"]), "id_token_audience"),
    "another issuer's": (lambda i: signed(i, iss="http://127.0.0.1:1"), "id_token_issuer"),
    "expired": (lambda i: signed(i, exp=int(time.time()) - 90), "id_token_expired"),
    "never ending": (lambda i: signed(i, exp=None), "id_token_incomplete"),
    "issued long ago": (lambda i: signed(i, iat=int(time.time()) - 5000), "id_token_old"),
    "of tomorrow": (lambda i: signed(i, nbf=int(time.time()) + 86400), "id_token_early"),
    "unsigned": (lambda i: jwt.encode(claims(i), None, "none", {"kid": "1"}), "id_token_algorithm"),
    "signed with the public key": (confused, "id_token_algorithm"),
    "signed with a shared key": (lambda i: jwt.encode(claims(i), "secret" * 6, "HS256", {"kid": "shared"}),
                                 "id_token_algorithm"),
    "of another kind than its key": (of_another_kind, "id_token_algorithm"),
    "forged": (forged, "id_token_signature"),
    "of a key that nobody names": (lambda i: signed(i, {"kid": "2"}), "id_token_key"),
    "with a key of its own": (lambda i: signed(i, {"kid": "3", "jwk": {"kty": "oct"}, "jku": "http://127.0.0.1:1"}),
                              "id_token_key"),
    "of nobody": (lambda i: signed(i, preferred_username=None), "id_token_incomplete"),
    "of no subject": (lambda i: signed(i, sub=None), "id_token_incomplete"),
    "of no group of ours": (lambda i: signed(i, groups=["guests"]), "login_no_role"),
    "of groups that are none": (lambda i: signed(i, groups={"lab": 1}), "login_no_role"),
    "no token": (lambda _: "x", "id_token_bad"),
    "deep": (lambda _: base64.urlsafe_b64encode(b"[" * 5000).decode().rstrip("=") + ".e30.AA", "id_token_bad"),
    "of a name that is none": (lambda i: signed(i, preferred_username="agent:s"), "account_name"),
}


def test_no_token_but_a_good_one_logs_in(tmp_path: Path, issuer: str) -> None:
    async def scenario() -> dict[str, str]:
        found = {}
        async with serving(tmp_path, log_in=rules(issuer)) as server:
            for name, (make, _) in HOSTILE.items():
                with pytest.raises(Denied) as caught:
                    await log_in(server.url, make(issuer), accounts.make_token())
                found[name] = caught.value.code
            joined = await log_in(server.url, signed(issuer), accounts.make_token())
            assert (joined.name, joined.scopes) == ("li", ("view", "review"))
            return found

    # who shows so many bad tokens is slowed down: here each comes as if alone
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("core.server.gate.FAILURES_AT_ONCE", 100.0)
        assert asyncio.run(scenario()) == {name: code for name, (_, code) in HOSTILE.items()}
    assert Provider.asked.count("/keys") == 1, "a token that names another key makes nobody ask again and again"


def test_an_account_is_a_subjects_and_no_names(tmp_path: Path, issuer: str) -> None:
    async def scenario() -> None:
        async def code_of(token: str, own: str = "") -> str:
            try:
                return (await log_in(server.url, token, own or accounts.make_token())).name
            except ReportableError as error:
                return error.code

        def change(work) -> None:
            with closing(open_database(Home(tmp_path).server_db)) as conn, transaction(conn):
                work(conn)

        async with serving(tmp_path, log_in=rules(issuer)) as server:
            account(tmp_path, "anna", "admin")
            assert await code_of(signed(issuer, preferred_username="anna")) == "login_name_taken"
            once, own = signed(issuer), accounts.make_token()
            assert [await code_of(once, own), await code_of(once, own)] == ["li", "li"]
            assert await code_of(once) == "login_used"
            assert await code_of(signed(issuer, preferred_username="li2")) == "li", "the subject's account"
            assert await code_of(signed(issuer, sub="s-2")) == "login_name_taken"
            assert await code_of(signed(issuer), "weak") == "bad_own_token"
            assert accounts.principal(server.hub.reader, own).scopes == ("view", "review")
            assert await code_of(signed(issuer, groups=["lab", "bosses"])) == "li"
            assert accounts.principal(server.hub.reader, own).scopes == ("admin",), "what the groups of now say"
            change(lambda conn: accounts.revoke(conn, "li"))
            assert await code_of(signed(issuer)) == "login_revoked"
            change(lambda conn: accounts.add_account(conn, "li", ["view"]))
            for token in (own, accounts.make_token()):
                with pytest.raises(Denied):
                    accounts.principal(server.hub.reader, token)
            assert await code_of(signed(issuer)) == "login_name_taken", "who has the name now is perhaps another"
            change(lambda conn: identities.link(conn, "li", f"{issuer} s-1"))
            assert await code_of(signed(issuer)) == "li"

    asyncio.run(scenario())


def test_a_log_in_ends_by_itself(tmp_path: Path, issuer: str) -> None:
    async def scenario() -> None:
        async with serving(tmp_path / "s", log_in=rules(issuer, hours=0.5 / 3600)) as server:
            token = accounts.make_token()
            await log_in(server.url, signed(issuer), token)
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await until(lambda: client.status.state == "denied")
            with pytest.raises(Denied) as caught:
                accounts.principal(server.hub.reader, token)
            assert caught.value.code == "login_over"

    asyncio.run(scenario())


def test_a_server_without_a_provider_says_so(tmp_path: Path) -> None:
    async def scenario() -> str:
        async with serving(tmp_path) as server:
            with pytest.raises(ReportableError) as caught:
                await begin(server.url)
            return caught.value.code

    assert asyncio.run(scenario()) == "no_log_in"


@pytest.mark.parametrize(("more", "code"), [
    ({"roles": ("lab=king",)}, "bad_role_rule"), ({"roles": ("admin",)}, "bad_role_rule"),
    ({"client": ""}, "bad_issuer"), ({"scope": "profile"}, "bad_issuer")])
def test_settings_that_cannot_be_meant_are_refused(more: dict[str, object], code: str) -> None:
    with pytest.raises(ReportableError) as caught:
        rules("https://sso.example", **more)
    assert caught.value.code == code


@pytest.mark.parametrize("issuer", ["http://sso.example", "ftp://localhost", "https://", "https://a@b", "file:///etc"])
def test_a_provider_is_spoken_to_encrypted(issuer: str) -> None:
    with pytest.raises(ReportableError) as caught:
        rules(issuer)
    assert caught.value.code == "bad_issuer"


def secret_file(folder: Path, text: str = glewlwyd.SECRET, mode: int = 0o640) -> str:
    path = folder / "oidc.secret"
    path.write_text(text)
    path.chmod(mode)
    return str(path)


@pytest.mark.parametrize("registered", [glewlwyd.CLIENT, glewlwyd.CONFIDENTIAL])
def test_a_person_logs_in_at_a_real_provider_by_a_code(tmp_path: Path, caplog: pytest.LogCaptureFixture, registered: str
                                                       ) -> None:
    caplog.set_level(logging.DEBUG)
    more = {"client": registered, "secret_file": secret_file(tmp_path)} if registered == glewlwyd.CONFIDENTIAL else {}

    async def scenario(provider: glewlwyd.Glewlwyd) -> None:
        async with serving(tmp_path / "s", self_signed=True, log_in=rules(provider.issuer, **more)) as server:
            started = await begin(server.url, pace=0.2)
            assert len(started.code.user_code) >= 6 and started.code.verification_uri.startswith(provider.root)
            waiting = asyncio.ensure_future(started.id_token())  # noqa: TID251 - the person agrees meanwhile
            await asyncio.sleep(0.3)
            assert not waiting.done()
            place = started.code.verification_uri_complete
            assert "deviceComplete" in await asyncio.to_thread(provider.agree, place, registered)
            id_token, token = await waiting, accounts.make_token()
            joined = await log_in(server.url, id_token, token)
            assert (joined.name, joined.scopes) == ("li", ("view", "review"))
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await until(lambda: client.status.state == "online" and client.status.name == "li")
            for secret in (id_token, token, glewlwyd.SECRET, quote_plus(glewlwyd.SECRET)):
                assert secret not in caplog.text

    with glewlwyd.running(tmp_path) as provider:
        asyncio.run(scenario(provider))
    assert "li (view review) logged in from 127.0.0.1" in caplog.text


def test_a_wrong_secret_and_a_guessed_code_let_nobody_in(tmp_path: Path) -> None:
    async def refused(asked: Awaitable[object]) -> str:
        with pytest.raises(ReportableError) as caught:
            await asked
        return caught.value.code

    async def scenario(provider: glewlwyd.Glewlwyd) -> list[str]:
        file = secret_file(tmp_path)
        log_in_by = rules(provider.issuer, client=glewlwyd.CONFIDENTIAL, secret_file=file)
        async with serving(tmp_path / "s", log_in=log_in_by) as server:
            assert await ServersProvider(server.url, "").answer("guessed") == {"error": "access_denied"}
            secret_file(tmp_path, "another secret")
            found = [await refused(begin(server.url))]
            secret_file(tmp_path, mode=0o644)
            found.append(await refused(begin(server.url)))
            secret_file(tmp_path)
            assert (await begin(server.url)).code.user_code, "a renewed secret counts at once"
            for _ in range(30):
                if (code := await refused_or_begun(server.url)) != "":
                    return [*found, code]
            raise AssertionError("nobody who begins again and again is slowed down")

    async def refused_or_begun(url: str) -> str:
        try:
            await begin(url)
        except ReportableError as error:
            return error.code
        return ""

    with glewlwyd.running(tmp_path) as provider:
        assert asyncio.run(scenario(provider)) == ["login_failed", "server_away", "login_often"]


@pytest.mark.parametrize(("text", "mode", "why"), [
    ("", 0o600, "one line"), ("short", 0o600, "one line"), ("two\nlines here", 0o600, "one line"),
    ("good enough", 0o604, "open to everybody"), ("schlüssel", 0o600, "ASCII"), (None, 0, "cannot be read")])
def test_a_secret_that_cannot_be_used_is_refused_before_anything_is_served(tmp_path: Path, text: str | None, mode: int,
                                                                          why: str) -> None:
    file = str(tmp_path / "none") if text is None else secret_file(tmp_path, text, mode)
    with pytest.raises(ReportableError, match=why) as caught:
        rules("https://sso.example", secret_file=file)
    assert caught.value.code == "bad_client_secret"
