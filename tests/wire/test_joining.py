"""Joining a server by an invitation: over TLS by the fingerprint in the link, once, with a log line that says who."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.wire import admin_token, running_client, serving, until

from core.client.certificate import split_address, with_pin
from core.client.invitation import accept, read_invitation
from core.domain.errors import InvalidInput, ReportableError, Unavailable
from core.domain.invitation import Invitation, parse_invitation
from core.server.certificate import fingerprint_of, own_certificate
from core.store import accounts, invitations
from core.store.home import Home
from core.store.sqlite import connect as open_database
from core.store.sqlite import transaction

ROOT = Path(__file__).resolve().parents[2]


def invited(folder: Path, server: str, name: str = "li", **more: object) -> Invitation:
    conn = open_database(Home(folder).server_db)
    with contextlib.closing(conn), transaction(conn):
        token = invitations.invite(conn, name, ["view", "review"], **{"valid": timedelta(days=1), **more})
    return Invitation(server=server, name=name, token=token)


def change(folder: Path, work) -> None:
    with contextlib.closing(open_database(Home(folder).server_db)) as conn, transaction(conn):
        work(conn)


async def refused(invitation: Invitation) -> str:
    with pytest.raises(ReportableError) as caught:
        await accept(invitation, accounts.make_token())
    return caught.value.code


def test_who_is_invited_joins_works_and_is_known(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    home = tmp_path / "home"

    async def scenario() -> str:
        async with serving(home, self_signed=True) as server:
            invitation, token = invited(home, server.url), accounts.make_token()
            joined = await accept(invitation, token)
            assert (joined.name, joined.scopes) == ("li", ("view", "review"))
            assert await accept(invitation, token) == joined
            assert await refused(invitation) == "invitation_used"
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await until(lambda: client.status.state == "online" and client.status.name == "li")
                await until(lambda: accounts.accounts(server.hub.reader)[0].last_login is not None)
                known = {a.name: a for a in accounts.accounts(server.hub.reader)}["li"]
                assert known.last_address == "127.0.0.1" and known.last_login > datetime.now(UTC) - timedelta(hours=1)
            return invitation.token + token

    secrets = asyncio.run(scenario())
    assert "li (view review) accepted an invitation from 127.0.0.1" in caplog.text
    assert secrets[:40] not in caplog.text and secrets[-40:] not in caplog.text


def test_codes_of_what_is_no_good_any_more(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with serving(tmp_path) as server:
            assert await refused(invited(tmp_path, server.url, valid=timedelta(seconds=-1))) == "invitation_expired"
            assert await refused(Invitation(server=server.url, name="x", token="tpi_x")) == "invitation_unknown"
            assert await refused(Invitation(server=server.url, name="x", token=admin_token(tmp_path))) == \
                "invitation_unknown"
            with pytest.raises(ReportableError) as caught:
                await accept(invited(tmp_path, server.url), "weak")
            assert caught.value.code == "bad_own_token"
            codes = [await refused(Invitation(server=server.url, name="x", token=f"tpi_{n}")) for n in range(25)]
            assert codes[0] == "invitation_unknown", "who guesses is slowed down"

    asyncio.run(scenario())


def test_guesses_are_slowed_down(tmp_path: Path) -> None:
    async def scenario() -> list[str]:
        async with serving(tmp_path) as server:
            said = []
            for n in range(25):
                with pytest.raises(ReportableError) as caught:
                    await accept(Invitation(server=server.url, name="x", token=f"tpi_{n}"), accounts.make_token())
                said.append(caught.value.sentence)
            return said

    assert "Too many" in asyncio.run(scenario())[-1]


def test_a_man_in_the_middle_gets_no_invitation(tmp_path: Path) -> None:
    other = fingerprint_of(own_certificate(Home(tmp_path / "other"), [])[0])

    async def scenario() -> None:
        async with serving(tmp_path / "home", self_signed=True) as server:
            address, pin = split_address(server.url)
            invitation = invited(tmp_path / "home", with_pin(address, other))
            assert await refused(invitation) == "certificate"
            right = Invitation(server=with_pin(address, pin), name="li", token=invitation.token)
            assert (await accept(right, accounts.make_token())).name == "li", "it was not sent, so it is good still"

    asyncio.run(scenario())


def test_a_server_that_is_away_is_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.client.invitation.PAUSE_S", 0.01)
    invitation = Invitation(server="ws://127.0.0.1:9", name="li", token="tpi_x")
    with pytest.raises(Unavailable):
        asyncio.run(accept(invitation, accounts.make_token()))


def test_an_account_that_expires_is_sent_away(tmp_path: Path) -> None:
    home = tmp_path / "home"

    async def scenario() -> str:
        async with serving(home) as server:
            token = accounts.make_token()
            await accept(invited(home, server.url, account_expires_at=datetime.now(UTC) + timedelta(days=1)), token)
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await until(lambda: client.status.state == "online")
                change(home, lambda conn: accounts.expire(conn, "li", datetime.now(UTC) + timedelta(seconds=1.5)))
                await until(lambda: client.status.state == "denied")
                await until(lambda: "has expired" in client.status.sentence)
                return client.status.sentence

    assert "li" in asyncio.run(scenario())


def tiphys(home: Path, *arguments: str) -> list[dict]:
    env = {**os.environ, "TIPHYS_HOME": str(home), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-m", "core.cli", *arguments, "--json"], env=env, capture_output=True,
                          text=True, timeout=60)
    lines = (done.stdout or done.stderr).splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_an_administrator_invites_lists_rotates_and_expires(tmp_path: Path) -> None:
    home = tmp_path / "home"

    async def scenario() -> None:
        async with serving(home, self_signed=True, host="127.0.0.1", names=("lab.example",)) as server:
            async def run(*arguments: str) -> list[dict]:
                return await asyncio.to_thread(tiphys, home, *arguments)

            made, = await run("account", "invite", "李", "--role", "reviewer", "--file", str(tmp_path / "li"))
            assert made["file"] == str(tmp_path / "li.tiphys-invitation") and made["server"] == server.addresses[0]
            invitation = read_invitation(tmp_path / "li.tiphys-invitation")
            assert invitation == parse_invitation(made["link"]) and invitation.name == "李"
            assert {a["name"]: "invited_until" in a for a in await run("account", "list")}["李"]
            token = accounts.make_token()
            joined = await accept(Invitation(server=server.url, name="李", token=invitation.token), token)
            assert joined.scopes == ("view", "review")
            listed = {a["name"]: a for a in await run("account", "list")}
            assert listed["李"]["role"] == "reviewer" and listed["李"]["expires_at"] is None
            async with running_client(tmp_path / "r.db", server.url, token) as client:
                await until(lambda: client.status.state == "online")
                rotated, = await run("account", "rotate", "李")
                await until(lambda: client.status.state == "denied")
            async with running_client(tmp_path / "s.db", server.url, rotated["token"]) as client:
                await until(lambda: client.status.state == "online")
                assert (await run("account", "expire", "李", "--days", "0"))[0]["name"] == "李"
                await until(lambda: client.status.state == "denied")
            own = next(a["name"] for a in await run("account", "list") if a["role"] == "admin")
            assert (await run("account", "expire", own, "--days", "1"))[0]["error"]["code"] == "own_account"
            await run("account", "rotate", own)
            assert (await run("account", "invite", "李"))[0]["error"]["code"] == "account_exists", "its token works"

    asyncio.run(scenario())


def test_a_damaged_file_is_no_invitation(tmp_path: Path) -> None:
    (tmp_path / "x.tiphys-invitation").write_bytes(b"\xff\x00" * 5000)
    with pytest.raises(InvalidInput):
        read_invitation(tmp_path / "x.tiphys-invitation")
    with pytest.raises(Unavailable):
        read_invitation(tmp_path / "none.tiphys-invitation")
