"""Who may write a home: the process that holds its lock, by the token of this computer's administrator."""

from __future__ import annotations

import getpass

from core.domain.errors import Conflict
from core.sandbox.installation import number, number_of
from core.store.accounts import add_account, knows
from core.store.home import Home, write_private
from core.store.lock import FileLock
from core.store.sqlite import Connection as Database
from core.store.sqlite import scalar


def hold(home: Home) -> FileLock:
    """The right to write this home's log. Raises Conflict (server_running)."""
    lock = FileLock(home.server_lock)
    if not lock.take():
        raise Conflict("server_running", f"Another server is running on {home.path} already.", home=str(home.path))
    number(home.path, home.server_db.exists())
    return lock


def own(conn: Database, home: Home) -> None:
    """Make a log this home's: it knows the installation's number, so that a backup brings that back to a lost home, and
    this computer's administrator."""
    conn.execute("INSERT OR REPLACE INTO meta VALUES ('installation', ?)", (number_of(home.path),))
    _ensure_admin(conn, home)


def _ensure_admin(conn: Database, home: Home) -> None:
    """Make the token of this computer's administrator, once; its account is named as the person who is logged in.

    A token that this database never heard of (it was replaced, or the first start was killed) is let in again.
    """
    token = home.admin_token.read_text().strip() if home.admin_token.is_file() else ""
    if token and knows(conn, token):
        return
    name = _login()
    if scalar(conn, "SELECT 1 FROM account WHERE name = ? AND revoked_at IS NULL", name):
        conn.execute("DELETE FROM account WHERE name = ?", (name,))
    write_private(home.admin_token, add_account(conn, name, ["admin"], token).encode())


def _login() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "admin"
