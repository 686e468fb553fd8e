"""The snapshots that rest on this computer: what each holds, which go after a while, and what is then removed."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec

from core.agents.saved_files import Seen
from core.agents.saved_journal import JournalPart, payload_names
from core.agents.saved_trees import SavedHost, pieces_of
from core.domain.blob import BlobRef
from core.domain.errors import NotFound
from core.domain.events import NotSaved
from core.domain.task import SnapshotRules
from core.store.blobs import compress, decompress
from core.store.pieces import PieceStore, PieceWriter
from core.store.sqlite import Connection, scalar, transaction

FOLDER = "snapshots"
"""Of a home: where they rest."""

YOUNG = timedelta(hours=1)
"""Nothing younger is pruned: a branch that was just asked for may wait for it."""


class SavedTerminal(msgspec.Struct, frozen=True, kw_only=True):
    """A terminal: where its shell stood (below `folder`, where that is one of the saved), how long its stream was, and
    the end of its text."""

    host: str
    name: str
    folder: str = ""
    cwd: str = ""
    length: int = 0
    text: BlobRef = ""


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """All of a session after a step. `bytes` its files hold, `added` this one takes on the disk beyond earlier ones.
    `subagents` are the journals of those that its agent called, by the names of their files."""

    id: str
    session: str
    step: int
    cause: str
    at: datetime
    hosts: dict[str, SavedHost]
    terminals: tuple[SavedTerminal, ...]
    journal: JournalPart
    subagents: dict[str, JournalPart] = {}
    not_saved: tuple[NotSaved, ...] = ()
    bytes: int = 0
    added: int = 0
    seconds: float = 0.0

    @property
    def journals(self) -> tuple[JournalPart, ...]:
        """Its own journal and its subagents'."""
        return (self.journal, *self.subagents.values())


_SNAPSHOT = msgspec.json.Decoder(Snapshot)
_SEEN: msgspec.json.Decoder[Seen] = msgspec.json.Decoder(Seen)


class SnapshotStore:
    """The snapshots below a home. Blocking; several processes may use it."""

    def __init__(self, home: Path) -> None:
        self.pieces = PieceStore(home / FOLDER)

    def close(self) -> None:
        """Let go of the files."""
        self.pieces.close()

    def of(self, session: str) -> list[Snapshot]:
        """The snapshots of a session, oldest first."""
        sql = "SELECT content FROM snapshot WHERE session = ? ORDER BY step, at"
        return [self._read(bytes(c)) for (c,) in self.pieces.conn.execute(sql, (session,))]

    def get(self, id: str) -> Snapshot:
        """A snapshot. Raises NotFound (no_snapshot)."""
        row = self.pieces.conn.execute("SELECT content FROM snapshot WHERE id = ?", (id,)).fetchone()
        if row is None:
            raise NotFound("no_snapshot", f"There is no snapshot {id[:80]} on this computer.", snapshot=id[:80])
        return self._read(bytes(row[0]))

    def last(self, session: str, step: int | None = None) -> Snapshot:
        """The newest snapshot of a session, at a step or before it. Raises NotFound (no_snapshot)."""
        sql = "SELECT content FROM snapshot WHERE session = ? AND step <= ? ORDER BY step DESC, at DESC LIMIT 1"
        row = self.pieces.conn.execute(sql, (session, 2**31 if step is None else step)).fetchone()
        if row is None:
            where = "" if step is None else f" at step {step} or before it"
            raise NotFound("no_snapshot", f"Session {session} has no snapshot{where} on this computer.",
                           session=session)
        return self._read(bytes(row[0]))

    def commit(self, writer: PieceWriter, snapshot: Snapshot, seen: dict[str, Seen]) -> Snapshot:
        """Make a snapshot count; gives it with what it added. Raises Conflict (piece_gone)."""
        names = dict.fromkeys(tree for host in snapshot.hosts.values() for tree in host.trees.values())
        writer.rely((*names, *(piece for one in snapshot.journals for piece in one.pieces)))
        snapshot = msgspec.structs.replace(snapshot, added=writer.added)
        content = writer.put(msgspec.json.encode(snapshot))
        row = (snapshot.id, snapshot.session, snapshot.step, snapshot.cause, snapshot.at.isoformat(),
               bytes.fromhex(content))
        looks = [(snapshot.session, host, compress(msgspec.json.encode(one))) for host, one in seen.items()]

        def work(conn: Connection) -> None:
            conn.execute("INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?)", row)
            conn.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", looks)

        writer.commit(work)
        return snapshot

    def seen(self, session: str, host: str) -> Seen:
        """What the files of a host looked like when they were stored last."""
        data = scalar(self.pieces.conn, "SELECT data FROM seen WHERE session = ? AND host = ?", session, host)
        return _SEEN.decode(decompress(bytes(data), 1 << 30)) if data else {}

    def prune(self, session: str, rules: SnapshotRules) -> int:
        """Remove what the rules no longer keep of a session's snapshots; gives how many."""
        found = self.of(session)
        stay = staying(found, rules, datetime.now(UTC))
        return self._remove([one.id for one in found if one.id not in stay])

    def forget(self, session: str) -> int:
        """Remove all snapshots of a session; gives how many."""
        with transaction(self.pieces.conn) as conn:
            conn.execute("DELETE FROM seen WHERE session = ?", (session,))
        return self._remove([one.id for one in self.of(session)])

    def _remove(self, ids: Sequence[str]) -> int:
        if ids:
            with transaction(self.pieces.conn) as conn:
                conn.executemany("DELETE FROM snapshot WHERE id = ?", [(id,) for id in ids])
            self.pieces.sweep(self._live)
        return len(ids)

    def _live(self) -> set[bytes]:
        """The pieces that are needed: those of the snapshots that are left."""
        live: set[bytes] = set()
        for (content,) in self.pieces.conn.execute("SELECT content FROM snapshot").fetchall():
            live.add(bytes(content))
            snapshot = self._read(bytes(content))
            for host in snapshot.hosts.values():
                for tree in host.trees.values():
                    pieces_of(self.pieces, tree, live)
            for one in snapshot.journals:
                live.update(bytes.fromhex(name) for name in (*one.pieces, *payload_names(self.pieces, one)))
            live.update(bytes.fromhex(terminal.text) for terminal in snapshot.terminals if terminal.text)
        return live

    def _read(self, content: bytes) -> Snapshot:
        return _SNAPSHOT.decode(self.pieces.get(content.hex()))


def staying(snapshots: Sequence[Snapshot], rules: SnapshotRules, now: datetime) -> set[str]:
    """Which snapshots stay: the newest, those by hand and before advice while they are few, and of the others one for
    each doubling of their age in steps."""
    ordered = sorted(snapshots, key=lambda one: (one.step, one.at), reverse=True)
    stay = {one.id for one in ordered[: rules.newest]} | {one.id for one in ordered if now - one.at < YOUNG}
    for cause in ("person", "guidance"):
        stay |= {one.id for one in [s for s in ordered if s.cause == cause][: 2 * rules.newest]}
    doublings: dict[int, str] = {}
    for one in reversed(ordered):  # the oldest of each, which stays the oldest as all grow older
        doublings.setdefault((ordered[0].step - one.step).bit_length(), one.id)
    return stay | set(doublings.values())
