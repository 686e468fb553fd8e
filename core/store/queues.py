"""Review queues in the log's file and in replicas of it: rows that are replaced, each with the number of its change.

Every function that writes expects to be inside a transaction; that one decides who gets a session.
"""

from collections.abc import Sequence

import msgspec

from core.domain.errors import NotFound
from core.domain.queue import QueueItem, QueueState, ReviewQueue, SharedJudgement, followed
from core.domain.session import SessionRow
from core.store import judged
from core.store.sqlite import Connection, scalar

_QUEUE = msgspec.json.Decoder(ReviewQueue)
_ITEM = msgspec.json.Decoder(QueueItem)
_HELD = "queues_held"


def queues(conn: Connection) -> list[ReviewQueue]:
    """Every queue, the oldest first."""
    found = [_QUEUE.decode(row) for (row,) in conn.execute("SELECT row FROM queue")]
    return sorted(found, key=lambda q: (q.at, q.queue))


def queue(conn: Connection, id: str) -> ReviewQueue:
    """One queue. Raises NotFound (no_queue)."""
    row = scalar(conn, "SELECT row FROM queue WHERE id = ?", id)
    if row is None:
        raise NotFound("no_queue", f"There is no queue {id}.", queue=id)
    return _QUEUE.decode(row)


def items(conn: Connection, id: str = "") -> list[QueueItem]:
    """The sessions of a queue (or of all), in its order, those that were taken out too."""
    sql = "SELECT row FROM queue_item WHERE ?1 IN ('', queue)"
    return sorted((_ITEM.decode(row) for (row,) in conn.execute(sql, (id,))), key=lambda i: (i.queue, i.place))


def item(conn: Connection, id: str, session: str) -> QueueItem:
    """A session of a queue. Raises NotFound (not_in_queue)."""
    row = scalar(conn, "SELECT row FROM queue_item WHERE queue = ? AND session = ?", id, session)
    if row is None:
        raise NotFound("not_in_queue", f"Session {session} is not in this queue.", session=session, queue=id)
    return _ITEM.decode(row)


def revision(conn: Connection) -> int:
    """The number of the newest change; 0 where there is no queue."""
    return max(scalar(conn, "SELECT max(revision) FROM queue") or 0,
               scalar(conn, "SELECT max(revision) FROM queue_item") or 0)


def put(conn: Connection, queues: Sequence[ReviewQueue] = (), items: Sequence[QueueItem] = ()) -> None:
    """Store rows, each as a change of its own."""
    last = revision(conn)
    conn.executemany("INSERT OR REPLACE INTO queue VALUES (?, ?, ?)",
                     [(one.queue, _json(one), at) for at, one in enumerate(queues, last + 1)])
    conn.executemany("INSERT OR REPLACE INTO queue_item VALUES (?, ?, ?, ?)",
                     [(one.queue, one.session, _json(one), at) for at, one in enumerate(items, last + 1 + len(queues))])


def changed(conn: Connection, after: int, limit: int) -> QueueState:
    """What changed after a revision, at most so many rows; the newest state of each."""
    sql = """SELECT revision, 0, row FROM queue WHERE revision > ?1
             UNION ALL SELECT revision, 1, row FROM queue_item WHERE revision > ?1 ORDER BY 1 LIMIT ?2"""
    found = conn.execute(sql, (after, limit)).fetchall()
    return QueueState(revision=found[-1][0] if found else after,
                      queues=tuple(_QUEUE.decode(row) for _, is_item, row in found if not is_item),
                      items=tuple(_ITEM.decode(row) for _, is_item, row in found if is_item))


def follow(conn: Connection, row: SessionRow) -> None:
    """People judged something of a session: say in its queues who is done, and how far two agree."""
    found = conn.execute("SELECT row FROM queue_item WHERE session = ?", (row.session,)).fetchall()
    for entry in (_ITEM.decode(text) for (text,) in found):
        if entry.holders:
            now = followed(queue(conn, entry.queue), entry, row)
            now = msgspec.structs.replace(now, both=shared_judgements(conn, now))
            if now != entry:
                put(conn, items=[now])


def shared_judgements(conn: Connection, entry: QueueItem) -> tuple[SharedJudgement, ...]:
    """What the first two holders of a session said of the same steps."""
    if len(entry.holders) < 2:
        return ()
    first, second = (f"person:{holder.person}" for holder in entry.holders[:2])
    return tuple(SharedJudgement(*one) for one in judged.shared_judgements(conn, entry.session, first, second))


def drop_session(conn: Connection, session: str) -> None:
    """A session is deleted: no queue asks for it any more."""
    found = conn.execute("SELECT row FROM queue_item WHERE session = ?", (session,)).fetchall()
    put(conn, items=[msgspec.structs.replace(_ITEM.decode(row), wanted=0, holders=(), both=()) for (row,) in found])


# ---- in a replica


def held(conn: Connection) -> int:
    """Up to which change of the server a replica has its queues."""
    return int(scalar(conn, "SELECT value FROM setting WHERE key = ?", _HELD) or 0)


def copy(conn: Connection, state: QueueState) -> None:
    """Take what a server sent into a replica."""
    put(conn, state.queues, state.items)
    conn.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_HELD, str(state.revision)))


def forget(conn: Connection) -> None:
    """Drop a replica's copies, for they come from another database."""
    conn.execute("DELETE FROM queue_item")
    conn.execute("DELETE FROM queue")
    conn.execute("DELETE FROM setting WHERE key = ?", (_HELD,))


def _json(value: ReviewQueue | QueueItem) -> str:
    return msgspec.json.encode(value).decode()
