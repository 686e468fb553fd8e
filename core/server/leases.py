"""Who may write a session: its own runner, or the first that came from outside to one that waits for such."""

from __future__ import annotations

from core.domain.errors import Conflict, Denied
from core.protocol.messages import Lease
from core.protocol.scopes import agent_scope
from core.store import log, tombstones
from core.store.accounts import Principal
from core.store.sqlite import Connection


def is_own(principal: Principal, session: str) -> bool:
    """Whether the token was made for this very session, or for all."""
    return principal.allows("admin") or principal.allows(agent_scope(session))


def take_lease(conn: Connection, lease: Lease, principal: Principal) -> tuple[int, int]:
    """Raises NotFound: session_deleted, for which there is no coming back; no_session. Of a runner from outside also
    Denied for a session that waits for none, Conflict (session_taken) where another one's journal is its."""
    tombstones.refuse_deleted(conn, lease.session)
    if not is_own(principal, lease.session):
        if not log.row(conn, lease.session).is_outside:
            raise Denied("missing_scope", f"Session {lease.session} waits for no runner from outside.", scope="run")
        if log.journal(conn, lease.session) not in ("", lease.journal):
            raise Conflict("session_taken", f"Another runner works on session {lease.session}.")
    return log.lease(conn, lease.session, lease.journal)


def no_lease(session: str) -> Denied:
    """The refusal of entries of a session that the connection does not hold."""
    return Denied("missing_scope", f"Take the lease of session {session} before you write it.", scope="run")
