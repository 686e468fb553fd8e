"""Review queues: sessions that somebody is to judge, what is asked of each, and who has which. Values and rules."""

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import reduce
from typing import Annotated, Literal

import msgspec

from core.domain.bounds import Count, Few, Id, Moment, Name, Reason, Sequence, Title
from core.domain.errors import Conflict
from core.domain.progress import ANYBODY, Judged, Judgement, Progress
from core.domain.session import FINAL_STATES, SessionRow
from core.domain.session_query import InReview

MOST_IN_QUEUE = 10_000
"""Sessions of one queue."""

AskedSteps = Literal["all", "errors", "some"]
"""Which steps of a session are to be judged: every one, those that failed, or so many as the maker says."""

Asks = Literal["all", "errors", "reports", "some"]
"""The same, and "reports": those that failed, answer or report."""

Done = Literal["", "judged", "person"]
"""Not yet; since all that is asked was judged; since the person said so."""

Percent = Annotated[int, msgspec.Meta(ge=0, le=100)]


class QueueWork(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a queue asks for. `count` is how many steps where `steps` is "some"; `reports`: beside the errors also what
    answers or reports (`StepHead.is_report`); `rubric` says by what to judge; `twice` per cent of the sessions are
    judged by two people; `blind`: nobody sees what the other said before the own word."""

    steps: AskedSteps = "all"
    count: Count = 0
    rubric: Reason = ""
    twice: Percent = 0
    blind: bool = False
    reports: bool = False

    @property
    def asks(self) -> Asks:
        """Which steps, in one word."""
        return "reports" if self.steps == "errors" and self.reports else self.steps


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
        match self.work.asks:
            case "errors":
                return row.errors
            case "reports":
                return row.errors + row.reports
            case "some":
                return min(self.work.count, row.steps)
        return row.steps

    def judged(self, row: SessionRow, person: str) -> Judged:
        """What a person (an author's key; "" anybody) judged of what is asked."""
        progress = row.judged.get(person, Progress())
        match self.work.asks:
            case "errors":
                return progress.errors
            case "reports":
                return progress.errors.plus(progress.reports)
        return progress.steps

    def is_judged(self, row: SessionRow, person: str) -> bool:
        """Whether a person judged all that is asked of a session; of one that is over and of which nothing is asked
        there is nothing left."""
        asked = self.asked(row)
        return self.judged(row, person).total >= asked and (asked > 0 or (row.steps > 0 and row.state in FINAL_STATES))


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


class QueueSum(msgspec.Struct, frozen=True, kw_only=True):
    """A queue in numbers. `judged` of the `asked` steps, each once for everybody who is to judge it; sessions, and how
    many of them are done."""

    judged: Judged
    asked: int
    sessions: int
    done: int


def summed(queue: ReviewQueue, items: Iterable[QueueItem], rows: Mapping[str, SessionRow], only: str = "") -> QueueSum:
    """The sum over a queue's sessions whose rows are known; of one person's alone where `only` names one."""
    shown = [i for i in items if i.wanted and i.session in rows and (not only or i.holder(only))]
    parts = [_within(queue, rows[i.session], h.person) for i in shown for h in i.holders if only in ("", h.person)]
    total = reduce(Judged.plus, parts, Judged())
    asked = sum(queue.asked(rows[i.session]) * (1 if only else i.wanted) for i in shown)
    done = sum(bool(h.done) if only and (h := i.holder(only)) else i.is_done for i in shown)
    return QueueSum(judged=total, asked=asked, sessions=len(shown), done=done)


def _within(queue: ReviewQueue, row: SessionRow, person: str) -> Judged:
    """What a person judged of a session, at most what is asked."""
    judged, asked = queue.judged(row, f"person:{person}"), queue.asked(row)
    mask = min(judged.mask, asked)
    unsure = min(judged.unsure, asked - mask)
    return Judged(mask=mask, unsure=unsure, keep=min(judged.keep, asked - mask - unsure))


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


def in_review(row: SessionRow, found: Iterable[tuple[ReviewQueue, QueueItem]], me: str) -> InReview:
    """What a filter asks of a session and the queues that it is in, as the account `me` sees it."""
    asked = [(queue, item) for queue, item in found if item.wanted and not queue.closed]
    people = tuple(dict.fromkeys(h.person for _, item in asked for h in item.holders))
    return InReview(judged=row.judged.get(ANYBODY, Progress()).steps.total, asked=row.steps,
                    queues=tuple(queue.name for queue, _ in asked), people=people, is_mine=me in people,
                    is_done=bool(asked) and all(item.is_done for _, item in asked))


def is_asked_blindly(found: Iterable[tuple[ReviewQueue, QueueItem]], me: str, *, may_take: bool = True) -> bool:
    """Whether `me` is to see nothing of what others said of a session before the own word: in a blind queue where they
    have it, and (`may_take`) where they may still take it and did not make the queue."""
    return any(queue.work.blind and not queue.closed
               and (item.holder(me) is not None or (may_take and item.free and queue.by != me))
               for queue, item in found)


def next_free(items: Iterable[QueueItem], person: str, readers: dict[str, list[str]]) -> QueueItem | None:
    """The first session in the queue's order that this person may take and does not have."""
    for item in sorted(items, key=lambda i: i.place):
        others = [r for r in readers.get(item.session, ()) if r != person and item.holder(r) is None]
        if item.holder(person) is None and item.free > len(others):
            return item
    return None
