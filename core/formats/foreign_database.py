"""SQLite files of other programs: opened for reading only, and trusted in nothing."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from core.domain.errors import InvalidInput
from core.formats.source import Source, is_plain

_MAGIC = b"SQLite format 3\0"
_BESIDE = ("-wal", "-shm", "-journal")
_LONGEST = 64 * 1024 * 1024
"""Bytes of the longest value that is read."""


class ForeignDatabase:
    """The tables of a file, by their names and columns."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn

    def tables(self) -> list[str]:
        """The names of all tables."""
        return [str(name) for (name,) in self._conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]

    def columns(self, table: str) -> frozenset[str]:
        """The columns of a table; none where there is no such table. A view, a virtual table or a table with computed
        columns is none: it would run what the file's maker wrote, for as long as they like."""
        sql = ("SELECT i.name, i.hidden OR l.type != 'table' FROM pragma_table_list(?1) AS l, pragma_table_xinfo(?1) "
               "AS i WHERE l.schema = 'main'")
        found = dict(self._conn.execute(sql, (table,)).fetchall())
        return frozenset() if any(found.values()) else frozenset(map(str, found))

    def rows(self, sql: str, values: Sequence[object] = ()) -> Iterator[dict[str, object]]:
        """The rows of a query by their columns' names."""
        cursor = self._conn.execute(sql, tuple(values))
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)


def is_database(source: Source) -> bool:
    """Whether a file is one of SQLite's."""
    return source.head.startswith(_MAGIC)


@contextmanager
def opened(path: Path) -> Iterator[ForeignDatabase]:
    """A file's tables. What stands in a log beside it (`-wal`) is read too. Raises InvalidInput (bad_database) for a
    damaged file."""
    _check_size(path)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as conn:
            conn.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            conn.execute("PRAGMA trusted_schema=OFF")
            distrust(conn)
            conn.text_factory = lambda data: data.decode("utf-8", "replace")
            yield ForeignDatabase(conn)
    except sqlite3.Error as error:
        raise InvalidInput("bad_database", f"{path} cannot be read as a database: {error}.", path=str(path)) from error


def distrust(conn: sqlite3.Connection) -> None:
    """From now on read nothing through views of a file that somebody else made."""
    conn.set_authorizer(_no_views)


def _no_views(action: int, first: str | None, second: str | None, base: str | None, view: str | None) -> int:
    """What is read through a view is computed by what its maker wrote, perhaps without end."""
    return sqlite3.SQLITE_DENY if view or action == sqlite3.SQLITE_ATTACH else sqlite3.SQLITE_OK


def _check_size(path: Path) -> None:
    """The head of the file tells how long it must be; what is cut off may be any part of any table."""
    with path.open("rb") as file:
        head = file.read(100)
        has = file.seek(0, 2)
    page = int.from_bytes(head[16:18], "big")
    wanted = (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")
    if has < wanted and head[24:28] == head[92:96]:  # else the head was written by a program that does not count
        raise InvalidInput("bad_database", f"{path} ends at byte {has:,} of {wanted:,}: the database is cut off.",
                           path=str(path))


def has_tables(source: Source, wanted: dict[str, set[str]]) -> bool:
    """Whether a file has some tables with some columns."""
    if not is_database(source):
        return False
    try:
        with opened(source.file) as base:
            return all(columns <= base.columns(table) for table, columns in wanted.items())
    except InvalidInput:
        return False


def logs_beside(files: Sequence[Path]) -> Iterator[Path]:
    """The logs that SQLite writes beside its files, which are read with these."""
    names = {path.name: path for path in files}
    for path in files:
        if any(path.name + end in names for end in _BESIDE) and is_plain(path):
            yield from (names[path.name + end] for end in _BESIDE if path.name + end in names)
