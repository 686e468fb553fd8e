"""Accounts: a token opens what its scopes say, and the file never holds it."""

from datetime import UTC, datetime, timedelta

import pytest

from core.domain.errors import Conflict, Denied, InvalidInput, NotFound
from core.logs import Redactor
from core.store import accounts, identities, invitations
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
    *((name, ["view"], "account_name") for name in (
        "", "a\nb", "a" * 81, "../x", "a/b", "a\\b", ".", "--", "-rf", "a  b", " a", "a ", "a\u00a0b", "a\u3000b",
        "a\u200bb", "a\u2060b", "\uff4ci", "e\u0301", "a<b>", "$(x)", "a;b", "agent:s")),
    ("li", ["root"], "unknown_scope"), ("li", ["view", "Admin"], "unknown_scope"),
])
def test_bad_names_and_scopes_are_refused(conn, name, scopes, code):
    with pytest.raises(InvalidInput) as caught:
        accounts.add_account(conn, name, scopes)
    assert caught.value.code == code and accounts.accounts(conn) == []


@pytest.mark.parametrize("name", ["li", "王芳", "Ana M. Peña", "o'brien", "li.wei+lab@example.org", "Li, Wei (lab 2)",
                                  "नमस्ते", "a" * 80])
def test_a_persons_name_is_taken(conn, name):
    token = accounts.add_account(conn, name, ["view"])
    assert accounts.principal(conn, token).name == name


@pytest.mark.parametrize("name", ["LI", "ﬁn", "li"])
def test_a_name_that_looks_like_anothers_is_refused_by_its_code(conn, name):
    accounts.add_account(conn, "li", ["view"])
    accounts.add_account(conn, "fin", ["view"])
    accounts.revoke(conn, "fin")
    for make in (lambda: accounts.add_account(conn, name, ["view"]),
                 lambda: invitations.invite(conn, name, ["view"], timedelta(1))):
        with pytest.raises((Conflict, InvalidInput)) as caught:
            make()
        assert caught.value.code == ("account_name" if name == "ﬁn" else "account_exists")
    accounts.add_account(conn, "fin", ["view"])  # the very name that was revoked


def test_an_account_of_before_with_an_odd_name_goes_on(conn):
    token, made = accounts.make_token(), "2026-01-01T00:00:00+00:00"
    conn.execute("INSERT INTO account (name, token_sha256, scopes, created_at, subject) VALUES (?, ?, ?, ?, ?)",
                 ("../x", accounts.digest(token), '["view"]', made, "https://lab 7"))
    assert accounts.principal(conn, token).name == "../x"
    assert accounts.principal(conn, accounts.rotate(conn, "../x")).name == "../x"
    who = identities.Identity(subject="https://lab 7", name="x", scopes=("view", "review"))
    until = datetime.now(UTC) + timedelta(hours=1)
    assert identities.log_in(conn, who, "id", accounts.make_token(), until).name == "../x"
    accounts.revoke(conn, "../x")
    assert accounts.principal(conn, accounts.add_account(conn, "../x", ["view"])).name == "../x"


def test_tokens_do_not_repeat():
    assert len({accounts.make_token() for _ in range(1000)}) == 1000
