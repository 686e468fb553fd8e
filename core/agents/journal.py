"""The runner's journal: one SQLite file per session, the authority for what the agent did and was told.

Entries are event bodies, numbered from 1 without gaps, to be sent to the server in that order. What the
runner must know after a crash (slots, calls, guidance, controls) changes in the same transaction as the
entries that tell of it, so that there is never one without the other. All methods are synchronous; the
journal belongs to one event loop. Every commit is durable when it returns (`synchronous=FULL`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from core.agents.schema import migrations
from core.domain.blob import blob_hash
from core.domain.context import MessageRef
from core.domain.errors import Conflict, NotFound
from core.domain.events import Fact, TerminalOutput, blobs_of, decode_event, encode_event, make_event
from core.domain.ids import new_id
from core.domain.message import Message, decode_message, encode_message
from core.domain.verdict import Author
from core.logs import Redactor
from core.protocol.codec import check_event
from core.store.blobs import compress, decompress
from core.store.schema import open_in_memory, open_migrated

Boundary = Callable[[str, str], None]
"""Told (name, "before" | "after") at every commit; tests raise there to die at that very moment."""

T = TypeVar("T")
_JOINED = nullcontext()
_UNKNOWN = b""
"""No slot's value is empty bytes."""
_REMEMBERED = 20_000
"""Payloads whose names are held in memory."""
_PAGE = 4096
"""Bytes of a page: a step writes a little in many places, and each page that it touches goes to the disk whole."""


class Journal:
    """One session's journal; made when it does not exist."""

    def __init__(self, path: Path | None, session: str, boundary: Boundary | None = None) -> None:
        """None instead of a path: it is in memory, and ends with this process.

        Raises ProtocolMismatch for a journal of a newer version, Conflict for one of another session.
        """
        self.session = session
        self.author = Author(kind="agent", name=session)
        self.on_entries: list[Callable[[], None]] = []
        self.on_undone: list[Callable[[], None]] = []
        """Told when a transaction failed: what is held in memory of it counts no more."""
        self.others: dict[str, Journal] = {}
        """The journals of other sessions that the same runner holds open, by the names of their files."""
        self._boundary = boundary
        self._redactor = Redactor()
        self._tails: dict[str, tuple[int, bytes]] = {}
        self._held: set[str] = set()
        """Payloads that are known to be held: they never go, so none of them is asked for again."""
        self._slots: dict[str, bytes | None] = {}
        """What slots hold, of those that were asked for: nobody else writes them."""
        self._read: dict[str, tuple[bytes, object, Any]] = {}
        """Values as they were read last, with their bytes and kinds: the same bytes are not read twice."""
        self._changed: set[str] = set()
        """Slots that the open transaction writes before it ends, each once."""
        self._depth = 0
        self._grew = False
        self._db = open_migrated(path, migrations, page=_PAGE) if path is not None else open_in_memory(migrations)
        self._cursor = self._db.cursor()
        """The one of all statements: what a statement gives is read before the next one."""
        with self.transaction("open"):
            if self.slot("journal", str) is None:
                self.put_slot("journal", new_id())
                self.put_slot("session", session)
        if self.slot("session", str) != session:
            self.close()
            raise Conflict("other_journal", f"{path} is not the journal of session {session}.")

    def beside(self, path: Path, session: str) -> Journal:
        """The journal of another session that the same runner writes; what is hidden here is hidden there."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = Journal(path, session)
        made._redactor = self._redactor
        self.others[path.name] = made
        return made

    @property
    def id(self) -> str:
        """The journal's durable identity, made with the file."""
        return self.slot("journal", str) or ""

    def close(self) -> None:
        """Let go of the file."""
        self._db.close()

    def hide(self, secret: str) -> None:
        """Write stars instead of this text, in any common spelling, whoever prints it (a tool that shows a key)."""
        self._redactor.add(secret)

    def clean(self, data: bytes) -> bytes:
        """The bytes with stars, as many, for every secret: nothing else is written into this file."""
        return self._redactor.star_out(data)

    def clean_text(self, text: str) -> str:
        """The text with stars for every secret."""
        return self.clean(text.encode("utf-8", "replace")).decode("utf-8", "replace")

    def _clean_stream(self, fact: TerminalOutput) -> TerminalOutput:
        """The piece of a stream without secrets, also without the rest of one that began in the piece before."""
        key = f"{fact.host}/{fact.terminal}"
        end, tail = self._tails.get(key, (0, b""))
        tail = tail if end == fact.offset else b""
        raw = self.blob(fact.blob) if fact.blob else fact.data
        self._tails[key] = fact.offset + fact.size, (tail + raw)[-self._redactor.longest_bytes :]
        data = self.clean(tail + raw)[len(tail) :]
        if data == raw and fact.blob:
            return fact
        return msgspec.structs.replace(fact, **({"blob": self.put_blob(data)} if fact.blob else {"data": data}))

    # ---- transactions

    def transaction(self, name: str) -> AbstractContextManager[None]:
        """All or nothing; one inside another joins it. `name` is told to the boundary hook."""
        return _JOINED if self._depth else self._outermost(name)

    @contextmanager
    def _outermost(self, name: str) -> Iterator[None]:
        self._cursor.execute("BEGIN IMMEDIATE")
        self._depth, self._grew = 1, False
        try:
            yield
            self._write_slots()
            self._at(name, "before")
            self._cursor.execute("COMMIT")
        except BaseException:
            self._held.clear()
            self._slots.clear()
            self._changed.clear()
            for tell in self.on_undone:
                tell()
            if self._db.in_transaction:
                self._cursor.execute("ROLLBACK")
            raise
        finally:
            self._depth = 0
        self._at(name, "after")
        if self._grew:
            for tell in self.on_entries:
                tell()

    def _at(self, name: str, when: str) -> None:
        if self._boundary is not None:
            self._boundary(name, when)

    def sql(self, statement: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement of the delivery and step modules; rows as tuples."""
        return [tuple(row) for row in self._cursor.execute(statement, parameters).fetchall()]

    def sql_many(self, statement: str, rows: Iterable[Sequence[object]]) -> None:
        """Run one statement of the delivery and step modules for many rows."""
        self._cursor.executemany(statement, rows)

    # ---- slots: small typed values that are always known

    def slot(self, key: str, kind: type[T]) -> T | None:
        """The value of a slot, which nobody may change, or None."""
        if key not in self._slots:
            rows = self.sql("SELECT value FROM slot WHERE key = ?", (key,))
            self._slots[key] = bytes(rows[0][0]) if rows else None
        held = self._slots[key]
        if held is None:
            return None
        known = self._read.get(key)
        if known is None or known[0] is not held or known[1] != kind:
            known = self._read[key] = held, kind, msgspec.json.decode(held, type=kind)
        value: T = known[2]
        return value

    def put_slot(self, key: str, value: object) -> None:
        """Set a slot; None empties it."""
        data = None if value is None else self.clean(msgspec.json.encode(value))
        with self.transaction(f"slot {key}"):
            if self._slots.get(key, _UNKNOWN) != data:
                self._slots[key] = data
                self._changed.add(key)

    def slots(self) -> list[tuple[str, bytes]]:
        """All slots with their values as they are written."""
        self._write_slots()
        return [(key, bytes(value)) for key, value in self.sql("SELECT key, value FROM slot")]

    def replace_slots(self, slots: Sequence[tuple[object, ...]]) -> None:
        """Have these slots, as `slots` gave them, and no other; inside the caller's transaction."""
        self._slots.clear()
        self._changed.clear()
        self.sql("DELETE FROM slot")
        self.sql_many("INSERT INTO slot VALUES (?, ?)", slots)

    def _write_slots(self) -> None:
        rows = [(key, self._slots[key]) for key in sorted(self._changed)]
        if filled := [row for row in rows if row[1] is not None]:
            self.sql_many("INSERT OR REPLACE INTO slot VALUES (?, ?)", filled)
        if emptied := [(key,) for key, held in rows if held is None]:
            self.sql_many("DELETE FROM slot WHERE key = ?", emptied)
        self._changed.clear()

    # ---- entries: the events to send

    def add(self, fact: Fact) -> int:
        """Write an event; gives its number. Its blobs must be held already.

        Raises InvalidInput (event_too_large) for one that could never be sent: it would hold up all that follow.
        """
        with self.transaction(str(fact.__struct_config__.tag)):
            if isinstance(fact, TerminalOutput):
                fact = self._clean_stream(fact)
            body = check_event(self.clean(encode_event(make_event(fact, self.author))))
            for name in blobs_of(fact):
                self._require(name)
            n = int(self._cursor.execute("INSERT INTO entry (body) VALUES (?)", (body,)).lastrowid or 0)
            if isinstance(fact, TerminalOutput):
                self.sql("INSERT OR REPLACE INTO terminal VALUES (?, ?)",
                         (f"{fact.host}/{fact.terminal}", fact.offset + fact.size))
            self._grew = True
        return n

    @property
    def head(self) -> int:
        """The number of the newest entry; 0 when there is none."""
        return int(self.sql("SELECT coalesce(max(n), 0) FROM entry")[0][0])

    def entries(self, first: int, limit: int, max_bytes: int) -> list[bytes]:
        """Bodies of entries first, first+1, …: at most `limit` and about `max_bytes`, but always one."""
        bodies: list[bytes] = []
        size = 0
        for (body,) in self.sql("SELECT body FROM entry WHERE n >= ? ORDER BY n LIMIT ?", (first, limit)):
            size += len(body)
            if bodies and size > max_bytes:
                break
            bodies.append(body)
        return bodies

    def facts(self) -> list[Fact]:
        """Everything that the journal tells, in order."""
        return [decode_event(body).fact for (body,) in self.sql("SELECT body FROM entry ORDER BY n")]

    def terminals(self) -> dict[str, int]:
        """How far each terminal's stream is journalled, in bytes, by "host/terminal"."""
        return {key: int(length) for key, length in self.sql("SELECT key, length FROM terminal")}

    # ---- blobs

    def put_blob(self, data: bytes) -> str:
        """Hold a payload, compressed; gives its content address."""
        data = self.clean(data)
        name = blob_hash(data)
        if name not in self._held:
            with self.transaction("blob"):
                self._cursor.execute("INSERT OR IGNORE INTO blob (hash, size, data) VALUES (?, ?, ?)",
                                 (name, len(data), compress(data)))
                self._remember(name)
        return name

    def _remember(self, name: str) -> None:
        if len(self._held) > _REMEMBERED:
            self._held.clear()
        self._held.add(name)

    def compressed(self, name: str) -> bytes | None:
        """A payload as it travels, or None."""
        rows = self.sql("SELECT data FROM blob WHERE hash = ?", (name,))
        return bytes(rows[0][0]) if rows else None

    def blob(self, name: str) -> bytes:
        """A payload. Raises NotFound."""
        data = self.compressed(name)
        if data is None:
            raise NotFound("no_blob", f"The journal does not hold {name[:12]}.", hash=name)
        return decompress(data)

    def unsent(self, names: Sequence[str]) -> list[str]:
        """Those payloads that the server is not known to hold, each once."""
        return [n for n in dict.fromkeys(names) if self.sql("SELECT 1 FROM blob WHERE hash = ? AND NOT sent", (n,))]

    def mark_sent(self, names: Sequence[str]) -> None:
        """The server holds these payloads (it took an event that needs them)."""
        with self.transaction("blobs sent"):
            for name in names:
                self.sql("UPDATE blob SET sent = 1 WHERE hash = ? AND NOT sent", (name,))

    def mark_unsent(self) -> None:
        """The server's database was replaced: it may hold no payload at all."""
        with self.transaction("blobs unsent"):
            self.sql("UPDATE blob SET sent = 0")

    def _require(self, name: str) -> None:
        if name in self._held:
            return
        if not self.sql("SELECT 1 FROM blob WHERE hash = ?", (name,)):
            raise NotFound("no_blob", f"An event refers to {name[:12]}, which the journal does not hold.", hash=name)
        self._remember(name)

    # ---- messages of contexts

    def put_message(self, message: Message, source: str, tokens: int, estimated: bool) -> MessageRef:
        """Hold a message; gives the reference by which contexts name it."""
        name = self.put_blob(encode_message(message))
        return MessageRef(hash=name, role=message.role, tokens=tokens, estimated=estimated, source=source)

    def message(self, ref: MessageRef) -> Message:
        """The message of a reference. Raises NotFound."""
        return decode_message(self.blob(ref.hash))
