"""Who may do what: tokens (only their SHA-256 is stored) and the scopes that each holds."""

import hashlib
import json
import re
import secrets
import unicodedata
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from core.domain.errors import Conflict, Denied, InvalidInput, NotFound, ReportableError
from core.store.sqlite import Connection, scalar

SCOPES = ("view", "guide", "review", "propose", "run", "metrics", "admin")
"""What an account may hold; `admin` includes the others. `propose` is for programs that judge as a rule or a judge,
`metrics` for those that watch the server itself, `run` for runners of sessions that wait for one from outside.
A runner holds `agent:<session>` alone."""

ROLES: dict[str, tuple[str, ...]] = {
    "annotator": ("view", "guide", "review"),
    "reviewer": ("view", "review"),
    "operator": ("view", "guide", "review", "metrics"),
    "judge": ("view", "propose"),
    "runner": ("view", "run"),
    "monitor": ("metrics",),
    "admin": ("admin",),
}
"""What people do here, by name, and the scopes that it takes."""

_OWN_TOKEN = re.compile(r"tph_[A-Za-z0-9_-]{43,100}\Z")
_LONGEST_NAME = 80
_SIGNS = " ._-@+',()"
NAMES = ("1 to 80 letters and digits of any script, single spaces and the signs . _ - @ + ' , ( ), "
         "of which the first is a letter or digit")
"""What an account may be named, for a sentence."""


class Principal(msgspec.Struct, frozen=True, kw_only=True):
    """The holder of a token."""

    name: str
    scopes: tuple[str, ...]

    def allows(self, scope: str) -> bool:
        """Whether the holder may do what needs this scope."""
        return scope in self.scopes or ("admin" in self.scopes and scope in SCOPES)

    def require(self, scope: str) -> None:
        """Raise Denied unless the holder may do what needs this scope."""
        if not self.allows(scope):
            raise Denied("missing_scope", f"{self.name} may not do this: it needs {scope}.", scope=scope)


class Account(msgspec.Struct, frozen=True, kw_only=True):
    """One account as an administrator sees it."""

    name: str
    scopes: tuple[str, ...]
    created_at: datetime
    revoked_at: datetime | None = None
    expires_at: datetime | None = None
    last_login: datetime | None = None
    last_address: str = ""
    subject: str = ""
    """Whose it is at the lab's log-in; "" where it is nobody's there."""

    @property
    def role(self) -> str:
        """The role that has these scopes; "" where none has."""
        return role_of(self.scopes)


def role_of(scopes: Iterable[str]) -> str:
    """The role that has exactly these scopes; "" where none has."""
    held = sorted(scopes)
    return next((role for role, of_role in ROLES.items() if sorted(of_role) == held), "")


def make_token() -> str:
    """A new secret of 256 random bits, recognisable by its prefix where it does not belong."""
    return "tph_" + secrets.token_urlsafe(32)


def add_account(conn: Connection, name: str, scopes: Iterable[str], token: str = "",
                expires_at: datetime | None = None) -> str:
    """Make an account, or give a revoked one a new life; returns its token, which is not shown again.

    Raises Conflict when a living account has the name, or any has one that looks the same; InvalidInput for a bad name
    or scope.
    """
    held = checked(conn, name, scopes)
    token = token or make_token()
    _log_out(conn, name)  # whoever had the name before is not who has it now
    conn.execute("INSERT OR REPLACE INTO account (name, token_sha256, scopes, created_at, expires_at) "
                 "VALUES (?, ?, ?, ?, ?)", (name, digest(token), json.dumps(held), datetime.now(UTC).isoformat(),
                                            _text(expires_at)))
    return token


def is_known(conn: Connection, name: str) -> bool:
    """Whether there is, or was, an account or an invitation of that name, or events that came with its token."""
    return any(scalar(conn, sql, name) is not None for sql in (
        "SELECT 1 FROM account WHERE name = ?", "SELECT 1 FROM invitation WHERE account = ?",
        "SELECT 1 FROM attribution WHERE account = ? LIMIT 1"))


def is_alive(conn: Connection, name: str) -> bool:
    """Whether there is an account of that name that was not revoked."""
    return conn.execute("SELECT 1 FROM account WHERE name = ? AND revoked_at IS NULL", (name,)).fetchone() is not None


def rotate(conn: Connection, name: str, token: str = "") -> str:
    """Give an account another token; the one of before is void, and log-ins are. Raises NotFound, Conflict."""
    token = token or make_token()
    _log_out(conn, name)
    sql = "UPDATE account SET token_sha256 = ? WHERE name = ? AND revoked_at IS NULL"
    if not conn.execute(sql, (digest(token), name)).rowcount:
        raise not_there(conn, name)
    return token


def expire(conn: Connection, name: str, at: datetime | None) -> None:
    """Let an account end by itself at a time, or never (None). Raises NotFound, Conflict."""
    sql = "UPDATE account SET expires_at = ? WHERE name = ? AND revoked_at IS NULL"
    if not conn.execute(sql, (_text(at), name)).rowcount:
        raise not_there(conn, name)


def note_login(conn: Connection, name: str, address: str) -> None:
    """Remember when and from where an account came in last."""
    conn.execute("UPDATE account SET last_login = ?, last_address = ? WHERE name = ?",
                 (datetime.now(UTC).isoformat(), address, name))


def next_expiry(conn: Connection, after: datetime) -> datetime | None:
    """When the next account or log-in ends by itself; None where none does."""
    sql = ("SELECT min(expires_at) FROM (SELECT expires_at FROM account WHERE revoked_at IS NULL "
           "UNION ALL SELECT expires_at FROM login) WHERE expires_at > ?")
    return _moment(conn.execute(sql, (_text(after),)).fetchone()[0])


def principal(conn: Connection, token: str) -> Principal:
    """The holder of a token. Raises Denied for an unknown, revoked (bad_token) or expired one (token_expired), and for
    a log-in whose time is over (login_over)."""
    sql = ("SELECT name, scopes, revoked_at, expires_at, NULL FROM account WHERE token_sha256 = ?1 UNION ALL "
           "SELECT name, scopes, revoked_at, account.expires_at, login.expires_at FROM login JOIN account "
           "ON name = account WHERE login.token_sha256 = ?1")
    row = conn.execute(sql, (digest(token),)).fetchone()
    if row is None or row[2] is not None:
        raise Denied("bad_token", "The token is unknown or was revoked.")
    until, login_until, now = _moment(row[3]), _moment(row[4]), datetime.now(UTC)
    if until is not None and until <= now:
        raise Denied("token_expired", f"The account {row[0]} has expired. The administrator can prolong it.",
                     name=row[0])
    if login_until is not None and login_until <= now:
        raise Denied("login_over", f"The time of {row[0]}'s log-in is over: log in again.", name=row[0])
    return Principal(name=row[0], scopes=tuple(json.loads(row[1])))


def knows(conn: Connection, token: str) -> bool:
    """Whether a token was given out here, be it void by now."""
    return conn.execute("SELECT 1 FROM account WHERE token_sha256 = ?", (digest(token),)).fetchone() is not None


def revoke(conn: Connection, name: str) -> None:
    """Make an account's token void. Raises NotFound. Connections that it opened are the server's to close."""
    _log_out(conn, name)
    sql = "UPDATE account SET revoked_at = ifnull(revoked_at, ?) WHERE name = ?"
    if not conn.execute(sql, (datetime.now(UTC).isoformat(), name)).rowcount:
        raise not_there(conn, name)


def accounts(conn: Connection) -> list[Account]:
    """All accounts by name."""
    sql = ("SELECT name, scopes, created_at, revoked_at, expires_at, last_login, last_address, subject "
           "FROM account ORDER BY name")
    return [Account(name=name, scopes=tuple(json.loads(scopes)), created_at=datetime.fromisoformat(created),
                    revoked_at=_moment(revoked), expires_at=_moment(expires), last_login=_moment(login),
                    last_address=address or "", subject=subject or "")
            for name, scopes, created, revoked, expires, login, address, subject in conn.execute(sql)]


def checked(conn: Connection, name: str, scopes: Iterable[str]) -> list[str]:
    """The scopes of an account that is to be, each once. Raises InvalidInput (account_name, unknown_scope), Conflict
    (account_exists). A name that was here before this rule was is good as it is."""
    held = checked_scopes(scopes)
    is_ours = name.startswith("agent:")
    if held != [name] if is_ours else not is_name(name) and not is_known(conn, name):
        raise InvalidInput("account_name", f"{name[:80]!r} cannot be the name of an account: one has {NAMES}.")
    if is_alive(conn, name):
        raise Conflict("account_exists", f"There is an account {name} already.", name=name)
    if not is_ours and not is_known(conn, name) and (other := alike(conn, name)) is not None:
        raise Conflict("account_exists", f"There is an account {other} already, which looks like {name}.", name=other)
    return held


def is_name(name: str) -> bool:
    """Whether an account may be named so: `NAMES` says it in words."""
    return (0 < len(name) <= _LONGEST_NAME and name[0].isalnum() and name == " ".join(name.split())
            and name == unicodedata.normalize("NFKC", name)
            and all(c.isalnum() or c in _SIGNS or unicodedata.category(c).startswith("M") for c in name))


def alike(conn: Connection, name: str) -> str | None:
    """The account, alive or not, that people take this name for; None where there is none."""
    looks = _look(name)
    return next((other for (other,) in conn.execute("SELECT name FROM account") if _look(other) == looks), None)


def _look(name: str) -> str:
    """What is equal for names that people take for one another: people choose theirs at many a provider."""
    return unicodedata.normalize("NFKC", name).casefold()


def checked_scopes(scopes: Iterable[str]) -> list[str]:
    """The scopes, each once. Raises InvalidInput (unknown_scope)."""
    held = list(dict.fromkeys(scopes))
    for scope in held:
        if scope not in SCOPES and not scope.startswith("agent:"):
            raise InvalidInput("unknown_scope", f"There is no scope {scope!r}; there are {', '.join(SCOPES)}.",
                               scope=scope)
    return held


def checked_token(token: str) -> None:
    """Raise InvalidInput (bad_own_token) for what a computer cannot have made as a token of its own."""
    if not _OWN_TOKEN.match(token):
        raise InvalidInput("bad_own_token", "The token that the account is to have is none of ours.")


def digest(token: str) -> bytes:
    """What is stored of a token."""
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()


def _log_out(conn: Connection, name: str) -> None:
    conn.execute("DELETE FROM login WHERE account = ?", (name,))


def not_there(conn: Connection, name: str) -> ReportableError:
    """Why an account cannot be changed: it was revoked, or there is none (no_account)."""
    if scalar(conn, "SELECT 1 FROM account WHERE name = ?", name):
        return Conflict("account_revoked", f"The account {name} was revoked; `account invite {name}` lets its person "
                        "in again.", name=name)
    return NotFound("no_account", f"There is no account {name}.", name=name)


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _text(moment: datetime | None) -> str | None:
    return moment.astimezone(UTC).isoformat() if moment is not None else None
