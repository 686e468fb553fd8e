"""What people said of a run goes with it when the same run is imported from another format."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from core.domain.blob import blob_hash
from core.domain.events import Event, OpinionFact, StepAdded, decode_event, encode_event
from core.domain.step import StepBody, decode_body
from core.formats.anchors import Anchor, align, anchor, says_the_same
from core.formats.imported import Imported
from core.formats.run_alignment import own_content
from core.formats.void_opinions import opinions_in_force
from core.store import blobs, log
from core.store.sqlite import Connection

MOST = 2000
"""Sessions with annotations of people that are looked through, the newest."""


def same_run_opinions(conn: Connection, session: Imported) -> tuple[list[bytes], str]:
    """The annotations of people that belong to steps of a new session, as its events; and the session they are from."""
    new: list[Anchor] = []
    bodies: list[StepBody] = []
    for name, count in _annotated(conn, session.session):
        if not 0.5 <= count / max(1, session.steps) <= 2:
            continue
        if not bodies:
            bodies = list(_bodies(session))
            new = [anchor(body) for body in bodies]
        before = _steps(conn, name)
        old = [anchor(body) for body in before]
        is_same = _is_same_step if log.row(conn, name).origin == session.format else says_the_same
        if places := align(old, new):
            to = {before[a].number: bodies[b].number for a, b in places.items() if is_same(before[a], bodies[b])}
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


def _steps(conn: Connection, session: str) -> list[StepBody]:
    """A held session's steps, each as it was told last."""
    bodies: dict[int, str] = {}
    for (body,) in conn.execute("SELECT body FROM event WHERE session = ? AND kind = 'step_added' ORDER BY seq",
                                (session,)):
        fact = decode_event(bytes(body)).fact
        if isinstance(fact, StepAdded):
            bodies[fact.head.number] = fact.body
    return [decode_body(blobs.get(conn, name)) for name in bodies.values()]


def _is_same_step(one: StepBody, two: StepBody) -> bool:
    return own_content(one) == own_content(two)


def _moved(conn: Connection, old: str, new: str, to: dict[int, int]) -> Iterator[Event]:
    """The same words about the new session's steps, by the same people, at the same time."""
    for event in opinions_in_force(placed.body for placed in log.read_all(conn, old)):
        fact = event.fact
        if isinstance(fact, OpinionFact) and event.author.kind == "person" and (fact.step == 0 or fact.step in to):
            moved = msgspec.structs.replace(fact, step=to.get(fact.step, 0))
            yield msgspec.structs.replace(event, id=f"{new}-from-{blob_hash(event.id.encode())[:16]}", fact=moved)
