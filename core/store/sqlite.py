"""The only module that imports the SQLite driver of our own files; every connection to these is made here.

pysqlite3 is taken where it is installed (sqlite-utils chooses the same way): the system's SQLite is often one
of 3.7.0–3.51.2, whose WAL may corrupt a file when two connections checkpoint at once (fixed in 3.51.3).
"""

from __future__ import annotations

import errno
import importlib
import logging
import os
import sqlite3 as _standard
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from core.domain.errors import NotFound, Unavailable

if TYPE_CHECKING:
    Connection = _standard.Connection
    driver = _standard
else:
    try:
        driver = importlib.import_module("pysqlite3.dbapi2")
    except ImportError:  # no wheel for this platform: the standard library's SQLite, under the single-writer rule
        driver = _standard
    Connection = driver.Connection

SAFE_VERSION = (3, 51, 3)
"""The first SQLite without the WAL-reset defect."""

OLDEST_VERSION = (3, 37, 0)
"""The first with STRICT tables."""

PAGE = 16_384
"""Bytes of a page of a new file."""

_CHECKPOINT = 1_000 * PAGE
"""Bytes of a log after which it is written into its file: a page that changed often until then is written once."""

NORMAL = 1
"""PRAGMA synchronous: commits do not wait for the disk, checkpoints do. FULL, where both wait, is 2."""

INTERRUPTED = 9
"""The error code of a statement that a progress handler ended."""

# busy, locked, read-only, I/O error, corrupt, full, cannot open, not a database
_DISK_FAILURES = frozenset({5, 6, 8, 10, 11, 13, 14, 26})
_FAILING_DISK = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS})
_SHARED_DISKS = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "fuse.sshfs", "afs", "ceph", "lustre", "beegfs"})

_log = logging.getLogger("store")


def is_safe() -> bool:
    """Whether the driver's SQLite is free of the WAL-reset defect."""
    return driver.sqlite_version_info >= SAFE_VERSION


def connect(path: Path | str, *, readonly: bool = False, durable: bool = True, page: int = PAGE) -> Connection:
    """A connection in manual-commit mode, with the program's settings; a new file gets mode 0600, and pages of `page`
    bytes.

    `durable=False` (synchronous NORMAL) is for files that can be derived again. Usable from any one thread at a
    time. Raises NotFound where a file to be read is missing, Unavailable where it cannot be opened.
    """
    path = Path(path)
    if readonly and not path.is_file():
        raise NotFound("no_file", f"There is no file {path}.", path=str(path))
    try:
        return _open(path, readonly, durable, page)
    except (driver.Error, OSError) as error:  # also a file that is no database
        raise Unavailable("store_unavailable", f"{path} cannot be opened: {error}", path=str(path)) from error


def connect_in_memory() -> Connection:
    """A connection to a database that nobody else has, and that ends with it."""
    conn = driver.connect(":memory:", isolation_level=None, check_same_thread=False)
    conn.execute("PRAGMA foreign_keys=ON")
    conn.execute("PRAGMA recursive_triggers=ON")
    return conn


def _open(path: Path, readonly: bool, durable: bool, page: int) -> Connection:
    if not readonly:
        _require_local_disk(path.absolute().parent)
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
    uri = f"file:{quote(str(path.absolute()))}?mode={'ro' if readonly else 'rw'}"
    conn = driver.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5.0)
    try:
        _settle(conn, readonly, durable, page)
    except BaseException:
        conn.close()
        raise
    return conn


def _settle(conn: Connection, readonly: bool, durable: bool, page: int) -> None:
    conn.execute("PRAGMA busy_timeout=5000")
    conn.execute("PRAGMA trusted_schema=OFF")
    conn.execute("PRAGMA foreign_keys=ON")
    conn.execute("PRAGMA recursive_triggers=ON")  # else INSERT OR REPLACE passes by the log's delete trigger
    conn.execute("PRAGMA temp_store=MEMORY")
    conn.execute("PRAGMA mmap_size=0")
    if readonly:
        conn.execute("PRAGMA query_only=ON")
        conn.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # a damaged file is found out here
        return
    conn.execute(f"PRAGMA page_size={page}")
    conn.execute("PRAGMA journal_mode=WAL")
    conn.execute(f"PRAGMA synchronous={'FULL' if durable else 'NORMAL'}")
    conn.execute("PRAGMA fullfsync=ON")  # macOS only: fsync alone does not reach the disk there
    conn.execute("PRAGMA cache_size=-65536")
    conn.execute(f"PRAGMA wal_autocheckpoint={_CHECKPOINT // page}")
    conn.execute("PRAGMA journal_size_limit=16777216")  # a WAL that grew beside a slow reader shrinks again
    if not is_safe():
        conn.execute("PRAGMA wal_autocheckpoint=0")  # `own_checkpoints` gives them to one connection per file


def own_checkpoints(conn: Connection) -> None:
    """Make this the one connection of its file that checkpoints; told apart only where SQLite is not safe."""
    conn.execute("PRAGMA wal_autocheckpoint=1000")


def check_version() -> None:
    """Warn of a SQLite that is not safe. Raises Unavailable for one that is too old."""
    if driver.sqlite_version_info < OLDEST_VERSION:
        raise Unavailable("sqlite_too_old", f"SQLite {driver.sqlite_version} is too old: install pysqlite3.")
    if not is_safe() and not _warned:
        _warned.append(True)
        _log.warning("SQLite %s can damage files that several programs write at once; install pysqlite3.",
                     driver.sqlite_version)


_warned: list[bool] = []


@cache
def _require_local_disk(folder: Path) -> None:
    """Refuse network disks, whose locks and shared memory SQLite's WAL cannot rely on."""
    kind = _disk_kind(folder.resolve(), Path("/proc/self/mountinfo"))
    if kind in _SHARED_DISKS:
        raise Unavailable("network_disk", f"{folder} is on a network disk ({kind}); set TIPHYS_HOME to a local one.",
                          path=str(folder), kind=kind)


def _disk_kind(folder: Path, mounts: Path) -> str:
    """The file system's type by the longest mount point above a folder; empty where the system does not say."""
    try:
        lines = mounts.read_text(errors="replace").splitlines()
    except OSError:
        return ""
    found = {fields[4]: line.partition(" - ")[2].split(" ")[0] for line in lines if (fields := line.split(" "))}
    above = [str(f) for f in (folder, *folder.parents)]
    return next((found[f] for f in above if f in found), "")


def is_disk_failure(error: BaseException) -> bool:
    """Whether an error comes from the disk (full, broken, read-only, damaged file, locked), not from a mistake."""
    if isinstance(error, OSError):
        return error.errno in _FAILING_DISK
    return isinstance(error, driver.Error) and (getattr(error, "sqlite_errorcode", 0) & 0xFF) in _DISK_FAILURES


@contextmanager
def transaction(conn: Connection) -> Iterator[Connection]:
    """One transaction: BEGIN IMMEDIATE … COMMIT; rolled back when the body raises. Does not nest."""
    conn.execute("BEGIN IMMEDIATE")
    try:
        yield conn
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise


def scalar(conn: Connection, sql: str, *values: Any) -> Any:
    """The first column of the first row, or None."""
    row = conn.execute(sql, values).fetchone()
    return None if row is None else row[0]
