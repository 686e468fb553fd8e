"""Storing imported sessions in a home's log: whole or not at all, once however often, and known again when grown."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from core.aio import TaskScope
from core.cli.imported_session import Renamed, placed
from core.cli.log_access import writing
from core.cli.same_run_opinions import same_run_opinions
from core.domain.blob import blob_hash
from core.domain.errors import Conflict, ReportableError
from core.domain.events import NoteAdded, blobs_of, decode_event, encode_event, make_event
from core.domain.verdict import Author
from core.formats import reimport
from core.formats.imported import Imported
from core.formats.spools import JoinedPieces
from core.protocol.operations import ImportSession
from core.server.authority import Authority
from core.server.held_database import NewEntries
from core.store import blobs, log
from core.store.home import Home
from core.store.sqlite import Connection, scalar
from core.workers.imports import ImportLine

BATCH, BATCH_BYTES, BATCH_S = 1_000, 16 * 1024 * 1024, 1.0
"""Sessions are stored together until so many, so many bytes of payloads, or so many seconds of reading."""

REMARKS = 100
"""So many sentences about one file are kept with its session."""


class Read(msgspec.Struct, frozen=True):
    """A session that was read, from which file, and the file's stamp before it was read."""

    session: Imported
    path: Path
    stamp: str = ""


class Lacking(msgspec.Struct, frozen=True):
    """What the log lacks of a session: `result` (imported, present, grown), and the journal to append it to."""

    result: str
    journal: str
    bodies: Sequence[bytes]
    head: int


def store_all(home: Home, found: Iterable[Read], failures: list[ReportableError],
              judged: dict[str, int] | None = None) -> Iterator[ImportLine]:
    """Store sessions, each in one piece; gives a line for each. What could not be stored is put into `failures`.

    They are stored a few at a time: the log is held only while it is written, and other commands find it free.
    `judged` gets those that the rules judged on the way, with the number of their steps; without it they do not.
    """
    batch: list[Read] = []
    renamed: dict[Path, Renamed] = {}
    began, size = time.monotonic(), 0
    for one in found:
        batch.append(one)
        size += one.session.size
        if len(batch) >= BATCH or size >= BATCH_BYTES or time.monotonic() - began >= BATCH_S:
            yield from _store(home, batch, failures, renamed, judged)
            batch, size = [], 0
            began = time.monotonic()
    yield from _store(home, batch, failures, renamed, judged)


def _store(home: Home, batch: Sequence[Read], failures: list[ReportableError], renamed: dict[Path, Renamed],
           judged: dict[str, int] | None) -> list[ImportLine]:
    async def store(authority: Authority) -> list[ImportLine]:
        lines: list[ImportLine] = []
        async with TaskScope("import") as scope:
            for task in [scope.spawn(_try(authority, one, renamed.setdefault(one.path, {}), judged), name="store")
                         for one in batch]:
                outcome = await task
                failures.append(outcome) if isinstance(outcome, ReportableError) else lines.append(outcome)
        return lines

    return writing(home, store) if batch else []


async def _try(authority: Authority, one: Read, renamed: Renamed, judged: dict[str, int] | None
               ) -> ImportLine | ReportableError:
    try:
        return await authority.take_in(lambda conn: look(conn, one, renamed), judged)
    except ReportableError as failure:
        return failure


def look(conn: Connection, one: Read, renamed: Renamed) -> tuple[ImportLine, NewEntries | None]:
    """The line of one session, and what the log lacks of it, if anything. `renamed` has what the sessions before it in
    its file are called here."""
    placement = placed(conn, one.session, renamed)
    session = placement.session
    lacking = compare(conn, session, placement.is_part)
    remarks: tuple[str, ...] = ()
    bodies = lacking.bodies
    if lacking.result == "imported":
        opinions, source = _new_opinions(conn, session)
        bodies = JoinedPieces(bodies, opinions)
        if opinions:
            remarks = (f"What people said of session {source}, which is the same run, was taken over.",)
    entries = None
    if bodies:
        bodies = JoinedPieces(bodies, remarks_lacking(conn, session))
        op = ImportSession(origin=session.format, events=lacking.head + len(bodies))
        entries = NewEntries(session.session, op, lacking.journal, bodies, payloads(session, lacking.bodies))
    return ImportLine(session=session.session, source=session.source, format=session.format, title=session.title,
                      steps=session.steps, errors=session.errors, warnings=(*session.warnings, *remarks),
                      result=lacking.result, path=str(one.path), stamp=one.stamp), entries


def remarks_lacking(conn: Connection, session: Imported) -> list[bytes]:
    """What the importer has to say of the file, as notes on the session that the log does not have yet."""
    author = Author(kind="import", name=session.format)
    texts = {f"{session.session}-remark-{blob_hash(text.encode())[:16]}": text for text in session.warnings[:REMARKS]}
    if not texts:
        return []
    notes = conn.execute("SELECT body FROM event WHERE session = ? AND kind = 'note_added'", (session.session,))
    held = {decode_event(bytes(body)).id for (body,) in notes}
    return [encode_event(make_event(NoteAdded(step=0, text=text), author, id=name))
            for name, text in texts.items() if name not in held]


def _new_opinions(conn: Connection, session: Imported) -> tuple[list[bytes], str]:
    """What people said of the same run in another format, as far as the log lacks it."""
    opinions, source = same_run_opinions(conn, session)
    held = {placed.event.id for placed in log.read_all(conn, session.session)} if opinions else set()
    return [body for body in opinions if decode_event(body).id not in held], source


def payloads(session: Imported, bodies: Iterable[bytes]) -> Mapping[str, bytes]:
    """The payloads that some of a session's events name."""
    if bodies is session.bodies:
        return session.blobs
    named = dict.fromkeys(name for body in bodies for name in blobs_of(decode_event(body).fact))
    return {name: session.blobs[name] for name in named if name in session.blobs}


def compare(conn: Connection, session: Imported, is_part: bool = False) -> Lacking:
    """What the log lacks of a session. `is_part` as in `missing_events`.

    Raises Conflict where the session exists and did not come from an import: its own runner writes it.
    """
    journal = f"import:{session.session}"
    head = log.head(conn, session.session)
    if not head:
        return Lacking("imported", journal, session.bodies, 0)
    writer = scalar(conn, "SELECT journal FROM session WHERE id = ?", session.session)
    is_hidden = log.row(conn, session.session).is_hidden
    is_awaited = is_hidden and not writer  # a restored log has people's words about it, and no more
    is_ours = str(writer).startswith(journal) or is_awaited
    held = reimport.HeldRun(lambda: (one.body for one in log.read_all(conn, session.session)))
    lacking = [b for b in session.bodies if decode_event(b).id not in held] if not is_ours else (
        reimport.missing_events(session, held, lambda hash: blobs.get(conn, hash), is_part=is_part))
    if not lacking:
        return Lacking("present", journal, lacking, head)
    if not is_ours:
        raise Conflict("session_differs", f"{session.source} holds events that session {session.session}, which was "
                       "not imported, does not have.", session=session.session)
    return Lacking("imported" if is_hidden else "grown", f"{journal}:{head}", lacking, head)
