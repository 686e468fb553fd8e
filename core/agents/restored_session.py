"""Bringing a session back whose journal or sandboxes are gone: from a snapshot, as far as the log has come since.

The log only grows. So a session goes on in place only from a snapshot after whose step no other one was finished; from
an earlier one a branch goes on (`core.agents.branching`).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from core.agents import attention
from core.agents.journal import Journal
from core.agents.saved_journal import fill_journal
from core.agents.snapshot_store import Snapshot, SnapshotStore
from core.agents.states import read_progress, save_progress
from core.domain.errors import Conflict
from core.domain.events import (
    AttentionCleared,
    AttentionRaised,
    Event,
    Fact,
    FileChanged,
    GuidanceDelivered,
    ScoreGiven,
    SearchMade,
    SessionStateChanged,
    SnapshotFailed,
    SnapshotTaken,
    StepStarted,
    SubmissionMade,
    TerminalOutput,
    decode_event,
    encode_event,
)
from core.store.lock import FileLock

_PASSED_OVER = (FileChanged, SearchMade, SnapshotFailed, SnapshotTaken, SubmissionMade, GuidanceDelivered)
"""What the log may say beyond a snapshot without meaning anything for the agent that goes on from it."""


def restore_in_place(folder: Path, store: SnapshotStore, snapshot: Snapshot, bodies: Sequence[bytes]) -> bool:
    """Have the next runner of a session begin from a snapshot; whether the journal had to be made anew, too.

    `bodies` are the log's events that came from the session's runner, in order. Raises Conflict: runner_exists;
    snapshot_too_old where the log, or the journal that is there, has come further.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder / "runner.lock")
    if not lock.take():
        raise Conflict("runner_exists", f"A runner works on session {snapshot.session}: stop it first.",
                       session=snapshot.session)
    try:
        is_lost = not (folder / "journal.db").exists()
        if is_lost:
            _make_journal(folder, store, snapshot, [decode_event(body) for body in bodies])
        journal = Journal(folder / "journal.db", snapshot.session)
        try:
            _mark(journal, snapshot)
        finally:
            journal.close()
    finally:
        lock.release()
    return is_lost


def _mark(journal: Journal, snapshot: Snapshot) -> None:
    if read_progress(journal).steps != snapshot.step:
        raise _too_old(snapshot, read_progress(journal).steps)
    journal.put_slot("restore", snapshot.id)


def _make_journal(folder: Path, store: SnapshotStore, snapshot: Snapshot, events: Sequence[Event]) -> None:
    """Under another name first: what is broken off leaves nothing."""
    made = folder / "journal.db.restored"
    for path in folder.glob(f"{made.name}*"):
        path.unlink()
    journal = Journal(made, snapshot.session)
    try:
        fill_journal(journal, store.pieces, snapshot.journal)
        with journal.transaction("catch up"):
            for event in events[snapshot.journal.entries :]:
                journal.sql("INSERT INTO entry (body) VALUES (?)", (encode_event(event),))
                _follow(journal, snapshot, event.fact)
    finally:
        journal.close()
    made.replace(folder / "journal.db")


def _follow(journal: Journal, snapshot: Snapshot, fact: Fact) -> None:
    """What the agent had told since means for the journal that goes on."""
    progress = read_progress(journal)
    match fact:
        case SessionStateChanged(state=state):
            progress = msgspec.structs.replace(progress, state=state)
        case AttentionRaised(kind=kind, evidence=evidence):
            progress, _ = attention.raise_(progress, kind, evidence)
        case AttentionCleared(kind=kind):
            progress, _ = attention.clear(progress, kind)
        case ScoreGiven(ordinal=ordinal, step=step, failed=is_failed):
            counts = not is_failed and step > progress.steps
            progress = msgspec.structs.replace(progress, submissions=ordinal, evaluations=progress.evaluations + counts)
        case TerminalOutput(host=host, terminal=name, offset=offset, size=size):
            journal.sql("INSERT OR REPLACE INTO terminal VALUES (?, ?)", (f"{host}/{name}", offset + size))
        case StepStarted(number=number) if number == snapshot.step + 1:
            journal.put_slot("begun", fact)
        case _ if not isinstance(fact, _PASSED_OVER):
            raise _too_old(snapshot, snapshot.step + 1)
    save_progress(journal, progress)


def _too_old(snapshot: Snapshot, step: int) -> Conflict:
    return Conflict("snapshot_too_old", f"Session {snapshot.session} has come to step {step}, and the snapshot is of "
                    f"step {snapshot.step}: what was done since is in the log for good. To go on from there: tiphys "
                    f"branch {snapshot.session} --step {snapshot.step}.", session=snapshot.session, step=snapshot.step)
