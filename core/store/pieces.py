"""Pieces: payloads of snapshots by content address, each stored once, many to a file (a *pack*).

A pack is written whole and never changed. What a snapshot shares with any other costs nothing. Who commits says on
which pieces of others he relies; where a sweep has removed one meanwhile, nothing is committed.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import BinaryIO

from core.domain.blob import blob_hash
from core.domain.errors import Conflict, NotFound, Unavailable
from core.domain.ids import new_id
from core.store.blobs import compress, decompress
from core.store.home import make_private_folder, sync
from core.store.migrations import Migrations
from core.store.schema import open_migrated
from core.store.sqlite import Connection, scalar, transaction

PIECE = 4 << 20
"""Bytes of the longest piece: a longer file is several, so that one that grows shares its beginning."""

ORPHAN_S = 3600.0
"""A pack that no index names is of a writer that died, when it is older."""

migrations = Migrations("snapshots")

migrations.script("m0001_snapshots", """
CREATE TABLE piece (
  hash BLOB PRIMARY KEY,
  pack TEXT NOT NULL,
  place INTEGER NOT NULL,
  stored INTEGER NOT NULL,                  -- bytes in the pack: one zstd frame
  size INTEGER NOT NULL                     -- bytes of the piece
) STRICT, WITHOUT ROWID;
CREATE INDEX piece_of_pack ON piece (pack);
CREATE TABLE snapshot (
  id TEXT PRIMARY KEY,
  session TEXT NOT NULL,
  step INTEGER NOT NULL,
  cause TEXT NOT NULL,
  at TEXT NOT NULL,
  content BLOB NOT NULL                     -- the piece that describes it
) STRICT, WITHOUT ROWID;
CREATE INDEX snapshot_of_session ON snapshot (session, step);
CREATE TABLE seen (                         -- what a host's files looked like when they were stored last
  session TEXT NOT NULL,
  host TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (session, host)
) STRICT, WITHOUT ROWID;
""")


class PieceStore:
    """The pieces below a folder, which several processes may share; made when it is not there. Blocking."""

    def __init__(self, folder: Path) -> None:
        self.packs = make_private_folder(make_private_folder(folder) / "packs")
        self.conn: Connection = open_migrated(folder / "index.db", migrations)

    def close(self) -> None:
        """Let go of the files."""
        self.conn.close()

    def holds(self, name: str) -> bool:
        """Whether a piece is here."""
        return scalar(self.conn, "SELECT 1 FROM piece WHERE hash = ?", bytes.fromhex(name)) is not None

    def get(self, name: str) -> bytes:
        """A piece. Raises NotFound; Unavailable where what rests here is damaged."""
        for _ in range(2):  # a sweep may move it between the look and the reading
            found = self.conn.execute("SELECT pack, place, stored FROM piece WHERE hash = ?",
                                      (bytes.fromhex(name),)).fetchone()
            if found is None:
                raise NotFound("no_piece", f"The piece {name[:12]}… of a snapshot is not held here.", hash=name)
            with contextlib.suppress(FileNotFoundError):
                data = decompress(self._read(*found))
                if blob_hash(data) == name:
                    return data
        raise Unavailable("snapshot_damaged", f"The piece {name[:12]}… of a snapshot is damaged.", hash=name)

    def _read(self, pack: str, place: int, stored: int) -> bytes:
        with (self.packs / pack).open("rb") as file:
            file.seek(place)
            return file.read(stored)

    def bytes_stored(self) -> int:
        """What all pieces take on the disk."""
        return int(scalar(self.conn, "SELECT ifnull(sum(stored), 0) FROM piece"))

    def sweep(self, live_of: Callable[[], set[bytes]]) -> int:
        """Remove what no snapshot needs; gives how many pieces. `live_of` is asked within the transaction."""
        before = self._named_packs()
        with transaction(self.conn):
            live = live_of()
            gone = [(one,) for (one,) in self.conn.execute("SELECT hash FROM piece") if bytes(one) not in live]
            self.conn.executemany("DELETE FROM piece WHERE hash = ?", gone)
        self._pack_anew()
        named = self._named_packs()
        for path in self.packs.iterdir():
            with contextlib.suppress(FileNotFoundError):
                if path.name not in named and (path.name in before or path.stat().st_mtime < time.time() - ORPHAN_S):
                    path.unlink()
        return len(gone)

    def _named_packs(self) -> set[str]:
        return {pack for (pack,) in self.conn.execute("SELECT DISTINCT pack FROM piece")}

    def _pack_anew(self) -> None:
        """Copy what is left of packs of which less than half is."""
        left = dict(self.conn.execute("SELECT pack, sum(stored) FROM piece GROUP BY pack").fetchall())
        for pack, stored in left.items():
            path = self.packs / pack
            if path.is_file() and stored * 2 < path.stat().st_size:
                with PieceWriter(self) as writer:
                    for (one,) in self.conn.execute("SELECT hash FROM piece WHERE pack = ?", (pack,)).fetchall():
                        writer.put_again(self.get(bytes(one).hex()))
                    writer.commit()


class PieceWriter:
    """New pieces for one pack; `commit` makes them count, together with what its caller does in the transaction.

    Several threads may put pieces at once: they share the names and the file, and each hashes and packs for itself.
    """

    def __init__(self, store: PieceStore) -> None:
        self._store = store
        self._name = f"{new_id()}.new"
        self._file: BinaryIO | None = None
        self._turn = threading.Lock()
        self._place = 0
        self._made: dict[str, tuple[int, int, int]] = {}
        self._relied: set[str] = set()

    @property
    def added(self) -> int:
        """Bytes that the new pieces take."""
        return self._place

    def __enter__(self) -> PieceWriter:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()
            (self._store.packs / self._name).unlink(missing_ok=True)

    def put(self, data: bytes) -> str:
        """Have a piece stored; gives its name."""
        name = blob_hash(data)
        with self._turn:
            if name in self._made or name in self._relied:
                return name
            if self._store.holds(name):
                self._relied.add(name)
                return name
        self._append(name, data)
        return name

    def put_again(self, data: bytes) -> None:
        """Store a piece anew, wherever it lies now."""
        self._append(blob_hash(data), data)

    def rely(self, names: Iterable[str]) -> None:
        """These pieces of earlier snapshots are needed."""
        with self._turn:
            self._relied.update(names)

    def commit(self, work: Callable[[Connection], None] = lambda conn: None) -> None:
        """Make all of it count, with `work` in the same transaction.

        Raises Conflict (piece_gone) where a piece that was relied on is not here any more.
        """
        pack = self._finished()
        with transaction(self._store.conn) as conn:
            gone = next((one for one in self._relied - self._made.keys() if not self._store.holds(one)), None)
            if gone is not None:
                raise Conflict("piece_gone", f"The piece {gone[:12]}… of an earlier snapshot was removed meanwhile.")
            conn.executemany("INSERT OR REPLACE INTO piece VALUES (?, ?, ?, ?, ?)",
                             [(bytes.fromhex(name), pack, *where) for name, where in self._made.items()])
            work(conn)

    def _append(self, name: str, data: bytes) -> None:
        packed = compress(data)
        with self._turn:
            if name in self._made:  # another thread had the same
                return
            if self._file is None:
                self._file = (self._store.packs / self._name).open("xb", buffering=PIECE)
            self._file.write(packed)
            self._made[name] = self._place, len(packed), len(data)
            self._place += len(packed)

    def _finished(self) -> str:
        """The pack on the disk, under the name that the index will tell."""
        if self._file is None:
            return ""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()
        self._file = None
        pack = self._name.removesuffix(".new")
        (self._store.packs / self._name).replace(self._store.packs / pack)
        sync(self._store.packs)
        return pack
