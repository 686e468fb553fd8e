"""An archive that stands for its session: written, read back and compared before it is put in its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from core.domain.errors import Conflict, ReportableError, Unavailable
from core.domain.events import blobs_of, decode_event
from core.formats import archive
from core.formats.imported import Imported
from core.formats.readers import archive as reader
from core.formats.source import Source
from core.store.home import in_place_of


def write_verified(path: Path, session: str, title: str, bodies: Sequence[bytes], blob: Callable[[str], bytes]) -> None:
    """Write a session's archive, so that nothing is lost with the session: every event byte for byte, every payload.

    A file that is there is replaced only where it is an earlier archive of the same session. Raises Conflict
    (file_exists), Unavailable (cannot_write, archive_differs), and what `blob` raises; then `path` is as it was.
    """
    check_target(path, session, bodies)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with in_place_of(path) as part:
            archive.write_at(part, session, title, bodies, blob)
            check_same(part, session, bodies)
    except OSError as error:
        raise Unavailable("cannot_write", f"{path} cannot be written: {error.strerror}.", path=str(path)) from error


def check_target(path: Path, session: str, bodies: Sequence[bytes]) -> None:
    """Raises Conflict (file_exists) where another file would be lost."""
    if not path.exists():
        return
    try:
        held = _read(path)
    except (ReportableError, OSError):
        held = None
    if held is None or held.session != session or list(held.bodies) != list(bodies[: len(held.bodies)]):
        raise Conflict("file_exists", f"{path} is there and is no earlier archive of session {session}; it stays as it "
                       "is.", path=str(path))


def check_same(path: Path, session: str, bodies: Sequence[bytes]) -> None:
    """Read an archive whole, which holds every payload against its name. Raises Unavailable (archive_differs)."""
    try:
        held = _read(path)
        same = held.session == session and list(held.bodies) == list(bodies) and not held.warnings
        named = {name for body in bodies for name in blobs_of(decode_event(body).fact)}
        if same and named == set(held.blobs):
            return
        why = "it does not hold the same"
    except ReportableError as error:
        why = error.sentence
    raise Unavailable("archive_differs", f"The archive of session {session} was written and cannot be read back whole: "
                      f"{why}. The session stays.", session=session)


def _read(path: Path) -> Imported:
    return next(iter(reader.read(Source(path))))
