"""Invitations make an account once; accounts end by themselves; a restored backup revives neither."""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from core.domain.errors import Conflict, Denied, InvalidInput, NotFound, ReportableError
from core.domain.invitation import Invitation, is_invitation, parse_invitation
from core.store import accounts, invitations
from core.store.backup import back_up
from core.store.restore import restore
from core.store.schema import open_log
from core.store.sqlite import Connection

WEEK = timedelta(days=7)


@pytest.fixture
def conn(tmp_path: Path):
    with contextlib.closing(open_log(tmp_path / "server.db")) as made:
        yield made


def code_of(conn: Connection, invitation: str, token: str) -> str:
    with pytest.raises(ReportableError) as refused:
        invitations.exchange(conn, invitation, token)
    return refused.value.code


def test_an_invitation_makes_an_account_once(conn: Connection) -> None:
    once, mine = invitations.invite(conn, "李", ["view", "guide"], WEEK), accounts.make_token()
    assert [i.account for i in invitations.open_invitations(conn)] == ["李"]
    with pytest.raises(Denied):
        accounts.principal(conn, once)
    assert invitations.exchange(conn, once, mine) == accounts.principal(conn, mine)
    assert accounts.principal(conn, mine).scopes == ("view", "guide")
    assert invitations.exchange(conn, once, mine).name == "李", "an answer that was lost may be asked for again"
    assert code_of(conn, once, accounts.make_token()) == "invitation_used"
    assert invitations.open_invitations(conn) == []


def test_what_opens_nothing(conn: Connection) -> None:
    assert code_of(conn, "tpi_guess", accounts.make_token()) == "invitation_unknown"
    late = invitations.invite(conn, "late", ["view"], timedelta(seconds=-1))
    assert code_of(conn, late, accounts.make_token()) == "invitation_expired"
    first = invitations.invite(conn, "li", ["view"], WEEK)
    second = invitations.invite(conn, "li", ["view"], WEEK)
    assert code_of(conn, first, accounts.make_token()) == "invitation_expired", "the newer one made it void"
    for weak in ("", "tph_short", "x" * 60, "tph_" + "ü" * 50):
        assert code_of(conn, second, weak) == "bad_own_token"
    accounts.add_account(conn, "li", ["view"])
    assert code_of(conn, second, accounts.make_token()) == "account_exists"
    with pytest.raises(Conflict):
        invitations.invite(conn, "li", ["view"], WEEK)
    with pytest.raises(InvalidInput):
        invitations.invite(conn, "x", ["everything"], WEEK)


def test_an_invitation_to_another_token_renews_the_account(conn: Connection) -> None:
    before = accounts.add_account(conn, "li", ["view", "review"])
    once, mine = invitations.invite_again(conn, "li", WEEK), accounts.make_token()
    assert accounts.principal(conn, before).name == "li", "until it is used the old token is good"
    invitations.exchange(conn, once, mine)
    assert accounts.principal(conn, mine).scopes == ("view", "review")
    with pytest.raises(Denied, match="unknown"):
        accounts.principal(conn, before)
    with pytest.raises(NotFound):
        invitations.invite_again(conn, "nobody", WEEK)


def test_an_account_expires_and_is_prolonged_and_rotated(conn: Connection) -> None:
    once, mine = invitations.invite(conn, "guest", ["view"], WEEK, datetime.now(UTC) - WEEK), accounts.make_token()
    with pytest.raises(Denied) as refused:
        invitations.exchange(conn, once, mine)
    assert refused.value.code == "token_expired"
    accounts.expire(conn, "guest", None)
    assert accounts.principal(conn, mine).name == "guest"
    soon = datetime.now(UTC) + WEEK
    accounts.expire(conn, "guest", soon)
    assert accounts.next_expiry(conn, datetime.now(UTC)) == soon
    fresh = accounts.rotate(conn, "guest")
    assert accounts.principal(conn, fresh).name == "guest"
    for gone in (mine, once):
        with pytest.raises(Denied):
            accounts.principal(conn, gone)


def test_roles_are_known_by_their_scopes(conn: Connection) -> None:
    for role, scopes in accounts.ROLES.items():
        assert set(scopes) <= set(accounts.SCOPES)
        accounts.add_account(conn, role, reversed(scopes))
    assert [a.role for a in accounts.accounts(conn)] == sorted(accounts.ROLES)


def test_a_restored_backup_revives_no_invitation_and_no_account(tmp_path: Path) -> None:
    live, copy = tmp_path / "server.db", tmp_path / "copy.db"
    with contextlib.closing(open_log(live)) as conn:
        once = invitations.invite(conn, "li", ["view"], WEEK)
        token = accounts.add_account(conn, "guest", ["view"])
        back_up(conn, copy)
        invitations.exchange(conn, once, accounts.make_token())
        accounts.expire(conn, "guest", datetime.now(UTC))
        accounts.note_login(conn, "guest", "10.0.0.7")
    assert restore(copy, live).accounts == 2
    with contextlib.closing(open_log(live)) as conn:
        assert code_of(conn, once, accounts.make_token()) == "invitation_used"
        with pytest.raises(Denied, match="expired"):
            accounts.principal(conn, token)
        assert {a.name: a.last_address for a in accounts.accounts(conn)} == {"guest": "10.0.0.7", "li": ""}


def test_a_link_says_where_who_and_by_what() -> None:
    made = Invitation(server="wss://lab:7717#sha256=" + "ab" * 32, name="李 & co", token="tpi_x")
    assert is_invitation(f" {made}\n") and parse_invitation(f" {made}\n") == made


@pytest.mark.parametrize("text", ["", "tiphys://join", "tiphys://join?server=ws://x&name=a", "tiphys://session/x",
                                  "tiphys://join?server=http://x&name=a&token=t", "tiphys://join?" + "x" * 3000,
                                  "tiphys://join?server=ws://x&name=a%0a&token=t"])
def test_what_is_no_invitation_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match="no invitation"):
        parse_invitation(text)
