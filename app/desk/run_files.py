"""The folder of a run of reinforcement learning as a reader finds it: what it is, its metrics, its groups. No Qt.

The run writes on meanwhile, so everything is read anew from where the last look ended, a bounded piece at a time.
"""

from __future__ import annotations

import re
from contextlib import closing
from pathlib import Path

import msgspec

from core.domain.errors import InvalidInput, Unavailable
from core.domain.ids import is_id
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import connect, driver
from core.workers.reinforcement import GroupSheet, RlMetric

PIECE = 1 << 20
"""Bytes of metrics that one look reads; a line that is longer counts as unread."""

MOST_SHEETS = 64 << 20
"""Bytes of one update's sheets; a larger file is refused, as no screen shows it."""

MOST_FACTS = 1 << 20
"""Bytes of a run's settings."""

_SHEETS = re.compile(r"[0-9]{1,9}\.json", re.ASCII)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""What JSON of somebody else's making is answered with."""


class RunFacts(msgspec.Struct, frozen=True):
    """What a run is; its settings hold more."""

    kind: str
    loss: str
    model: str


class RunNews(msgspec.Struct, frozen=True):
    """How far a run has come. `file` and `offset` say what of its metrics is read; `newest` is the last update that
    has sheets, `unread` counts lines that are none; `has_more`: another look reads more at once."""

    metrics: tuple[RlMetric, ...] = ()
    file: int = 0
    offset: int = 0
    newest: int = 0
    unread: int = 0
    written_at: float = 0.0
    is_over: bool = False
    has_more: bool = False
    is_within: bool = False
    """What comes next is the rest of a line that is too long."""


def facts_of(folder: Path) -> RunFacts:
    """What the run of a folder is. Raises InvalidInput (no_run) for a folder that holds none."""
    try:
        return msgspec.json.decode(_content(folder / "run.json", MOST_FACTS), type=RunFacts)
    except (OSError, *_UNREADABLE) as error:
        raise InvalidInput("no_run", f"{folder} is no folder of a learning run: it has no run.json of one.",
                           folder=str(folder)) from error


def _content(path: Path, most: int) -> bytes:
    """A plain file's bytes: a pipe or a device of a foreign folder would never end. Raises OSError."""
    if not path.is_file() or path.stat().st_size > most:
        raise FileNotFoundError(f"{path} is no file of at most {most:,} bytes")
    return path.read_bytes()


def is_run(folder: Path) -> bool:
    """Whether a folder holds a run."""
    try:
        facts_of(folder)
    except InvalidInput:
        return False
    return True


def look(folder: Path, before: RunNews) -> RunNews:
    """What is there now, by what was there before. A run that is gone on with writes its metrics anew. Raises OSError
    where the folder cannot be read."""
    numbers = (int(p.stem) for p in (folder / "groups").glob("*.json") if _SHEETS.fullmatch(p.name))
    found = msgspec.structs.replace(before, newest=max(numbers, default=0), is_over=(folder / "model").is_dir(),
                                    has_more=False)
    path = folder / "metrics.jsonl"
    if not path.is_file():
        return msgspec.structs.replace(found, metrics=(), offset=0, file=0, is_within=False)
    state = path.stat()
    if state.st_ino != found.file or state.st_size < found.offset:
        found = msgspec.structs.replace(found, metrics=(), offset=0, unread=0, is_within=False)
    with path.open("rb") as file:
        file.seek(found.offset)
        data = file.read(PIECE)
    is_full = len(data) == PIECE
    ended = data.rfind(b"\n") + 1
    is_long = not ended and is_full
    fresh, unread = _metrics(data[data.find(b"\n") + 1 if found.is_within else 0 : ended])
    return msgspec.structs.replace(
        found, metrics=found.metrics + fresh, file=state.st_ino, offset=found.offset + (PIECE if is_long else ended),
        unread=found.unread + unread + (is_long and not found.is_within), written_at=state.st_mtime,
        has_more=is_full, is_within=is_long or (found.is_within and not ended))


def _metrics(data: bytes) -> tuple[tuple[RlMetric, ...], int]:
    found, unread = [], 0
    for line in data.splitlines():
        try:
            found.append(msgspec.json.decode(line, type=RlMetric))
        except _UNREADABLE:
            unread += 1
    return tuple(found), unread


def sheets_of(folder: Path, update: int) -> tuple[GroupSheet, ...]:
    """The groups of an update; none where it has no file. Raises InvalidInput (bad_sheets) for one that cannot be
    shown.

    Group by group: each piece of work stays short beside the window's own thread.
    """
    path = folder / "groups" / f"{update:05d}.json"
    if not path.is_file():
        return ()
    if path.stat().st_size > MOST_SHEETS:
        raise InvalidInput("bad_sheets", f"{path} is larger than {MOST_SHEETS >> 20} MiB.", path=str(path))
    try:
        groups = msgspec.json.decode(path.read_bytes(), type=list[msgspec.Raw])
        return tuple(msgspec.json.decode(one, type=GroupSheet) for one in groups)
    except _UNREADABLE as error:
        raise InvalidInput("bad_sheets", f"{path} holds no groups: {error}", path=str(path)) from error


def write_session(folder: Path, session: str, place: Path) -> Path:
    """Write a session of a run as an archive in the folder `place`, which the program opens like any other; gives its
    path.

    Raises InvalidInput (bad_id) for a name that is no session's, as a foreign sheet may give; NotFound where the run
    has no home, or it does not hold the session; Unavailable where it cannot be read or written.
    """
    from core.formats import archive
    from core.formats.foreign_database import distrust

    if not is_id(session):
        raise InvalidInput("bad_id", f"{session[:80]!r} cannot name a session.")
    target = place / f"{session}.tiphys"
    try:
        with closing(connect(Home(folder / "home").server_db, readonly=True)) as conn:
            distrust(conn)
            title = log.row(conn, session).title
            bodies = [placed.body for placed in log.read_all(conn, session)]
            archive.write(target, session, title, bodies, lambda name: blobs.get(conn, name))
    except driver.Error as error:
        raise Unavailable("run_not_read", f"The run cannot be read: {error}.", why=str(error)) from error
    return target
