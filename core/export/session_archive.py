"""One session of a log as an archive that may stand for it."""

from __future__ import annotations

from pathlib import Path

from core.domain.errors import NotFound
from core.domain.session import SessionRow
from core.formats.verified_archive import write_verified
from core.store import blobs, log
from core.store.sqlite import Connection


def write_session(conn: Connection, session: str, path: Path) -> int:
    """Write a session's archive and read it back; gives how many events it holds.

    Raises NotFound (no_session; no_blob: the log lacks a payload), Conflict (file_exists), Unavailable (cannot_write,
    archive_differs).
    """
    row: SessionRow = log.row(conn, session)
    bodies = [placed.body for placed in log.read_all(conn, session)]
    if not bodies:
        raise NotFound("no_session", f"Session {session} holds no event.", session=session)
    write_verified(path, session, row.title, bodies, lambda name: blobs.get(conn, name))
    return len(bodies)
