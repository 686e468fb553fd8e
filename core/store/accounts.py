"""Who may do what: tokens (only their SHA-256 is stored) and the scopes that each holds."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime

import msgspec

from core.domain.errors import Conflict, Denied, InvalidInput, NotFound
from core.store.sqlite import Connection

SCOPES = ("view", "guide", "review", "propose", "metrics", "admin")
"""What an account may hold; `admin` includes the others. `propose` is for programs that judge as a rule or a judge,
`metrics` for those that watch the server itself.
A runner holds `agent:<session>` alone."""

_NAME = re.compile(r"[^\x00-\x1f\x7f]{1,80}\Z")


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


def make_token() -> str:
    """A new secret of 256 random bits, recognisable by its prefix where it does not belong."""
    return "tph_" + secrets.token_urlsafe(32)


def add_account(conn: Connection, name: str, scopes: Iterable[str], token: str = "") -> str:
    """Make an account, or give a revoked one a new life; returns its token, which is not shown again.

    Raises Conflict when a living account has the name, InvalidInput for a bad name or scope.
    """
    held = _checked(name, scopes)
    token = token or make_token()
    alive = conn.execute("SELECT 1 FROM account WHERE name = ? AND revoked_at IS NULL", (name,)).fetchone()
    if alive:
        raise Conflict("account_exists", f"There is an account {name} already.", name=name)
    conn.execute("INSERT OR REPLACE INTO account VALUES (?, ?, ?, ?, NULL)",
                 (name, _digest(token), json.dumps(held), datetime.now(UTC).isoformat()))
    return token


def principal(conn: Connection, token: str) -> Principal:
    """The holder of a token. Raises Denied for an unknown or revoked one."""
    sql = "SELECT name, scopes, revoked_at FROM account WHERE token_sha256 = ?"
    row = conn.execute(sql, (_digest(token),)).fetchone()
    if row is None or row[2] is not None:
        raise Denied("bad_token", "The token is unknown or was revoked.")
    return Principal(name=row[0], scopes=tuple(json.loads(row[1])))


def knows(conn: Connection, token: str) -> bool:
    """Whether a token was given out here, be it void by now."""
    return conn.execute("SELECT 1 FROM account WHERE token_sha256 = ?", (_digest(token),)).fetchone() is not None


def revoke(conn: Connection, name: str) -> None:
    """Make an account's token void. Raises NotFound. Connections that it opened are the server's to close."""
    sql = "UPDATE account SET revoked_at = ifnull(revoked_at, ?) WHERE name = ?"
    if not conn.execute(sql, (datetime.now(UTC).isoformat(), name)).rowcount:
        raise NotFound("no_account", f"There is no account {name}.", name=name)


def accounts(conn: Connection) -> list[Account]:
    """All accounts by name."""
    sql = "SELECT name, scopes, created_at, revoked_at FROM account ORDER BY name"
    return [Account(name=name, scopes=tuple(json.loads(scopes)), created_at=datetime.fromisoformat(created),
                    revoked_at=datetime.fromisoformat(revoked) if revoked else None)
            for name, scopes, created, revoked in conn.execute(sql)]


def _checked(name: str, scopes: Iterable[str]) -> list[str]:
    held = list(dict.fromkeys(scopes))
    if not _NAME.match(name) or (name.startswith("agent:") and held != [name]):
        raise InvalidInput("account_name", f"{name[:80]!r} cannot be the name of an account.")
    for scope in held:
        if scope not in SCOPES and not scope.startswith("agent:"):
            raise InvalidInput("unknown_scope", f"There is no scope {scope!r}; there are {', '.join(SCOPES)}.",
                               scope=scope)
    return held


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "replace")).digest()
