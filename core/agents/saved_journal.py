"""A runner's journal in a snapshot: what never changes in segments, what changes as a whole.

Entries and payloads only ever come to a journal, so a snapshot stores those that are new since the one before.
"""

from collections.abc import Sequence

import msgspec

from core.agents.journal import Journal
from core.domain.blob import BlobRef
from core.store.blobs import decompress
from core.store.pieces import PieceStore, PieceWriter

ENTRIES, NAMES = 256, 512
"""Entries, and names of payloads, of one segment."""


class JournalTables(msgspec.Struct, frozen=True):
    """What changes in a journal: its small tables, row by row; the last four of an external agent's line."""

    slot: list[tuple[str, bytes]]
    guidance: list[tuple[str, int, str, str, str, int | None]]
    change: list[tuple[str]]
    control: list[tuple[str, int, str]]
    call: list[tuple[int, int, bytes, bytes | None]]
    terminal: list[tuple[str, int]]
    gateway_line: list[tuple[str, str, bytes, str]] = []
    gateway_item: list[tuple[str, int, bytes, bytes]] = []
    gateway_place: list[tuple[int, bytes]] = []
    gateway_call: list[tuple[str, int]] = []

    def value(self, key: str) -> bytes | None:
        """The bytes of a slot."""
        return next((value for name, value in self.slot if name == key), None)


class JournalPart(msgspec.Struct, frozen=True, kw_only=True):
    """A journal of `entries` entries and `payloads` payloads, as pieces."""

    journal: str
    entries: int
    payloads: int
    entry_segments: tuple[BlobRef, ...]
    name_segments: tuple[BlobRef, ...]
    tables: BlobRef

    @property
    def pieces(self) -> tuple[str, ...]:
        """The pieces that it names itself."""
        return (*self.entry_segments, *self.name_segments, self.tables)


_NOTHING = JournalPart(journal="", entries=0, payloads=0, entry_segments=(), name_segments=(), tables="")
_SEGMENT: msgspec.msgpack.Decoder[list[bytes]] = msgspec.msgpack.Decoder(list[bytes])
_TABLES = msgspec.msgpack.Decoder(JournalTables)


def save_journal(journal: Journal, writer: PieceWriter, before: JournalPart | None = None) -> JournalPart:
    """The journal as it is now; `before` is what the last snapshot of it held. Takes no turn of the loop's."""
    known = before if before is not None and before.journal == journal.id else _NOTHING
    entries = journal.head
    whole = known.entries // ENTRIES
    bodies = journal.entries(whole * ENTRIES + 1, entries, 1 << 62)
    segments = [writer.put(msgspec.msgpack.encode(bodies[at : at + ENTRIES])) for at in range(0, len(bodies), ENTRIES)]
    names, payloads = _save_payloads(journal, writer, known)
    held = known.entry_segments[:whole]
    writer.rely((*held, *known.name_segments[: known.payloads // NAMES]))
    tables = writer.put(msgspec.msgpack.encode(_tables(journal)))
    return JournalPart(journal=journal.id, entries=entries, payloads=payloads, entry_segments=(*held, *segments),
                       name_segments=names, tables=tables)


def _save_payloads(journal: Journal, writer: PieceWriter, before: JournalPart) -> tuple[tuple[str, ...], int]:
    """Names in the order in which they came; a payload's name is its piece's."""
    whole = before.payloads // NAMES
    held = before.name_segments[:whole]
    rows = journal.sql("SELECT rowid, hash FROM blob WHERE rowid > ? ORDER BY rowid", (whole * NAMES,))
    for place, name in rows:
        if place > before.payloads:
            data = journal.compressed(name)
            assert data is not None
            writer.put(decompress(data))
        else:
            writer.rely([name])
    found = [bytes.fromhex(name) for _, name in rows]
    segments = [writer.put(msgspec.msgpack.encode(found[at : at + NAMES])) for at in range(0, len(found), NAMES)]
    return (*held, *segments), whole * NAMES + len(rows)


def _tables(journal: Journal) -> JournalTables:
    def rows(table: str) -> list[tuple[object, ...]]:
        return [tuple(bytes(v) if isinstance(v, memoryview) else v for v in row)
                for row in journal.sql(f"SELECT * FROM {table}")]

    whole = {table: rows(table) for table in JournalTables.__struct_fields__ if table != "slot"}
    return msgspec.convert({"slot": journal.slots(), **whole}, JournalTables)


def read_tables(store: PieceStore, part: JournalPart) -> JournalTables:
    """What changes in a journal, of a snapshot. Raises NotFound."""
    return _TABLES.decode(store.get(part.tables))


def payload_names(store: PieceStore, part: JournalPart) -> list[str]:
    """The payloads of a journal, in their order. Raises NotFound."""
    return [name.hex() for segment in part.name_segments for name in _SEGMENT.decode(store.get(segment))]


def fill_journal(journal: Journal, store: PieceStore, part: JournalPart) -> None:
    """Make an empty journal what one was at a snapshot, with its identity. Raises NotFound."""
    tables = read_tables(store, part)
    with journal.transaction("restore"):
        for segment in part.entry_segments:
            for body in _SEGMENT.decode(store.get(segment)):
                journal.sql("INSERT INTO entry (body) VALUES (?)", (body,))
        for name in payload_names(store, part):
            journal.put_blob(store.get(name))
        journal.replace_slots(tables.slot)
        for table in JournalTables.__struct_fields__:
            if table != "slot":
                put_rows(journal, table, getattr(tables, table))


def put_rows(journal: Journal, table: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Put rows into a table of a journal; inside the caller's transaction."""
    if rows:
        journal.sql_many(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
