"""What people said of a run goes with it when the same run is imported from another format."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from core.domain.blob import blob_hash
from core.domain.events import Event, OpinionFact, StepAdded, decode_event, encode_event
from core.domain.step import StepBody, decode_body
from core.formats.anchors import Anchor, align, anchor
from core.formats.imported import Imported
from core.store import blobs, log
from core.store.sqlite import Connection

MOST = 2000
"""Sessions with annotations of people that are looked through, the newest."""


def same_run_opinions(conn: Connection, session: Imported) -> tuple[list[bytes], str]:
    """The annotations of people that belong to steps of a new session, as its events; and the session they are from."""
    new: list[Anchor] | None = None
    for name, count in _annotated(conn, session.session):
        if not 0.5 <= count / max(1, session.steps) <= 2:
            continue
        if new is None:
            new = [anchor(body) for body in _bodies(session)]
        numbers, old = _steps(conn, name)
        places = align(old, new)
        if places:
            to = {numbers[a]: b + 1 for a, b in places.items()}
            return [encode_event(e) for e in _moved(conn, name, session.session, to)], name
    return [], ""


def _annotated(conn: Connection, but: str) -> Iterator[tuple[str, int]]:
    """Imported sessions of which people said something, with their steps, the newest first."""
    for name in log.with_opinions(conn)[:MOST]:
        row = log.row(conn, name)
        if name != but and row.origin != "live":
            yield name, row.steps


def _bodies(session: Imported) -> Iterator[StepBody]:
    facts = (decode_event(body).fact for body in session.bodies)
    return (decode_body(session.blobs[f.body]) for f in facts if isinstance(f, StepAdded))


def _steps(conn: Connection, session: str) -> tuple[list[int], list[Anchor]]:
    """The numbers of a held session's steps with their anchors, each as it was told last."""
    bodies: dict[int, str] = {}
    for (body,) in conn.execute("SELECT body FROM event WHERE session = ? AND kind = 'step_added' ORDER BY seq",
                                (session,)):
        fact = decode_event(bytes(body)).fact
        if isinstance(fact, StepAdded):
            bodies[fact.head.number] = fact.body
    return list(bodies), [anchor(decode_body(blobs.get(conn, name))) for name in bodies.values()]


def _moved(conn: Connection, old: str, new: str, to: dict[int, int]) -> Iterator[Event]:
    """The same words about the new session's steps, by the same people, at the same time."""
    for event in map(decode_event, log.opinions(conn, old)):
        fact = event.fact
        if isinstance(fact, OpinionFact) and (fact.step == 0 or fact.step in to):
            moved = msgspec.structs.replace(fact, step=to.get(fact.step, 0))
            yield msgspec.structs.replace(event, id=f"{new}-from-{blob_hash(event.id.encode())[:16]}", fact=moved)
