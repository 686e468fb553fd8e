"""Judging a log file, and putting a backup in the place of the log of record."""

import shutil
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, NotFound, ProtocolMismatch, ReportableError, Unavailable
from core.domain.events import blobs_of, decode_stored
from core.domain.plural import counted
from core.store import blobs, log
from core.store.backup import damage, give_own_epoch
from core.store.home import in_place_of, sync
from core.store.schema import check_known, migrations, open_migrated
from core.store.sqlite import Connection, connect, driver, scalar, transaction

_NOT_A_DATABASE = 26
_CONTENT = frozenset({1, 11})
"""SQLite's codes for a file whose content is wrong: a schema that cannot be read, a malformed image."""

_SIDES = ("", "-wal", "-shm")


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What a log holds. `lacking` counts payloads that events name and the file does not hold; `pending` lists the
    migrations that this program would apply."""

    path: str
    sessions: int
    events: int
    payloads: int
    lacking: int
    pending: tuple[str, ...]


def survey(path: Path) -> Survey:
    """Look through a whole log, beside a running server if need be.

    Raises NotFound, ProtocolMismatch (store_too_new), InvalidInput: not_a_log, log_damaged (with what SQLite says,
    the session whose events have a gap, or what else cannot be read), Unavailable where the disk does not answer.
    """
    try:
        with closing(connect(path, readonly=True)) as conn:
            return _checked(conn, path)
    except (NotFound, ProtocolMismatch):
        raise
    except (ReportableError, driver.DatabaseError, ValueError, TypeError, OverflowError) as error:
        raise _rubbish(path, error) from error


class Altered(msgspec.Struct, frozen=True):
    """What of a log is not as it was written: the sessions whose events, and the payloads whose bytes were changed."""

    sessions: tuple[str, ...] = ()
    payloads: tuple[str, ...] = ()

    @property
    def words(self) -> str:
        """What was changed, of how many; "" for nothing."""
        found = [f"events of {counted(len(self.sessions), 'session')} (the first is {self.sessions[0]})"
                 ] if self.sessions else []
        if self.payloads:
            found.append(f"{counted(len(self.payloads), 'payload')} (the first is {self.payloads[0][:12]}…)")
        return " and ".join(found)


def check_content(path: Path) -> Altered:
    """Hold every event and payload of a log that `survey` found sound against its digest. Raises InvalidInput
    (log_altered): some are not what was written. All else of such a log can be used."""
    found = _altered(path)
    if found.words:
        raise InvalidInput("log_altered", f"In {path} something changed on the disk since it was written: "
                           f"{found.words}.", path=str(path))
    return found


def _altered(path: Path) -> Altered:
    with closing(connect(path, readonly=True)) as conn:
        return Altered(tuple(_altered_sessions(conn)), tuple(blobs.altered(conn)))


def _altered_sessions(conn: Connection) -> Iterator[str]:
    """The sessions whose events are not those that were appended; none of a file that is older than digests."""
    if not any(column[1] == "digest" for column in conn.execute("PRAGMA table_info(session)")):
        return
    for session, head, digest in conn.execute("SELECT id, head, digest FROM session ORDER BY id").fetchall():
        if log.chained(b"", (placed.body for placed in log.read_all(conn, session, head))) != digest:
            yield session


def _checked(conn: Connection, path: Path) -> Survey:
    pending = tuple(check_known(conn, path, migrations))
    if problem := damage(conn):
        raise _damaged(path, problem)
    if "m0001_log" in pending:
        raise InvalidInput("not_a_log", f"{path} holds no log.", path=str(path))
    return _survey(conn, path, pending)


def _rubbish(path: Path, error: Exception) -> ReportableError:
    """What is wrong with a file that made reading it fail so: any content may be in it."""
    if isinstance(error, InvalidInput) and error.code in ("not_a_log", "log_damaged"):
        return error
    cause = error.__cause__ if isinstance(error, Unavailable) else error
    code = getattr(cause, "sqlite_errorcode", 0) & 0xFF
    if code == _NOT_A_DATABASE:
        return InvalidInput("not_a_log", f"{path} is no database.", path=str(path))
    if isinstance(error, Unavailable) and code not in _CONTENT:
        return error
    return _damaged(path, " ".join(str(cause).split())[:300])


def _damaged(path: Path, problem: str) -> InvalidInput:
    return InvalidInput("log_damaged", f"{path} is damaged: {problem}", path=str(path))


def _survey(conn: Connection, path: Path, pending: tuple[str, ...]) -> Survey:
    events, lacking = 0, 0
    sessions = conn.execute("SELECT id, head FROM session ORDER BY id").fetchall()
    for session, head in sessions:
        seen = 0
        for placed in log.read_all(conn, session, head):
            seen += 1
            lacking += len(blobs.missing(conn, blobs_of(decode_stored(placed.body).fact)))
        if seen != head:
            raise InvalidInput("log_damaged", f"{path} holds {seen} of {head} events of session {session}.",
                               path=str(path), session=session)
        events += seen
    payloads = scalar(conn, "SELECT count(*) FROM blob")
    return Survey(path=str(path), sessions=len(sessions), events=events, payloads=payloads, lacking=lacking,
                  pending=pending)


class Restored(msgspec.Struct, frozen=True):
    """What a restore did: where the former log is kept, how many of its accounts were carried over (None: it could
    not be read), what of the backup was taken though it was changed, and which installation the backup is of (None: it
    does not say; "": one that is older than such numbers)."""

    former: Path | None
    accounts: int | None
    altered: Altered = Altered()
    installation: str | None = None


def restore(source: Path, target: Path, *, also_altered: bool = False) -> Restored:
    """Put a copy of `source` in the place of `target`, which nobody may have open.

    The copy gets an epoch of its own each time, so that clients and runners notice and tell it again what it lacks,
    and the accounts of the former log as they stand: who came since is not locked out, and nobody comes back who was
    revoked. `also_altered` takes events as they are now, and leaves out payloads that are not what their names say.
    Raises what `survey` and else `check_content` raise for `source`, and Unavailable; then `target` is as it was.
    """
    survey(source)
    altered = _altered(source) if also_altered else check_content(source)
    try:
        with in_place_of(target) as part:
            shutil.copyfile(source, part)
            part.chmod(0o600)
            give_own_epoch(part)
            if altered.words:
                _take_as_is(part, altered)
            installation = _installation(part)
            accounts = _carry_accounts(target, part)
            sync(part)
            former = _put_aside(target)
    except (driver.Error, OSError) as error:
        raise Unavailable("restore_failed", f"{source} cannot take the place of {target}: {error}",
                          path=str(target)) from error
    return Restored(former, accounts, altered, installation)


def _take_as_is(part: Path, altered: Altered) -> None:
    """From now on the changed events are what the log says, so that a later change is found by itself; a changed
    payload is one that the log does not hold."""
    with closing(connect(part)) as conn, transaction(conn):
        for session in altered.sessions:
            digest = log.chained(b"", (placed.body for placed in log.read_all(conn, session)))
            conn.execute("UPDATE session SET digest = ? WHERE id = ?", (digest, session))
        conn.executemany("DELETE FROM blob WHERE hash = ?", ((bytes.fromhex(name),) for name in altered.payloads))


def _installation(part: Path) -> str | None:
    with closing(connect(part, readonly=True)) as conn:
        found: str | None = scalar(conn, "SELECT value FROM meta WHERE key = 'installation'")
        return found


def _carry_accounts(former: Path, part: Path) -> int | None:
    """Give the copy the accounts and invitations of the former log, which win; how many accounts, None where that
    cannot be read. What was used or has expired since the backup does not come alive again."""
    if not former.exists():
        return 0
    try:
        with closing(connect(former, readonly=True)) as conn:
            held = {name: _table(conn, name) for name in ("account", "invitation")}
    except (driver.Error, ReportableError):
        return None
    with closing(open_migrated(part, migrations, keep_former=False)) as conn, transaction(conn):
        for table, (columns, rows) in held.items():
            marks = ", ".join("?" * len(columns))
            conn.executemany(f"INSERT OR REPLACE INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)
    return len(held["account"][1])


def _table(conn: Connection, name: str) -> tuple[list[str], list[tuple[object, ...]]]:
    """The columns and rows of a table; no rows where an older file has no such table."""
    columns = [row[1] for row in conn.execute(f"PRAGMA table_info({name})")]
    rows = conn.execute(f"SELECT {', '.join(columns)} FROM {name}").fetchall() if columns else []
    return columns, [tuple(row) for row in rows]


def _put_aside(target: Path) -> Path | None:
    """Rename a database with its write-ahead log, which may hold the newest of it."""
    if not target.exists():
        return None
    former = target.with_name(f"{target.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    for side in reversed(_SIDES):  # the database last: a crash in between leaves it with what belongs to it
        path = target.with_name(target.name + side)
        if path.exists():
            path.rename(former.with_name(former.name + side))
    return former
