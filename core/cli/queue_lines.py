"""What `tiphys queue` prints of queues and of their sessions. Fields are only ever added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.cli.printed_json import PrintedObject
from core.domain.queue import QueueItem, ReviewQueue, summed
from core.domain.session import SessionRow
from core.supervision.overlap import overlap


class QueueLine(PrintedObject, frozen=True, kw_only=True):
    """`queue list`: one per queue. `agreement` is Cohen's kappa or Krippendorff's alpha on `agreed_on` steps."""

    queue: str
    name: str
    by: str
    at: datetime
    asks: str
    count: int
    twice: int
    rubric: str
    filter: str
    blind: bool
    closed: bool
    sessions: int
    done: int
    judged: int
    masked: int
    unsure: int
    asked: int
    agreement: float | None
    agreed_on: int


class QueuePerson(PrintedObject, frozen=True, kw_only=True):
    """Who has a session: how far they are, and whether done."""

    person: str
    since: datetime
    judged: int
    masked: int
    unsure: int
    done: str


class QueueItemLine(PrintedObject, frozen=True, kw_only=True):
    """`queue show`: a session of the queue."""

    session: str
    title: str
    steps: int
    asked: int
    wanted: int
    people: tuple[QueuePerson, ...]
    done: bool


def queue_line(queue: ReviewQueue, items: Sequence[QueueItem], rows: Mapping[str, SessionRow]) -> QueueLine:
    """A queue in one line."""
    total, agreed = summed(queue, items, rows), overlap(items)
    return QueueLine(
        queue=queue.queue, name=queue.name, by=queue.by, at=queue.at, asks=queue.work.asks, count=queue.work.count,
        twice=queue.work.twice, rubric=queue.work.rubric, filter=queue.filter, blind=queue.work.blind,
        closed=queue.closed, sessions=total.sessions, done=total.done, judged=total.judged.total,
        masked=total.judged.mask, unsure=total.judged.unsure, asked=total.asked,
        agreement=agreed.value if agreed else None, agreed_on=agreed.steps if agreed else 0)


def item_line(queue: ReviewQueue, item: QueueItem, row: SessionRow) -> QueueItemLine:
    """A session of a queue in one line."""
    return QueueItemLine(session=item.session, title=row.title, steps=row.steps, asked=queue.asked(row),
                         wanted=item.wanted, people=tuple(_person(queue, row, h.person, item) for h in item.holders),
                         done=item.is_done)


def _person(queue: ReviewQueue, row: SessionRow, person: str, item: QueueItem) -> QueuePerson:
    judged, holder = queue.judged(row, f"person:{person}"), item.holder(person)
    assert holder is not None
    return QueuePerson(person=person, since=holder.at, judged=judged.total, masked=judged.mask, unsure=judged.unsure,
                       done=holder.done)
