"""Deleting a session: whether it may be, and what goes with it beside the log, however often that is broken off."""

import asyncio
import logging
import shutil
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from core.agents import snapshot_store
from core.domain.errors import Conflict, Unavailable
from core.domain.ids import made_at
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.messages import Command
from core.protocol.operations import DeleteSession, ImportSession
from core.sandbox.local import LocalSandbox
from core.server.lookups import Lookups
from core.server.pool_file import engines_of
from core.store import log, loose_blobs, tombstones
from core.store.home import Home, read_small, write_private
from core.store.search import SearchIndex
from core.store.sqlite import Connection, connect
from core.store.tombstones import Tombstone, losses_of
from core.store.writer import Writer

_log = logging.getLogger("session")


def delete(conn: Connection, account: str, command: Command, op: DeleteSession, lookups: Lookups) -> dict[str, Any]:
    """Delete a session, or say what would be lost; the result is `Losses`.

    Raises NotFound, Conflict: session_running (with how it is ended), session_grew (there is more than the sender knows
    of), deleted_before (a log was restored, and nobody asked anew).
    """
    row = log.row(conn, command.session)
    if command.again:
        raise Conflict("deleted_before", f"Session {row.session} was deleted before the log was restored; it is here "
                       "again, until somebody asks anew.", session=row.session)
    require_over(row, lookups)
    losses = losses_of(conn, row.session)
    if op.head is None:
        return dict(msgspec.to_builtins(losses))
    if op.head != losses.head:
        raise Conflict("session_grew", f"Session {row.session} has {losses.head} events by now, not {op.head}; look "
                       "again at what would be lost.", session=row.session, head=losses.head)
    tombstones.bury(conn, row.session, account)
    _log.info("session %s is deleted by %s: steps: %d, opinions of people: %d, bytes: %d", row.session, account,
              losses.steps, losses.opinions, losses.bytes)
    return dict(msgspec.to_builtins(msgspec.structs.replace(losses, is_deleted=True)))


def require_over(row: SessionRow, lookups: Lookups) -> None:
    """Raises Conflict (session_running), with how it is ended, while anybody may still write the session."""
    if row.is_awaited:
        return  # nobody has made it
    if row.origin == "live" and row.state not in FINAL_STATES:
        how = f"End it first: tiphys stop {row.session}"
    elif row.origin != "live" and row.state == "running" and row.reason == "file_grows":
        how = "Its file is being followed; end that import first (Ctrl+C where it runs)"
    elif lookups.is_alive(row.session):
        how = "It is just being ended or written; ask again in a moment"
    else:
        return
    raise Conflict("session_running", f"Session {row.session} cannot be deleted while something writes it. {how}.",
                   session=row.session, state=row.state)


def refuse_late(conn: Connection, command: Command) -> None:
    """Raises NotFound (session_deleted) for what was said of a session before it was deleted, and whatever comes for
    one that is gone but a new import: that one is asked for by a person, and brings it back."""
    stone = tombstones.of(conn, command.session)
    if stone is None:
        return
    made = made_at(command.id)
    if made is None or made >= stone.at:
        if stone.is_back:
            return
        if isinstance(command.op, ImportSession) and not command.again:
            tombstones.come_back(conn, command.session)
            return
    raise tombstones.refusal(stone)


async def finish(home: Home, writer: Writer) -> None:
    """Remove what deleted sessions left beside the log; what was removed before is passed over.

    Raises Unavailable where the engine cannot be asked or the disk refuses; then the next call goes on.
    """
    with closing(connect(home.server_db, readonly=True)) as reader:
        stones = tombstones.unfinished(reader)
        existing = {row.session for row in log.rows(reader)}
    if stones:
        await _end_local(home, stones)
        await asyncio.to_thread(_remove_files, home, stones)
        await _remove_sandboxes(home, [s.session for s in stones if s.was_live], existing)
        await asyncio.to_thread(_remove_from_index, home)
        await writer.do(partial(tombstones.finish, marks=[stone.mark for stone in stones]))
    removed = await asyncio.to_thread(_remove_payloads, home, writer)
    if removed:
        _log.info("removed %d payloads that no session names any more", removed)


async def _end_local(home: Home, stones: list[Tombstone]) -> None:
    """A daemon without a container knows its folder alone: it ends before that goes."""
    for stone in stones:
        if stone.was_live:
            for sandbox in LocalSandbox.left_in(stone.session, home.sessions / stone.session):
                await sandbox.end()


def _remove_files(home: Home, stones: list[Tombstone]) -> None:
    try:
        for stone in stones:
            (home.allowed / f"session-{stone.session}.json").unlink(missing_ok=True)
            _remove_folder(home.sessions / stone.session)
        _forget_snapshots(home, stones)
        _forget_judged(home, {stone.session for stone in stones})
    except OSError as error:
        raise Unavailable("cannot_remove", f"Files of a deleted session cannot be removed: {error}") from error


def _remove_folder(folder: Path) -> None:
    """A session's folder; a link in its place goes, and not what it leads to."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.is_dir():
        shutil.rmtree(folder)


def _forget_snapshots(home: Home, stones: list[Tombstone]) -> None:
    """What a branch that has begun needs is its own by then."""
    if (home.path / snapshot_store.FOLDER).is_dir():
        with closing(snapshot_store.SnapshotStore(home.path)) as store:
            for stone in stones:
                store.forget(stone.session)


def _forget_judged(home: Home, sessions: set[str]) -> None:
    """The rules look anew at what comes back; see `core.server.end_rules`."""
    path = home.path / "cache" / "judged_at_end.json"
    judged = read_small(path, dict[str, int], {})
    if sessions & judged.keys():
        write_private(path, msgspec.json.encode({s: n for s, n in judged.items() if s not in sessions}))


async def _remove_sandboxes(home: Home, sessions: list[str], existing: set[str]) -> None:
    if not sessions:
        return
    from core.sandbox import reaper  # the engine's library takes a while to load

    if removed := await reaper.remove(str(home.path), sessions, existing, engines_of(home)):
        _log.info("removed sandboxes of deleted sessions: %s", ", ".join(removed))


def _remove_from_index(home: Home) -> None:
    """What is to be found no more; an index that is not there has nothing."""
    if home.search_db.is_file():
        with closing(SearchIndex(home.search_db)) as index:
            index.prune(home.server_db)


def _remove_payloads(home: Home, writer: Writer) -> int:
    """In a thread, which goes on where its caller is cancelled: so the connection is its own."""
    with closing(connect(home.server_db, readonly=True)) as reader:
        return loose_blobs.sweep(reader, writer.do_blocking)
