"""A session of a followed file as it was at the last reading: of what the file says now only the end is compared.

A whole comparison (`core.cli.imported_session`, `core.cli.store_imported`) looks at every event of the log and of the
file. Where the file begins as it did, and goes on where it ended, its first events need no second look: they are in the
log, or were found not to be wanted there.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from core.cli.log_access import reading
from core.domain.events import AnnotationFact, Branched, OpinionFact, StepAdded, decode_event
from core.formats import reimport
from core.formats.imported import Imported
from core.formats.reimport import HeldRun
from core.formats.run_alignment import StepSequence, align
from core.formats.spools import shared_pieces
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import Connection


class LastReading(msgspec.Struct):
    """What the file said of a session, what the log holds of it, and up to which event that was looked at."""

    bodies: Sequence[bytes]
    held: HeldRun
    head: int

    def took(self, bodies: Sequence[bytes], added: Sequence[bytes]) -> None:
        """The file says these now, and those were added to the log."""
        self.bodies = bodies
        self.held.add(added)
        self.head += len(added)


def followed(home: Home, session: Imported, bodies: Sequence[bytes]) -> LastReading | None:
    """A session that is in the log as a whole, of which its file says `bodies`; None where another reading need not
    go on with it: its name is that of its content, or others write it."""
    with reading(home) as conn:
        is_ours = log.journal(conn, session.session).startswith(f"import:{session.session}")
        head = log.head(conn, session.session)
    return LastReading(bodies, HeldRun(lambda: _bodies(home, session.session)), head) if (
        session.is_named and is_ours) else None


def _bodies(home: Home, session: str) -> list[bytes]:
    with reading(home) as conn:
        return [one.body for one in log.read_all(conn, session)]


def what_came(conn: Connection, known: LastReading, session: Imported) -> list[bytes] | None:
    """The events that the log lacks of a session which goes on from its last reading; None where it does not, or where
    others said more of it than opinions: then all must be compared."""
    start = _same(known.bodies, session.bodies)
    if not start or _looks_back(session.bodies[start:]) or not _is_ours(conn, known, session):
        return None
    before = StepSequence(known.bodies[start:], lambda name: blobs.get(conn, name))
    how = align(before, StepSequence(session.bodies[start:], session.blobs.__getitem__))
    if how.kind not in ("same", "grows") or how.is_part or (len(before) and not how.shared):
        return None
    return reimport.missing_events(session, known.held, lambda name: blobs.get(conn, name), start=start)


def _looks_back(bodies: Sequence[bytes]) -> bool:
    """Whether events say something of steps that are not among them."""
    facts = [decode_event(body).fact for body in bodies]
    steps = {0, *(fact.head.number for fact in facts if isinstance(fact, StepAdded))}
    return any(isinstance(fact, Branched) or (isinstance(fact, OpinionFact) and fact.step not in steps)
               for fact in facts)


def _is_ours(conn: Connection, known: LastReading, session: Imported) -> bool:
    """Whether nobody else added steps to the log; what people said is taken in."""
    head = log.head(conn, session.session)
    others = [one.body for one in log.read_all(conn, session.session, after=known.head)]
    if head < known.head or not all(isinstance(decode_event(body).fact, AnnotationFact) for body in others):
        return False
    known.held.add(others)
    known.head = head
    return True


def _same(before: Sequence[bytes], now: Sequence[bytes]) -> int:
    """How many of the first events say the same. One whose moment is not in the file has that of its reading."""
    most = min(len(before), len(now))
    start = min(most, shared_pieces(before, now))
    return next((n for n in range(start, most) if (one := before[n]) != (other := now[n])
                 and _timeless(one) != _timeless(other)), most)


def _timeless(body: bytes) -> tuple[bytes, bytes]:
    name, _, rest = body.partition(b'","at":"')
    return name, rest.partition(b'"')[2]
