"""Accounts of people whom the lab's own log-in (OpenID Connect) vouches for.

An account belongs to a subject of an issuer, never to a name: names are given to others, and people may change theirs.
"""

import json
from datetime import UTC, datetime, timedelta

import msgspec

from core.domain.errors import Conflict, Denied
from core.store import accounts
from core.store.accounts import Principal, checked_scopes, checked_token, digest
from core.store.sqlite import Connection

REMEMBERED = timedelta(days=2)
"""For so long after its end a log-in is remembered, so that its ID token, which is over by then, opens nothing."""


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who an ID token is about: issuer and subject, the name that is wanted here, and what the person may do."""

    subject: str
    name: str
    scopes: tuple[str, ...]


def log_in(conn: Connection, who: Identity, id_token: str, token: str, until: datetime) -> Principal:
    """Let a token speak for a person from now on; an account is made where there is none; the scopes are those of now.

    A repeat with the same tokens is answered the same. Raises Denied: login_used where the ID token opened something
    before, login_revoked, login_name_taken; InvalidInput for a token that is too weak or a name that is none.
    """
    checked_token(token)
    used = conn.execute("SELECT token_sha256 FROM login WHERE id_token_sha256 = ?", (digest(id_token),)).fetchone()
    if used is not None and used[0] == digest(token):
        return accounts.principal(conn, token)
    if used is not None:
        raise Denied("login_used", "This log-in was used already. If that was not you, tell your administrator.")
    name = _account_of(conn, who)
    conn.execute("UPDATE account SET scopes = ? WHERE name = ?", (json.dumps(checked_scopes(who.scopes)), name))
    conn.execute("DELETE FROM login WHERE expires_at < ?", ((datetime.now(UTC) - REMEMBERED).isoformat(),))
    conn.execute("INSERT INTO login (token_sha256, account, id_token_sha256, expires_at) VALUES (?, ?, ?, ?)",
                 (digest(token), name, digest(id_token), until.astimezone(UTC).isoformat()))
    return accounts.principal(conn, token)


def link(conn: Connection, name: str, subject: str) -> None:
    """Say whose an account is at the lab's log-in. Raises NotFound, Conflict (subject_taken, account_revoked)."""
    if conn.execute("SELECT 1 FROM account WHERE subject = ? AND name != ?", (subject, name)).fetchone():
        raise Conflict("subject_taken", f"{subject} has another account.", subject=subject)
    sql = "UPDATE account SET subject = ? WHERE name = ? AND revoked_at IS NULL"
    if not conn.execute(sql, (subject, name)).rowcount:
        raise accounts.not_there(conn, name)


def _account_of(conn: Connection, who: Identity) -> str:
    row = conn.execute("SELECT name, revoked_at FROM account WHERE subject = ?", (who.subject,)).fetchone()
    if row is not None and row[1] is not None:
        raise Denied("login_revoked", f"The account {row[0]} was revoked. Ask your administrator.", name=row[0])
    if row is not None:
        return str(row[0])
    taken = accounts.alike(conn, who.name)
    if taken is not None:
        raise Denied("login_name_taken", f"There is an account {taken} that does not belong to this log-in. The "
                     f"administrator can link it: tiphys account link {taken!r} {who.subject!r}",
                     name=taken, subject=who.subject)
    accounts.add_account(conn, who.name, who.scopes)
    conn.execute("UPDATE account SET subject = ? WHERE name = ?", (who.subject, who.name))
    return who.name
