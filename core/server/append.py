"""Taking a runner's journal entries into the log: fenced, gapless, with every payload that they name. A session is
written by its own runner, or by the first that came from outside to one that waits for such."""

import re
from collections.abc import Container, Iterable, Sequence

from core.domain import events as e
from core.domain.errors import Conflict, Denied, InvalidInput
from core.domain.session import FINAL_STATES
from core.protocol.codec import check_event
from core.protocol.messages import Append, Lease
from core.protocol.scopes import agent_scope
from core.server.guidance import decide_open_changes
from core.store import blobs, log, tombstones, unnamed_blobs
from core.store.accounts import Principal
from core.store.attribution import attribute
from core.store.sqlite import Connection

COMMANDED = (e.SessionCreated, e.Branched, e.SessionContinued,
             e.GuidanceQueued, e.GuidanceChangeAsked, e.ControlAsked, e.VerdictGiven,
             e.TakeoverAsked, e.ActionAsked, e.HandBackAsked)
"""Facts that only a command makes: a runner that was taken over cannot speak for a person."""

_HASH = re.compile(rb'(?<=")[0-9a-f]{64}(?=")')


class MissingPayloads(Exception):
    """Entries name payloads that are not held."""

    def __init__(self, hashes: tuple[str, ...]) -> None:
        super().__init__(f"{len(hashes)} payloads are missing")
        self.hashes = hashes


def append_entries(conn: Connection, append: Append, *, by_agent: bool, account: str = "",
                   events: Sequence[e.Event] = (), stored: Container[str] = ()) -> int:
    """Append; returns the last entry that is held. Raises MissingPayloads, Conflict, NotFound, InvalidInput.

    An agent may write only as an agent (`by_agent`): verdicts and guidance of persons are commands. `account` is
    whose token the entries came with. `events` are the entries decoded, where the caller has them, `stored`
    the payloads that it has just stored.
    """
    bodies = [bytes(b) for b in append.bodies]
    named: list[str] = []
    perhaps_named: list[str] = []  # by facts of a newer version, which nobody here can read
    is_over = False
    events = events or decoded(bodies)
    for event in events:
        if by_agent and event.author.kind != "agent":
            raise InvalidInput("bad_author", f"A runner cannot write as {event.author.kind} {event.author.name!r}.")
        if by_agent and isinstance(event.fact, COMMANDED):
            kind = type(event.fact).__name__
            raise InvalidInput("bad_author", f"A runner cannot write {kind}: that takes a person's command.")
        named += e.blobs_of(event.fact)
        if isinstance(event.fact, e.UnknownFact):
            perhaps_named += [name.decode() for name in _HASH.findall(event.fact.raw)]
        is_over = is_over or (isinstance(event.fact, e.SessionStateChanged) and event.fact.state in FINAL_STATES)
    missing = blobs.missing(conn, (name for name in named if name not in stored))
    if missing:
        raise MissingPayloads(tuple(missing))
    before = log.head(conn, append.session)
    upto = log.append_journal(conn, append.session, append.fence, append.first, bodies, events)
    if account:
        attribute(conn, append.session, before + 1, log.head(conn, append.session), account)
    unnamed_blobs.named(conn, [*named, *perhaps_named])
    if is_over:
        decide_open_changes(conn, append.session)
    return upto


def decoded(bodies: Iterable[bytes]) -> list[e.Event]:
    """The events of bodies that came. Raises InvalidInput."""
    return [e.decode_event(check_event(body)) for body in bodies]


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
