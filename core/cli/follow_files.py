"""Files that are still being written, as live sessions: what is new in them is appended as it comes.

A file is looked at every LOOK_S seconds, and less often where reading it takes long. A session runs from the first
growth until its file tells an end, or has been silent for SILENCE_S.
"""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from core.cli.imported_session import Renamed, placed
from core.cli.last_reading import LastReading, followed, what_came
from core.cli.log_access import reading, writing
from core.cli.output import emit, note, say
from core.cli.printed_json import FollowedLine
from core.cli.store_imported import compare, payloads, remarks_lacking
from core.domain.errors import ReportableError
from core.domain.events import SessionStateChanged, encode_event, make_event
from core.domain.plural import counted
from core.domain.verdict import Author
from core.formats import registry, reimport
from core.formats.imported import Imported
from core.formats.live_source import LiveSource, stamp
from core.formats.new_files import NewFiles
from core.formats.source import Source
from core.protocol.operations import ImportSession
from core.server.held_database import NewEntries
from core.store import log, tombstones
from core.store.home import Home
from core.store.sqlite import Connection
from core.workers.imports import ImportLine

LOOK_S = 0.3
SHARE = 2
"""So many times as long as reading a file again took of a processor's time it rests, so that a third is the most; what
others made it wait does not count."""

SILENCE_S = 120.0
NEW_FILES_S = 2.0
"""How often folders are looked through for new files."""

_YOUNG = ("no_steps", "no_sessions", "unknown_format", "packed_otherwise")
"""What a file may be that has only begun."""

_AWAY = ("not_a_file", "file_unreadable")
"""Another file is being put in its place: the next look finds it."""

_RUNNING = SessionStateChanged(state="running", reason="file_grows")


class _File(msgspec.Struct):
    """One file: what it was when it was read last, and its sessions that run, with the end to tell of each."""

    path: Path
    stamp: str
    source: LiveSource | None = None
    running: dict[str, SessionStateChanged] = {}
    known: dict[str, LastReading] = {}
    grown_at: float = 0.0
    next_at: float = 0.0
    is_incomplete: bool = False


def follow_files(home: Home, lines: Sequence[ImportLine], new_files: NewFiles, quiet_after: float, as_json: bool
                 ) -> set[str]:
    """Follow the files of an import, and those that arrive, until SIGINT or SIGTERM, or until all have been silent
    for `quiet_after` seconds. Gives the sessions that grew."""
    over = threading.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        signal.signal(name, lambda *_: over.set())
    found = {Path(line.path): line.stamp for line in lines}
    follower = FileFollower(home, [_File(path, stamp) for path, stamp in found.items()], as_json,
                        min(SILENCE_S, quiet_after or SILENCE_S), new_files)
    follower.go_on(line for line in lines if line.result == "grown")
    if not as_json:
        note(f"tiphys: Following {counted(len(found), 'file')}; Ctrl+C ends it.")
    last, is_clean = time.monotonic(), True
    gc.disable()  # of a reading a quarter went into looking through the million objects that a long file holds
    while not over.wait(LOOK_S):
        if follower.look():
            last, is_clean = time.monotonic(), False
        elif not is_clean:
            gc.collect()
            is_clean = True
        if quiet_after and time.monotonic() - last > quiet_after:
            break
    gc.enable()
    follower.settle_all()
    return follower.grown


class FileFollower:
    """Looks after the files, one after the other."""

    def __init__(self, home: Home, files: Sequence[_File], as_json: bool, silence_s: float,
                 new_files: NewFiles | None = None) -> None:
        self._home, self._files, self._as_json, self._silence_s = home, list(files), as_json, silence_s
        self.grown: set[str] = set()
        """The sessions to which something was added."""
        self._new_files, self._new_files_at = new_files or NewFiles([]), time.monotonic()

    def go_on(self, lines: Iterable[ImportLine]) -> None:
        """These sessions had grown already when the import read their files: they run."""
        for line in lines:
            with reading(self._home) as conn:
                row = log.row(conn, line.session)
            file = next((f for f in self._files if f.path == Path(line.path)), None)
            if file is not None and row.reason in reimport.OPEN_ENDS:
                file.grown_at = time.monotonic()
                file.running[line.session] = SessionStateChanged(
                    state="stopped" if row.state == "running" else row.state, reason="end_not_recorded")
                self._append(line.session, "", [_state(_RUNNING)], {})
                self._say(line.session, file.path)

    def look(self) -> bool:
        """Look once; tells whether a file has changed."""
        changed = False
        if time.monotonic() - self._new_files_at >= NEW_FILES_S:
            known = {file.path for file in self._files}
            self._files += [_File(path, "") for path in self._new_files.since_last_time() if path not in known]
            self._new_files_at = time.monotonic()
        for file in self._files:
            now = time.monotonic()
            if now < file.next_at:
                continue
            current = stamp(file.path)
            if current and current != file.stamp:
                file.stamp, file.grown_at, busy = current, now, time.process_time()
                self._read(file)
                file.next_at = time.monotonic() + SHARE * (time.process_time() - busy)
                changed = True
            elif (file.running or file.is_incomplete) and now - file.grown_at > self._silence_s:
                self._settle(file)
        return changed

    def settle_all(self) -> None:
        """Nobody follows any more: what runs gets the end that its file tells."""
        for file in self._files:
            self._settle(file)

    def _read(self, file: _File) -> None:
        file.is_incomplete = False
        try:
            file.source = LiveSource(file.path, file.source)
            renamed: dict[str, tuple[str, int]] = {}
            for session in registry.read(file.source):
                self._take(file, session, renamed)
        except ReportableError as failure:
            file.is_incomplete = failure.code == "file_incomplete"
            if not file.is_incomplete and failure.code not in (*_YOUNG, *_AWAY):
                note(f"tiphys: {failure.sentence} [{failure.code}]")

    def _settle(self, file: _File) -> None:
        if file.is_incomplete:  # it will not get any better
            file.is_incomplete = False
            renamed: dict[str, tuple[str, int]] = {}
            for session in registry.read(Source(file.path)):
                self._take(file, session, renamed)
        for name, end in file.running.items():
            self._append(name, "", [_state(end)], {})
            self._say(name, file.path)
        file.running = {}

    def _take(self, file: _File, read: Imported, renamed: Renamed) -> None:
        known = file.known.pop(read.session, None)
        session, end = reimport.without_open_end(read)
        bodies = session.bodies
        with reading(self._home) as conn:
            came: Sequence[bytes] | None = None if known is None else what_came(conn, known, session)
            if came is None:
                known, placement = None, placed(conn, read, renamed)
                if tombstones.is_deleted(conn, placement.session.session):
                    return  # it comes back when somebody imports the file, not because it grows
                session, end = reimport.without_open_end(placement.session)
                came = compare(conn, session, placement.is_part).bodies
                is_whole = session.session == read.session and not placement.is_part and not placement.shift
            else:
                renamed[read.session], is_whole = (read.session, 0), True
            head = log.head(conn, session.session)
        added = self._add(file, session, end, came, head) if came else ()
        if known is not None:
            known.took(bodies, added)
        elif is_whole:
            known = followed(self._home, session, bodies)
        if known is not None:
            file.known[read.session] = known

    def _add(self, file: _File, session: Imported, end: SessionStateChanged | None, came: Sequence[bytes], head: int
             ) -> Sequence[bytes]:
        """Append what came; a session that goes on runs from its first growth."""
        bodies = list(came)
        if end is not None and session.session not in file.running:
            bodies.insert(0 if head else 1, _state(_RUNNING))
        if not head:  # a file that was written over may have become a fork, and nobody would know of what
            with reading(self._home) as conn:
                bodies += remarks_lacking(conn, session)
        file.running.pop(session.session, None)
        if end is not None:
            file.running[session.session] = end
        self._append(session.session, session.format, bodies, payloads(session, came))
        self._say(session.session, file.path)
        return bodies

    def _append(self, session: str, format: str, bodies: Sequence[bytes], blobs: Mapping[str, bytes]) -> None:
        def look(conn: Connection) -> tuple[None, NewEntries]:
            head = log.head(conn, session)
            op = ImportSession(origin=format or log.row(conn, session).origin, events=head + len(bodies))
            return None, NewEntries(session, op, f"import:{session}:{head}", bodies, blobs)

        writing(self._home, lambda authority: authority.take_in(look))
        self.grown.add(session)

    def _say(self, session: str, path: Path) -> None:
        with reading(self._home) as conn:
            row = log.row(conn, session)
        if self._as_json:
            emit(FollowedLine(session=session, path=str(path), state=row.state, steps=row.steps))
        else:
            say(f"{row.state:<9} {row.steps:>6,} steps  {session}  {row.title}")


def _state(fact: SessionStateChanged) -> bytes:
    return encode_event(make_event(fact, Author(kind="import", name="file")))
