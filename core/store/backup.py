"""A consistent copy of a database that is in use, and the check of one; and copies in a folder, each under the time of
its making, of which the newest few stay."""

import contextlib
import os
import re
from datetime import UTC, datetime
from pathlib import Path

from core.domain.errors import InvalidInput, NotFound, Unavailable
from core.store.home import in_place_of, make_private_folder
from core.store.sqlite import Connection, driver, scalar

_HEADER = b"SQLite format 3\0"
_NAME = re.compile(r"tiphys-\d{8}T\d{6}Z\.db\Z")


def back_up(conn: Connection, target: Path) -> Path:
    """Write a compact copy to `target`, replacing it in one move, mode 0600; the connection is in no transaction.

    VACUUM INTO, not the incremental backup: that one never ends beside a writer (measured). The copy of a log gets
    an epoch of its own, so that clients notice when it takes the log's place. Raises InvalidInput (no_target) for the
    database itself and for a file that is none, Unavailable; an earlier `target` is left as it was.
    """
    _check_target(conn, target)
    try:
        with in_place_of(target) as part:
            part.unlink(missing_ok=True)
            os.close(os.open(part, os.O_CREAT | os.O_RDWR | os.O_EXCL, 0o600))
            _copy(conn, part)
            give_own_epoch(part)
    except (driver.Error, OSError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise Unavailable("backup_failed", f"No backup could be made at {target}: {why}", path=str(target)) from error
    return target


def _check_target(conn: Connection, target: Path) -> None:
    """A database that is replaced while it is open takes with it what is written from then on, and a device that is
    replaced is lost to the whole machine."""
    if not os.path.lexists(target):
        return
    if not target.is_file():
        raise _no_backup(target)
    if target.with_name(f"{target.name}-wal").exists():
        raise InvalidInput("no_target", f"{target} is a database in use; give the copy another name.", path=str(target))
    if target.samefile(conn.execute("PRAGMA database_list").fetchone()[2]):
        raise InvalidInput("no_target", f"{target} is the log itself; give the copy another name.", path=str(target))
    with target.open("rb") as file:
        if file.read(len(_HEADER)) != _HEADER:
            raise _no_backup(target)


def _no_backup(target: Path) -> InvalidInput:
    return InvalidInput("no_target", f"{target} is there and is no backup; it stays as it is.", path=str(target))


def _copy(conn: Connection, part: Path) -> None:
    guarded = scalar(conn, "PRAGMA query_only")  # a reader's guard also forbids to write the other file
    conn.execute("PRAGMA query_only=OFF")
    try:
        conn.execute("VACUUM INTO ?", (str(part),))
    finally:
        conn.execute(f"PRAGMA query_only={guarded}")


def give_own_epoch(copy: Path) -> None:
    """Make a file another log than the one that it was copied from."""
    with contextlib.closing(driver.connect(str(copy), isolation_level=None)) as conn:
        if scalar(conn, "SELECT 1 FROM sqlite_schema WHERE name = 'meta'"):
            conn.execute("UPDATE meta SET value = lower(hex(randomblob(16))) WHERE key = 'epoch'")


def damage(conn: Connection) -> str:
    """What SQLite's quick check finds wrong with a file, empty for nothing (about 1 s per 165 MB)."""
    try:
        found = [row[0] for row in conn.execute("PRAGMA quick_check(10)")]
    except driver.DatabaseError as error:
        return str(error)
    return "" if found == ["ok"] else "; ".join(found)


def rotate(conn: Connection, folder: Path, most: int) -> tuple[Path, list[Path]]:
    """Back a log up into a folder and remove the oldest beyond `most`; gives the new file and the removed ones.

    What does not bear the name of a backup is not touched. Raises Unavailable; then nothing is removed.
    """
    make_private_folder(folder)
    made = back_up(conn, folder / f"tiphys-{datetime.now(UTC):%Y%m%dT%H%M%SZ}.db")
    removed = backups(folder)[most:]
    try:
        for path in removed:
            path.unlink()
    except OSError as error:
        raise Unavailable("backup_not_removed", f"An old backup in {folder} cannot be removed: {error}.",
                          path=str(folder)) from error
    return made, removed


def backups(folder: Path) -> list[Path]:
    """The backups of a folder, the newest first."""
    return sorted((path for path in folder.glob("tiphys-*.db") if _NAME.match(path.name)), reverse=True)


def newest(folder: Path) -> Path:
    """The newest backup of a folder. Raises NotFound (no_backup)."""
    found = backups(folder)
    if not found:
        raise NotFound("no_backup", f"There is no backup in {folder}.", path=str(folder))
    return found[0]
