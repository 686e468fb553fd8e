"""The client's outbox: a command is a row here before it is a message, and stays one until it is answered.

Numbers (`cseq`) run from 1 without gaps per client identity; the identity lives in the same file.
"""

import secrets
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from core.domain.errors import NotFound
from core.domain.ids import new_id
from core.protocol.codec import check_op, decode_op
from core.protocol.operations import AnyOp
from core.store.sqlite import Connection, scalar

OutboxState = Literal["queued", "acked", "refused"]

_COLUMNS = "SELECT cseq, id, session, op, state, reply, created_at FROM outbox"


class Queued(msgspec.Struct, frozen=True, kw_only=True):
    """One command of this client, with the server's answer (JSON bytes) once there is one."""

    cseq: int
    id: str
    session: str
    op: AnyOp
    state: OutboxState = "queued"
    reply: bytes | None = None
    created_at: datetime


def client_id(conn: Connection) -> str:
    """The durable identity of this outbox."""
    return str(scalar(conn, "SELECT value FROM meta WHERE key = 'client'"))


def add(conn: Connection, session: str, op: AnyOp, id: str = "") -> Queued:
    """Put a command in; the session's draft is cleared in the same transaction by the caller, if it was one.

    Raises InvalidInput (bad_op) for what a server would not take.
    """
    id = id or new_id()
    now = datetime.now(UTC)
    cseq = last(conn) + 1
    conn.execute("INSERT INTO outbox (cseq, id, session, op, created_at) VALUES (?, ?, ?, ?, ?)",
                 (cseq, id, session, check_op(op), now.isoformat()))
    return Queued(cseq=cseq, id=id, session=session, op=op, created_at=now)


def last(conn: Connection) -> int:
    """The number of the newest command; 0 where there is none."""
    return max(0, scalar(conn, "SELECT max(cseq) FROM outbox") or 0)


def pending(conn: Connection, after: int = 0, limit: int = 256) -> list[Queued]:
    """Commands without an answer whose number is above `after`, in order."""
    sql = f"{_COLUMNS} WHERE state = 'queued' AND cseq > ? ORDER BY cseq LIMIT ?"
    return list(_queued(conn, sql, after, limit))


def recent(conn: Connection, session: str | None = None, limit: int = 200) -> list[Queued]:
    """Every unanswered command and the newest answered ones, newest first: of one session, or of all."""
    ours = "(?1 IS NULL OR session = ?1)"
    answered = f"SELECT cseq FROM outbox WHERE {ours} AND state != 'queued' ORDER BY cseq DESC LIMIT ?2"
    sql = f"{_COLUMNS} WHERE {ours} AND (state = 'queued' OR cseq IN ({answered})) ORDER BY cseq DESC"
    return list(_queued(conn, sql, session, limit))


def guides(conn: Connection, limit: int = 2_000) -> list[Queued]:
    """The newest commands that send, edit or withdraw guidance, of all sessions, newest first."""
    kinds = " OR ".join(f"""instr(op, CAST('"op":"{kind}"' AS BLOB))""" for kind in ("guide", "change_guidance"))
    return list(_queued(conn, f"{_COLUMNS} WHERE {kinds} ORDER BY cseq DESC LIMIT ?", limit))


def get(conn: Connection, id: str) -> Queued:
    """One command. Raises NotFound."""
    for queued in _queued(conn, f"{_COLUMNS} WHERE id = ?", id):
        return queued
    raise NotFound("no_command", f"There is no command {id} in the outbox.", id=id)


def answered(conn: Connection, id: str, reply: bytes, refused: bool = False) -> bool:
    """Store the server's answer; False when there was one already, or the command is not ours."""
    sql = "UPDATE outbox SET state = ?, reply = ? WHERE id = ? AND state = 'queued'"
    return conn.execute(sql, ("refused" if refused else "acked", reply, id)).rowcount > 0


def renew(conn: Connection, age: timedelta = timedelta(days=7)) -> str:
    """Take a new client identity and number the outbox anew; returns the identity.

    For a server whose file was restored (another epoch, or a cseq behind or ahead of ours) and for a copied file.
    Unanswered commands and those accepted within `age` are sent again, under their ids, which makes it harmless.
    Refused ones of that time stay, below all numbers, for people to take up their texts.
    """
    since = (datetime.now(UTC) - age).isoformat()
    conn.execute("DELETE FROM outbox WHERE state != 'queued' AND created_at < ?", (since,))
    refused = conn.execute("SELECT cseq FROM outbox WHERE state = 'refused' ORDER BY created_at, cseq").fetchall()
    below = min(0, scalar(conn, "SELECT min(cseq) FROM outbox") or 0) - len(refused)
    for number, (cseq,) in enumerate(refused, below):
        conn.execute("UPDATE outbox SET cseq = ? WHERE cseq = ?", (number, cseq))
    remaining = conn.execute("SELECT cseq FROM outbox WHERE state != 'refused' ORDER BY cseq").fetchall()
    for number, (cseq,) in enumerate(remaining, 1):  # ascending, and never above the old number: no collision
        conn.execute("UPDATE outbox SET cseq = ?, state = 'queued', reply = NULL WHERE cseq = ?", (number, cseq))
    identity = secrets.token_hex(16)
    conn.execute("UPDATE meta SET value = ? WHERE key = 'client'", (identity,))
    conn.execute("INSERT OR REPLACE INTO meta VALUES ('again', ?)", (str(len(remaining)),))
    return identity


def again(conn: Connection) -> int:
    """Commands up to this number were numbered anew by `renew`: they were made for another state of the server."""
    return int(scalar(conn, "SELECT value FROM meta WHERE key = 'again'") or 0)


def save_draft(conn: Connection, session: str, text: str) -> None:
    """Keep what is being written to a session; an empty text clears it."""
    if not text:
        conn.execute("DELETE FROM draft WHERE session = ?", (session,))
        return
    conn.execute("INSERT INTO draft VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET text = ?2, changed_at = ?3",
                 (session, text, datetime.now(UTC).isoformat()))


def draft(conn: Connection, session: str) -> str:
    """What was being written to a session; empty when nothing."""
    return scalar(conn, "SELECT text FROM draft WHERE session = ?", session) or ""


def _queued(conn: Connection, sql: str, *values: object) -> Iterator[Queued]:
    for cseq, id_, session, op, state, reply, created in conn.execute(sql, values):
        yield Queued(cseq=cseq, id=id_, session=session, op=decode_op(op), state=state, reply=reply,
                     created_at=datetime.fromisoformat(created))
