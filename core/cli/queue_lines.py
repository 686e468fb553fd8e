"""What `tiphys queue` prints of queues and of their sessions. Fields are only ever added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from core.cli.printed_json import PrintedObject
from core.domain.queue import Holder, QueueItem, ReviewQueue, is_asked_blindly, summed
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
    """Who has a session: how far they are, and whether done; null to who judges it blindly beside them."""

    person: str
    since: datetime
    judged: int | None
    masked: int | None
    unsure: int | None
    done: str | None


class QueueItemLine(PrintedObject, frozen=True, kw_only=True):
    """`queue show`: a session of the queue."""

    session: str
    title: str
    steps: int
    asked: int
    wanted: int
    people: tuple[QueuePerson, ...]
    done: bool


def blind_in(queue: ReviewQueue, items: Sequence[QueueItem], me: str) -> str:
    """The account `me` where it judges blindly in a queue, and is to learn of no progress but its own; else ""."""
    return me if is_asked_blindly(((queue, item) for item in items), me, may_take=False) else ""


def queue_line(queue: ReviewQueue, items: Sequence[QueueItem], rows: Mapping[str, SessionRow],
               only: str = "") -> QueueLine:
    """A queue in one line, of one person's work alone where `only` names them."""
    total, agreed = summed(queue, items, rows, only), None if only else overlap(items)
    return QueueLine(
        queue=queue.queue, name=queue.name, by=queue.by, at=queue.at, asks=queue.work.asks, count=queue.work.count,
        twice=queue.work.twice, rubric=queue.work.rubric, filter=queue.filter, blind=queue.work.blind,
        closed=queue.closed, sessions=total.sessions, done=total.done, judged=total.judged.total,
        masked=total.judged.mask, unsure=total.judged.unsure, asked=total.asked,
        agreement=agreed.value if agreed else None, agreed_on=agreed.steps if agreed else 0)


def item_line(queue: ReviewQueue, item: QueueItem, row: SessionRow, only: str = "") -> QueueItemLine:
    """A session of a queue in one line; others than `only` ("": nobody) show without what they did."""
    mine = item.holder(only)
    return QueueItemLine(session=item.session, title=row.title, steps=row.steps, asked=queue.asked(row),
                         wanted=item.wanted, people=tuple(_person(queue, row, h, only) for h in item.holders),
                         done=item.is_done if not only else mine is not None and bool(mine.done))


def _person(queue: ReviewQueue, row: SessionRow, holder: Holder, only: str) -> QueuePerson:
    if only not in ("", holder.person):
        return QueuePerson(person=holder.person, since=holder.at, judged=None, masked=None, unsure=None, done=None)
    judged = queue.judged(row, f"person:{holder.person}")
    return QueuePerson(person=holder.person, since=holder.at, judged=judged.total, masked=judged.mask,
                       unsure=judged.unsure, done=holder.done)
