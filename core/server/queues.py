"""Carrying out what is asked of review queues: each in one transaction, so that no session is given to two."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from core.domain.errors import Conflict, Denied, InvalidInput, LimitReached, NotFound
from core.domain.ids import is_id
from core.domain.queue import (
    MOST_IN_QUEUE,
    QueueItem,
    ReviewQueue,
    finished,
    followed,
    given_back,
    next_free,
    taken,
    wanted,
)
from core.protocol.messages import Command
from core.protocol.operations import ChangeQueue, FinishInQueue, GiveBack, MakeQueue, QueueOp, TakeFromQueue
from core.server.lookups import Lookups
from core.store import accounts, log, queues
from core.store.accounts import Principal
from core.store.sqlite import Connection

LONGEST_NAME, LONGEST_RUBRIC, MOST_QUEUES = 120, 8_192, 1_000
MOST_OF_ONE = 250
"""Queues that one account makes, but for an administrator's: nobody else takes the room of all."""


def apply(conn: Connection, principal: Principal, command: Command, op: QueueOp, lookups: Lookups) -> dict[str, Any]:
    """The effect of an operation on the queue that the command names, and its result. Raises ReportableError."""
    match op:
        case MakeQueue():
            return _make(conn, principal, command, op)
        case ChangeQueue():
            return _change(conn, principal, queues.queue(conn, command.session), op)
        case TakeFromQueue():
            return _take(conn, principal, queues.queue(conn, command.session), op, lookups)
        case GiveBack():
            return _give_back(conn, principal, queues.queue(conn, command.session), op, command.again)
        case FinishInQueue():
            return _finish(conn, principal, queues.queue(conn, command.session), op)
    raise InvalidInput("bad_op", f"{type(op).__name__} cannot be asked of a queue.")


def _make(conn: Connection, principal: Principal, command: Command, op: MakeQueue) -> dict[str, Any]:
    there = queues.queues(conn)
    known = [q for q in there if q.queue == command.session]
    if known and command.again and known[0].by == principal.name:
        return {"sessions": len(queues.items(conn, command.session))}
    if known:
        raise Conflict("queue_exists", f"There is a queue {command.session} already.", queue=command.session)
    if not is_id(command.session):
        raise InvalidInput("bad_id", f"{command.session[:80]!r} cannot be the id of a queue.")
    if len(there) >= MOST_QUEUES:
        raise LimitReached("too_many_queues", f"A server has at most {MOST_QUEUES} queues.")
    if sum(one.by == principal.name for one in there) >= MOST_OF_ONE and not principal.allows("admin"):
        raise LimitReached("too_many_queues", f"{principal.name} has made {MOST_OF_ONE} queues: one account makes no "
                           "more.")
    if op.work.steps == "some" and not op.work.count:
        raise InvalidInput("bad_queue", "A queue that asks for some steps says how many.")
    if op.work.reports and op.work.steps != "errors":
        raise InvalidInput("bad_queue", "A queue asks for answers and reports beside the steps that failed.")
    if len(op.work.rubric) > LONGEST_RUBRIC:
        raise InvalidInput("bad_queue", f"A rubric has at most {LONGEST_RUBRIC} characters.")
    made = ReviewQueue(queue=command.session, name=_name(op.name), by=principal.name, at=datetime.now(UTC),
                       work=op.work, filter=op.filter[:LONGEST_RUBRIC])
    sessions = _known(conn, op.sessions)
    if not sessions:
        raise InvalidInput("empty_queue", "A queue needs at least one session that the server has.")
    queues.put(conn, [made], [_entry(made, place, one) for place, one in enumerate(sessions)])
    return {"sessions": len(sessions)}


def _change(conn: Connection, principal: Principal, queue: ReviewQueue, op: ChangeQueue) -> dict[str, Any]:
    _require_maker(principal, queue)
    changes = {"name": None if op.name is None else _name(op.name), "closed": op.closed}
    now = msgspec.structs.replace(queue, **{k: v for k, v in changes.items() if v is not None})
    held = {item.session: item for item in queues.items(conn, queue.queue)}
    after = max((item.place for item in held.values()), default=-1) + 1
    fresh = [one for one in _known(conn, op.add) if one not in held or not held[one].wanted]
    if len(held) + len(fresh) > MOST_IN_QUEUE:
        raise LimitReached("queue_too_long", f"A queue has at most {MOST_IN_QUEUE} sessions.")
    gone = [msgspec.structs.replace(held[one], wanted=0, holders=(), both=()) for one in op.remove if one in held]
    queues.put(conn, [now] if now != queue else [],
               [*gone, *(_entry(now, place, one) for place, one in enumerate(fresh, after))])
    return {"added": len(fresh), "removed": len(gone)}


def _take(conn: Connection, principal: Principal, queue: ReviewQueue, op: TakeFromQueue, lookups: Lookups
          ) -> dict[str, Any]:
    person = _person(conn, principal, queue, op.person)
    if queue.closed:
        raise Conflict("queue_closed", f"The queue “{queue.name}” is closed.", queue=queue.queue)
    readers = lookups.readers()
    if op.taken:
        item = queues.item(conn, queue.queue, op.taken)
    else:
        found = next_free(queues.items(conn, queue.queue), person, readers)
        if found is None:
            raise Conflict("queue_empty", f"No session of “{queue.name}” is left to take.", queue=queue.queue)
        item = found
    now = taken(item, person, datetime.now(UTC), readers.get(item.session, ()))
    if now != item:
        _put(conn, queue, now)
    return {"taken": item.session}


def _give_back(conn: Connection, principal: Principal, queue: ReviewQueue, op: GiveBack, again: bool) -> dict[str, Any]:
    person, item = _person(conn, principal, queue, op.person, must_be_known=False), queues.item(
        conn, queue.queue, op.given)
    if not (again and item.holder(person) is None):  # a restored log may know of no hold
        _put(conn, queue, given_back(item, person))
    return {}


def _finish(conn: Connection, principal: Principal, queue: ReviewQueue, op: FinishInQueue) -> dict[str, Any]:
    item = queues.item(conn, queue.queue, op.finished)
    _put(conn, queue, finished(item, principal.name, "person" if op.done else ""))
    return {}


def _put(conn: Connection, queue: ReviewQueue, item: QueueItem) -> None:
    """Store a session of a queue; who has judged all of it before has it done at once."""
    now = followed(queue, item, log.row(conn, item.session)) if log.knows(conn, item.session) else item
    queues.put(conn, items=[msgspec.structs.replace(now, both=queues.shared_judgements(conn, now))])


def _entry(queue: ReviewQueue, place: int, session: str) -> QueueItem:
    return QueueItem(queue=queue.queue, session=session, place=place, wanted=wanted(place, queue.work.twice))


def _known(conn: Connection, sessions: Sequence[str]) -> list[str]:
    """Those that the server has, each once."""
    return [one for one in dict.fromkeys(sessions) if log.knows(conn, one)]


def _person(conn: Connection, principal: Principal, queue: ReviewQueue, named: str, *, must_be_known: bool = True
            ) -> str:
    """Who is to have a session: the sender, or whom the queue's maker names. Raises Denied, NotFound."""
    if not named or named == principal.name:
        return principal.name
    _require_maker(principal, queue)
    if must_be_known and not accounts.is_alive(conn, named):
        raise NotFound("no_account", f"There is no account {named}.", name=named)
    return named


def _require_maker(principal: Principal, queue: ReviewQueue) -> None:
    if principal.name != queue.by and not principal.allows("admin"):
        raise Denied("not_your_queue", f"Only {queue.by}, who made “{queue.name}”, or an administrator may do this.",
                     queue=queue.queue, by=queue.by)


def _name(text: str) -> str:
    name = " ".join(text.split())
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InvalidInput("bad_queue", f"A queue's name has 1 to {LONGEST_NAME} printable characters.")
    return name


def readers_of(reading: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Who has which session open, of pairs of session and person."""
    found: dict[str, list[str]] = {}
    for session, person in reading:
        if session and person not in found.setdefault(session, []):
            found[session].append(person)
    return found
