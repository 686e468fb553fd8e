"""Review queues: sessions that somebody is to judge, what is asked of each, and who has which. Values and rules."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Annotated, Literal

import msgspec

from core.domain.bounds import Count, Few, Id, Moment, Name, Reason, Sequence, Title
from core.domain.errors import Conflict
from core.domain.progress import Judged, Judgement, Progress
from core.domain.session import SessionRow

MOST_IN_QUEUE = 10_000
"""Sessions of one queue."""

AskedSteps = Literal["all", "errors", "some"]
"""Which steps of a session are to be judged: every one, those that failed, or so many as the maker says."""

Done = Literal["", "judged", "person"]
"""Not yet; since all that is asked was judged; since the person said so."""

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]


class QueueWork(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a queue asks for. `count` is how many steps where `steps` is "some"; `rubric` says by what to judge; `twice`
    per cent of the sessions are judged by two people; `blind`: nobody sees what the other said before the own word."""

    steps: AskedSteps = "all"
    count: Count = 0
    rubric: Reason = ""
    twice: Percent = 0
    blind: bool = False


class ReviewQueue(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A queue as its server tells it. `filter` is what its sessions were chosen by; `closed`: nothing is to do any
    more."""

    queue: Id
    name: Title
    by: Name
    at: Moment
    work: QueueWork = QueueWork()
    filter: Reason = ""
    closed: bool = False

    def asked(self, row: SessionRow) -> int:
        """How many steps of a session are to be judged by each who has it."""
        match self.work.steps:
            case "errors":
                return row.errors
            case "some":
                return min(self.work.count, row.steps)
        return row.steps

    def judged(self, row: SessionRow, person: str) -> Judged:
        """What a person (an author's key; "" anybody) judged of what is asked."""
        progress = row.judged.get(person, Progress())
        return progress.errors if self.work.steps == "errors" else progress.steps

    def is_judged(self, row: SessionRow, person: str) -> bool:
        """Whether a person judged all that is asked of a session."""
        return self.judged(row, person).total >= self.asked(row) > 0


class Holder(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who has a session of a queue, since when, and whether they are done with it."""

    person: Name
    at: Moment
    done: Done = ""


class SharedJudgement(msgspec.Struct, frozen=True):
    """On so many steps of a session the first of its holders says one thing, the second another or the same."""

    first: Judgement
    second: Judgement
    steps: Count


class QueueItem(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A session in a queue. `place` is its order; `wanted`: so many people are to judge it, 0: it was taken out.

    `both` is what the two holders said of the same steps; of sessions that one person judges it is empty.
    """

    queue: Id
    session: Id
    place: Count = 0
    wanted: Count = 1
    holders: Annotated[tuple[Holder, ...], Few] = ()
    both: Annotated[tuple[SharedJudgement, ...], Few] = ()

    def holder(self, person: str) -> Holder | None:
        """This person's hold on it."""
        return next((h for h in self.holders if h.person == person), None)

    @property
    def free(self) -> int:
        """How many more people may take it."""
        return max(0, self.wanted - len(self.holders))

    @property
    def is_done(self) -> bool:
        """Whether as many as were asked are done with it."""
        return self.wanted > 0 and sum(bool(h.done) for h in self.holders) >= self.wanted


class Reader(msgspec.Struct, frozen=True):
    """Somebody who has a session open just now."""

    session: Id
    person: Name


class QueueState(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Queues and sessions of queues that changed up to `revision`, as the server counts its changes."""

    revision: Sequence = 0
    queues: Annotated[tuple[ReviewQueue, ...], Few] = ()
    items: Annotated[tuple[QueueItem, ...], msgspec.Meta(max_length=MOST_IN_QUEUE)] = ()


def wanted(place: int, twice: int) -> int:
    """How many people are to judge the session at a place, counted from 0, so that `twice` per cent of all, evenly
    spread, are judged by two."""
    return 1 + ((place + 1) * twice // 100 - place * twice // 100)


def taken(item: QueueItem, person: str, at: datetime, readers: Collection[str] = ()) -> QueueItem:
    """With the person as one of its holders; the same where they have it already. `readers` have it open now.

    Raises Conflict: queue_taken (who has it), queue_read (who reads it), queue_without (it was taken out).
    """
    if item.holder(person) is not None:
        return item
    if not item.wanted:
        raise Conflict("queue_without", f"Session {item.session} is not in this queue any more.", session=item.session)
    if not item.free:
        names = ", ".join(h.person for h in item.holders)
        raise Conflict("queue_taken", f"Session {item.session} is with {names} already.", session=item.session,
                       people=names)
    others = [r for r in readers if r != person and item.holder(r) is None]
    if len(others) >= item.free:
        raise Conflict("queue_read", f"{others[0]} is reading session {item.session} just now.", session=item.session,
                       people=others[0])
    return msgspec.structs.replace(item, holders=(*item.holders, Holder(person=person, at=at)), both=())


def given_back(item: QueueItem, person: str) -> QueueItem:
    """Without the person. Raises Conflict (queue_not_held)."""
    if item.holder(person) is None:
        raise Conflict("queue_not_held", f"Session {item.session} is not with {person}.", session=item.session,
                       people=person)
    return msgspec.structs.replace(item, holders=tuple(h for h in item.holders if h.person != person), both=())


def finished(item: QueueItem, person: str, done: Done) -> QueueItem:
    """With this person done with it, or not. Raises Conflict (queue_not_held)."""
    if item.holder(person) is None:
        raise Conflict("queue_not_held", f"Session {item.session} is not with {person}.", session=item.session,
                       people=person)
    holders = tuple(msgspec.structs.replace(h, done=done) if h.person == person else h for h in item.holders)
    return msgspec.structs.replace(item, holders=holders)


def followed(queue: ReviewQueue, item: QueueItem, row: SessionRow) -> QueueItem:
    """After somebody judged: who has judged all that is asked is done, and who took words back is not, unless they
    said so themselves."""
    def state(holder: Holder) -> Done:
        is_judged = queue.is_judged(row, f"person:{holder.person}")
        return "person" if holder.done == "person" else "judged" if is_judged else ""

    holders = tuple(msgspec.structs.replace(h, done=state(h)) for h in item.holders)
    return msgspec.structs.replace(item, holders=holders)


def next_free(items: Iterable[QueueItem], person: str, readers: dict[str, list[str]]) -> QueueItem | None:
    """The first session in the queue's order that this person may take and does not have."""
    for item in sorted(items, key=lambda i: i.place):
        others = [r for r in readers.get(item.session, ()) if r != person and item.holder(r) is None]
        if item.holder(person) is None and item.free > len(others):
            return item
    return None
