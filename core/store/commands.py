"""Commands that the server has carried out, with the answer each got: a repeat gets the same answer.

Call `known` and `remember` in the same transaction as the command's effect.
"""

from hashlib import blake2b

from core.domain.errors import Conflict
from core.store.sqlite import Connection, scalar


def last_cseq(conn: Connection, client: str) -> int:
    """The number of the client's last command that is held; 0 for an unknown client."""
    return scalar(conn, "SELECT cseq FROM sender WHERE client = ?", client) or 0


def known(conn: Connection, client: str, id: str, cseq: int, body: bytes) -> bytes | None:
    """The stored reply of a command that was carried out, None for the client's next one.

    Raises Conflict: `command_reused` for a known id with another body, `cseq_gap` or `cseq_taken` (both with
    `expect`) for a number that is not the client's next.
    """
    last = last_cseq(conn, client)
    row = conn.execute("SELECT body_hash, reply FROM command WHERE id = ?", (id,)).fetchone()
    if row is not None and row[0] != _hash(body):
        raise Conflict("command_reused", f"Command {id} was sent before with another content.", id=id)
    if row is not None:
        if cseq == last + 1:  # an outbox that was numbered anew sends what another number carried before
            _count(conn, client, cseq)
        return bytes(row[1])
    if cseq != last + 1:
        code = "cseq_gap" if cseq > last else "cseq_taken"
        raise Conflict(code, f"Command {cseq} of client {client} follows {last}.", expect=last + 1)
    return None


def remember(conn: Connection, client: str, id: str, cseq: int, body: bytes, reply: bytes) -> None:
    """Store a command's answer; it is the client's last one now."""
    conn.execute("INSERT INTO command (id, client, cseq, body_hash, reply) VALUES (?, ?, ?, ?, ?)",
                 (id, client, cseq, _hash(body), reply))
    _count(conn, client, cseq)


def _count(conn: Connection, client: str, cseq: int) -> None:
    conn.execute("INSERT INTO sender VALUES (?, ?) ON CONFLICT (client) DO UPDATE SET cseq = excluded.cseq",
                 (client, cseq))


def _hash(body: bytes) -> bytes:
    return blake2b(body, digest_size=32).digest()
