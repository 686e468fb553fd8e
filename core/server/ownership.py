"""Who may write a home: the process that holds its lock, by the token of this computer's administrator."""

import asyncio
import getpass
import math
import re
from collections.abc import Callable

from core.domain.errors import Conflict, Unavailable
from core.sandbox.installation import number, number_of
from core.store.accounts import add_account, alike, is_name, knows
from core.store.endpoint import Endpoint, serving
from core.store.home import Home, write_private
from core.store.lock import FileLock, holder
from core.store.sqlite import Connection as Database
from core.store.sqlite import scalar

PATIENCE_S = 15.0
"""How long a command waits for a server that should be running, or for another that writes."""

_SILENT_S, _PAUSE_S = 1.0, 0.05


def hold(home: Home) -> FileLock:
    """The right to write this home's log. Raises Conflict (server_running)."""
    lock = FileLock(home.server_lock)
    if not lock.take():
        sentence = (f"Another server is running on {home.path} already." if serving(home)
                    else f"{_who(home)} writes the log of {home.path}: wait until it is done.")
        raise Conflict("server_running", sentence, home=str(home.path))
    number(home.path, home.server_db.exists())
    return lock


async def hold_or_find(home: Home, patience_s: float = math.inf, on_wait: Callable[[str], None] | None = None
                       ) -> FileLock | Endpoint:
    """The right to write this home's log or, where a server has it, where that listens.

    Another command that writes the log itself is waited for, and so is a server that starts; after a second `on_wait`
    gets one sentence of it. Raises Unavailable (no_endpoint) when that takes more seconds than there is patience for.
    """
    clock = asyncio.get_running_loop()
    began = clock.time()
    while True:
        if (endpoint := serving(home)) is not None:
            return endpoint
        try:
            return hold(home)
        except Conflict:
            waited = clock.time() - began
        if waited >= patience_s:
            raise Unavailable("no_endpoint", f"{_who(home)} writes the log of {home.path}, and is no server that could "
                              "be asked.", home=str(home.path))
        if on_wait is not None and waited >= _SILENT_S:
            on_wait(f"{_who(home)} writes the log of {home.path}: waiting until it is done.")
            on_wait = None
        await asyncio.sleep(_PAUSE_S)


def _who(home: Home) -> str:
    return f"Another program (process {pid})" if (pid := holder(home.server_lock)) else "Another program"


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
    name = _login(conn)
    if scalar(conn, "SELECT 1 FROM account WHERE name = ? AND revoked_at IS NULL", name):
        conn.execute("DELETE FROM account WHERE name = ?", (name,))
    write_private(home.admin_token, add_account(conn, name, ["admin"], token).encode())


def _login(conn: Database) -> str:
    """The name of who is logged in, as far as an account can have it (of `LAB\\li` the last part)."""
    try:
        name = re.split(r"[\\/]", getpass.getuser())[-1]
    except (OSError, KeyError):
        return "admin"
    return name if is_name(name) and alike(conn, name) in (None, name) else "admin"
