"""What strangers cost a server whose log-in provider is away, and names that are made to be taken for others."""

from __future__ import annotations

import asyncio
import base64
import json
import math
import socket
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.client import device_login, issuer
from core.client.device_login import LogInOffer
from core.domain.errors import Denied, InvalidInput, Unavailable
from core.server.id_tokens import IdTokens, rules_of
from core.store import accounts, identities
from core.store.identities import Identity
from core.store.schema import open_log


def test_others_wait_for_nothing_while_strangers_wait_for_the_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issuer, "TIMEOUT_S", 100.0)
    head = base64.urlsafe_b64encode(json.dumps({"alg": "RS256", "kid": "x"}).encode()).rstrip(b"=").decode()

    async def main(judge: IdTokens) -> None:
        async with asyncio.timeout(60):
            strangers = asyncio.gather(*(judge.whose(f"{head}.e30.AAAA") for _ in range(40)), return_exceptions=True)
            await asyncio.sleep(0)
            await asyncio.to_thread(lambda: None)
            assert not strangers.done(), "the server's own threads are free at once"
            silent.close()  # who waits there is hung up on
            found = await strangers
        assert all(isinstance(one, Unavailable) and one.code == "issuer_away" for one in found)

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        rules = rules_of(url, "tiphys", "openid", "preferred_username", "groups", ("*=reviewer",), 1.0)
        asyncio.run(main(IdTokens(rules)))


@pytest.mark.parametrize(("name", "code"), [
    ("Anna", "login_name_taken"), ("\uff41nna", "login_name_taken"), ("anna\u200b", "account_name"),
    ("\u202eanna", "account_name"), ("anna\u2028", "account_name"), (" anna", "account_name"),
    ("agent:s", "account_name"),
])
def test_nobody_takes_a_name_that_looks_like_anothers(tmp_path: Path, name: str, code: str) -> None:
    conn = open_log(tmp_path / "server.db")
    accounts.add_account(conn, "anna", ("view",))
    who = Identity(subject="https://lab 7", name=name, scopes=("view", "review"))
    with pytest.raises((Denied, InvalidInput)) as refused:
        identities.log_in(conn, who, "id", accounts.make_token(), datetime.now(UTC) + timedelta(hours=1))
    assert refused.value.code == code
    conn.close()


@pytest.mark.parametrize("place", ["http://127.0.0.1:8080/delete?all=1", "http://localhost:9/", "http://[::1]:631/",
                                   "https://127.0.0.1/", "http://printer.lab/", "ftp://id.lab/"])
def test_a_provider_sends_nobody_to_what_listens_on_their_own_computer(place: str) -> None:
    with pytest.raises(InvalidInput):
        issuer.check_named("https://id.lab", place)
    issuer.check_named("https://id.lab", "https://id.lab/token")
    issuer.check_named("http://127.0.0.1:5", "http://127.0.0.1:5/token")


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0, 1e300])
def test_a_code_lasts_for_a_time_that_a_clock_can_wait_for(seconds: float) -> None:
    """`json` reads NaN; a pause of it is none, and the window would do nothing but ask."""
    offer = LogInOffer(issuer="https://id.lab", client="t", scope="openid")
    for field in ("expires_in", "interval"):
        with pytest.raises(Unavailable):
            device_login._code_of(offer, {"device_code": "d", "user_code": "u", "verification_uri": "https://id.lab/d",
                                          field: seconds})
