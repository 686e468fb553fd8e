"""Accounts: a token opens what its scopes say, and the file never holds it."""

import pytest

from core.domain.errors import Conflict, Denied, InvalidInput, NotFound
from core.logs import Redactor
from core.store import accounts
from core.store.accounts import Principal
from core.store.schema import open_log


@pytest.fixture
def conn(tmp_path):
    conn = open_log(tmp_path / "a.db")
    yield conn
    conn.close()


def test_a_token_is_known_and_not_stored(conn, tmp_path):
    token = accounts.add_account(conn, "li", ["view", "guide", "view"])
    assert accounts.principal(conn, token) == Principal(name="li", scopes=("view", "guide"))
    for file in tmp_path.iterdir():
        assert token.encode() not in file.read_bytes()
    assert token not in Redactor().redact(f"a log line with {token}")


@pytest.mark.parametrize("token", ["", "tph_wrong", "' OR 1=1 --", "\ud800"])
def test_an_unknown_token_is_denied(conn, token):
    accounts.add_account(conn, "li", ["view"])
    with pytest.raises(Denied) as caught:
        accounts.principal(conn, token)
    assert caught.value.code == "bad_token"


def test_a_revoked_token_is_denied_and_the_name_is_free_again(conn):
    old = accounts.add_account(conn, "li", ["admin"])
    with pytest.raises(Conflict):
        accounts.add_account(conn, "li", ["view"])
    accounts.revoke(conn, "li")
    [gone] = accounts.accounts(conn)
    accounts.revoke(conn, "li")
    assert [gone] == accounts.accounts(conn) and gone.revoked_at is not None, "void since the first time"
    with pytest.raises(Denied):
        accounts.principal(conn, old)
    new = accounts.add_account(conn, "li", ["view"])
    assert accounts.principal(conn, new).scopes == ("view",)
    with pytest.raises(Denied):
        accounts.principal(conn, old)
    with pytest.raises(NotFound):
        accounts.revoke(conn, "nobody")
    assert [(a.name, a.revoked_at) for a in accounts.accounts(conn)] == [("li", None)]


def test_scopes_open_what_they_say():
    guide = Principal(name="li", scopes=("guide",))
    admin = Principal(name="root", scopes=("admin",))
    runner = Principal(name="r", scopes=("agent:s1",))
    guide.require("guide")
    assert not guide.allows("review") and not guide.allows("admin")
    assert all(admin.allows(scope) for scope in accounts.SCOPES)
    assert runner.allows("agent:s1") and not runner.allows("agent:s2") and not runner.allows("view")
    assert not admin.allows("agent:s1"), "only the runner itself writes its journal"
    with pytest.raises(Denied) as caught:
        guide.require("admin")
    assert (caught.value.code, caught.value.params) == ("missing_scope", {"scope": "admin"})


@pytest.mark.parametrize(("name", "scopes", "code"), [
    ("", ["view"], "account_name"), ("a\nb", ["view"], "account_name"), ("a" * 81, ["view"], "account_name"),
    ("li", ["root"], "unknown_scope"), ("li", ["view", "Admin"], "unknown_scope"),
])
def test_bad_names_and_scopes_are_refused(conn, name, scopes, code):
    with pytest.raises(InvalidInput) as caught:
        accounts.add_account(conn, name, scopes)
    assert caught.value.code == code and accounts.accounts(conn) == []


def test_tokens_do_not_repeat():
    assert len({accounts.make_token() for _ in range(1000)}) == 1000
