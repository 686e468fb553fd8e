"""Invitations: a token that makes an account once. Only its SHA-256 is stored; whoever uses it brings the token of
their own that the account has from then on, so that an answer that was lost may be asked for again."""

import json
import secrets
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

import msgspec

from core.domain.errors import Denied, NotFound
from core.store import accounts
from core.store.accounts import Principal, digest
from core.store.sqlite import Connection


class OpenInvitation(msgspec.Struct, frozen=True, kw_only=True):
    """One that was not used yet and has not expired."""

    account: str
    scopes: tuple[str, ...]
    expires_at: datetime


def invite(conn: Connection, name: str, scopes: Iterable[str], valid: timedelta,
           account_expires_at: datetime | None = None) -> str:
    """Invite somebody to an account that is not there yet; gives the one-time token.

    An earlier invitation of the name is void. Raises Conflict (account_exists), InvalidInput.
    """
    held = accounts.checked(conn, name, scopes)
    return _make(conn, name, held, valid, account_expires_at, renews=False)


def invite_again(conn: Connection, name: str, valid: timedelta) -> str:
    """Invite the holder of an account to another token for it; the one of now is good until then. Raises NotFound,
    Conflict (account_revoked)."""
    known = next((a for a in accounts.accounts(conn) if a.name == name and a.revoked_at is None), None)
    if known is None:
        if any(one.account == name for one in open_invitations(conn)):
            raise NotFound("no_account", f"There is no account {name}. The invitation to it was not opened yet: "
                           f"without --again {name} gets a new one, and the old one is void.", name=name)
        raise accounts.not_there(conn, name)
    return _make(conn, name, known.scopes, valid, known.expires_at, renews=True)


def exchange(conn: Connection, invitation: str, token: str) -> Principal:
    """Make the account of an invitation, with this token. A repeat with the same token is answered the same.

    Raises Denied (invitation_unknown, invitation_used, invitation_expired), Conflict (account_exists), NotFound where
    the account to renew was revoked, InvalidInput for a token that is too weak.
    """
    accounts.checked_token(token)
    sql = ("SELECT account, scopes, expires_at, account_expires_at, renews, used_at, given_sha256 FROM invitation "
           "WHERE token_sha256 = ?")
    row = conn.execute(sql, (digest(invitation),)).fetchone()
    if row is None:
        raise Denied("invitation_unknown", "The server does not know this invitation.")
    name, scopes, expires_at, ends_at, renews, used_at, given = row
    if used_at is not None and given == digest(token):
        return accounts.principal(conn, token)
    if used_at is not None:
        raise Denied("invitation_used", f"This invitation for {name} was used on {used_at[:16]} UTC. If that was not "
                     "you, tell your administrator.", name=name, when=used_at[:16])
    if datetime.fromisoformat(expires_at) <= datetime.now(UTC):
        raise Denied("invitation_expired", f"This invitation for {name} has expired. Ask for a new one.", name=name)
    if renews:
        accounts.rotate(conn, name, token)
    else:
        until = datetime.fromisoformat(ends_at) if ends_at else None
        accounts.add_account(conn, name, json.loads(scopes), token, until)
    conn.execute("UPDATE invitation SET used_at = ?, given_sha256 = ? WHERE token_sha256 = ?",
                 (datetime.now(UTC).isoformat(), digest(token), digest(invitation)))
    return accounts.principal(conn, token)


def withdraw(conn: Connection, name: str) -> int:
    """Make the unused invitations of a name void; how many they were."""
    now = datetime.now(UTC).isoformat()
    return conn.execute("UPDATE invitation SET expires_at = ? WHERE account = ? AND used_at IS NULL AND expires_at > ?",
                        (now, name, now)).rowcount


def open_invitations(conn: Connection) -> list[OpenInvitation]:
    """The invitations that may be used, by name."""
    sql = ("SELECT account, scopes, expires_at FROM invitation WHERE used_at IS NULL AND expires_at > ? "
           "ORDER BY account")
    return [OpenInvitation(account=name, scopes=tuple(json.loads(scopes)), expires_at=datetime.fromisoformat(until))
            for name, scopes, until in conn.execute(sql, (datetime.now(UTC).isoformat(),))]


def _make(conn: Connection, name: str, scopes: Iterable[str], valid: timedelta, ends_at: datetime | None,
          *, renews: bool) -> str:
    withdraw(conn, name)
    token, now = "tpi_" + secrets.token_urlsafe(32), datetime.now(UTC)
    conn.execute("INSERT INTO invitation (token_sha256, account, scopes, created_at, expires_at, account_expires_at, "
                 "renews) VALUES (?, ?, ?, ?, ?, ?, ?)",
                 (digest(token), name, json.dumps(list(scopes)), now.isoformat(), (now + valid).isoformat(),
                  ends_at.isoformat() if ends_at else None, int(renews)))
    return token
