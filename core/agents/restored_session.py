"""Bringing a session back whose journal or sandboxes are gone: from a snapshot, as far as the log has come since.

The log only grows. So a session goes on in place only from a snapshot after whose step no other one was finished; from
an earlier one a branch goes on (`core.agents.branching`).
"""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from core.agents import attention
from core.agents.journal import Journal
from core.agents.saved_journal import JournalPart, fill_journal, read_tables
from core.agents.snapshot_store import Snapshot, SnapshotStore
from core.agents.states import read_progress, save_progress
from core.agents.subagent import SUBAGENTS, SubagentCall
from core.domain import events as e
from core.domain.errors import Conflict
from core.domain.ids import subagent_id
from core.store.lock import FileLock

_PASSED_OVER = (e.FileChanged, e.SearchMade, e.SnapshotFailed, e.SnapshotTaken, e.SubmissionMade, e.GuidanceDelivered)
"""What the log may say beyond a snapshot without meaning anything for the agent that goes on from it."""

Past = Callable[[str], list[bytes]]
"""The log's events of a session that came from its runner, in order; none of a session that is not there."""


def restore_in_place(folder: Path, store: SnapshotStore, snapshot: Snapshot, past: Past) -> bool:
    """Have the next runner of a session begin from a snapshot; whether the journal had to be made anew, too.

    Raises Conflict: runner_exists;
    snapshot_too_old where the log, or the journal that is there, has come further.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(folder / "runner.lock")
    if not lock.take():
        raise Conflict("runner_exists", f"A runner works on session {snapshot.session}: stop it first.",
                       session=snapshot.session)
    with lock:
        is_lost = not (folder / "journal.db").exists()
        _restore_subagents(folder / SUBAGENTS, store, snapshot, past)
        if is_lost:
            _make_journal(folder, store, snapshot, past)
        with closing(Journal(folder / "journal.db", snapshot.session)) as journal:
            if (steps := read_progress(journal).steps) != snapshot.step:
                raise _too_old(snapshot, steps)
            journal.put_slot("restore", snapshot.id)
    return is_lost


def _restore_subagents(folder: Path, store: SnapshotStore, snapshot: Snapshot, past: Past) -> None:
    """The journals of subagents that are not there, as far as the log has come; one that is there has come as far."""
    folder.mkdir(mode=0o700, exist_ok=True)
    for name, part in snapshot.subagents.items():
        if not (folder / name).exists():
            with _made(folder / name, store, part) as journal:
                for event in _events(past, journal.session)[part.entries :]:
                    journal.sql("INSERT INTO entry (body) VALUES (?)", (e.encode_event(event),))
                    _follow_subagent(journal, event.fact)


def _follow_subagent(journal: Journal, fact: e.Fact) -> None:
    """A subagent ends with the program that called it, so what counts is what it must not tell twice."""
    progress = read_progress(journal)
    if isinstance(fact, e.SessionStateChanged):
        save_progress(journal, msgspec.structs.replace(progress, state=fact.state))
    elif isinstance(fact, e.StepAdded):
        save_progress(journal, msgspec.structs.replace(progress, steps=fact.head.number))
        journal.put_slot("open", None)


def _make_journal(folder: Path, store: SnapshotStore, snapshot: Snapshot, past: Past) -> None:
    """Under another name first: what is broken off leaves nothing."""
    with _made(folder / "journal.db", store, snapshot.journal) as journal:
        for event in _events(past, snapshot.session)[snapshot.journal.entries :]:
            journal.sql("INSERT INTO entry (body) VALUES (?)", (e.encode_event(event),))
            _follow(journal, snapshot, event.fact)
        _pass_over_calls(journal, past)


def _events(past: Past, session: str) -> list[e.Event]:
    return [e.decode_event(body) for body in past(session)]


@contextmanager
def _made(path: Path, store: SnapshotStore, part: JournalPart) -> Iterator[Journal]:
    """A journal of a snapshot, to be followed up in one transaction; it gets its name last."""
    made = path.with_name(f"{path.name}.restored")
    for stale in path.parent.glob(f"{made.name}*"):
        stale.unlink()
    session = msgspec.json.decode(read_tables(store.pieces, part).value("session") or b'""', type=str)
    with closing(Journal(made, session)) as journal:
        fill_journal(journal, store.pieces, part)
        with journal.transaction("catch up"):
            yield journal
    made.replace(path)


def _pass_over_calls(journal: Journal, past: Past) -> None:
    """Subagents that were called since are in the log for good; the next one gets a name of its own."""
    calls = list(journal.slot("subagents", tuple[SubagentCall, ...]) or ())
    while past(called := subagent_id(journal.session, len(calls) + 1)):
        calls.append(SubagentCall(session=called, line=f"subagent-{len(calls) + 1}", caller=journal.session, step=0,
                                  title="", asked="", command="", is_sent=True))
    journal.put_slot("subagents", calls or None)


def _follow(journal: Journal, snapshot: Snapshot, fact: e.Fact) -> None:
    """What the agent had told since means for the journal that goes on."""
    progress = read_progress(journal)
    match fact:
        case e.SessionStateChanged(state=state):
            progress = msgspec.structs.replace(progress, state=state)
        case e.AttentionRaised(kind=kind, evidence=evidence):
            progress, _ = attention.mark(progress, kind, evidence or kind)
        case e.AttentionCleared(kind=kind):
            progress, _ = attention.mark(progress, kind, "")
        case e.ScoreGiven(ordinal=ordinal, step=step, failed=is_failed):
            counts = not is_failed and step > progress.steps
            progress = msgspec.structs.replace(progress, submissions=ordinal, evaluations=progress.evaluations + counts)
        case e.TerminalOutput(host=host, terminal=name, offset=offset, size=size):
            journal.sql("INSERT OR REPLACE INTO terminal VALUES (?, ?)", (f"{host}/{name}", offset + size))
        case e.StepStarted(number=number) if number == snapshot.step + 1:
            journal.put_slot("begun", fact)
        case _ if not isinstance(fact, _PASSED_OVER):
            raise _too_old(snapshot, snapshot.step + 1)
    save_progress(journal, progress)


def _too_old(snapshot: Snapshot, step: int) -> Conflict:
    return Conflict("snapshot_too_old", f"Session {snapshot.session} has come to step {step}, and the snapshot is of "
                    f"step {snapshot.step}: what was done since is in the log for good. To go on from there: tiphys "
                    f"branch {snapshot.session} --step {snapshot.step}.", session=snapshot.session, step=snapshot.step)
