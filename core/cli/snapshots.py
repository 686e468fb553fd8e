"""`tiphys snapshot`, `snapshots` and `restore-session`."""

from __future__ import annotations

import time
from contextlib import closing

import click
import msgspec

from core.agents.snapshot_store import SnapshotStore
from core.cli.log_access import do, reading
from core.cli.output import emit, json_option, note, say, table
from core.domain.events import SnapshotFailed, SnapshotTaken, decode_stored
from core.domain.plural import counted
from core.protocol.operations import Control, RestoreSession
from core.store import log
from core.store.home import Home

PATIENCE_S = 120.0
"""How long a step that is running may take before the snapshot is waited for no longer; it is taken all the same."""


@click.command()
@click.argument("session")
@json_option
def snapshot(session: str, as_json: bool) -> int:
    """Save files, terminals and journal of SESSION after the step that is running; waits for it."""
    home = Home.default()
    with reading(home) as conn:
        before = log.head(conn, session)
    do(session, Control(control="snapshot"), home)
    found = _await(home, session, before)
    if found is None:
        note("The running step takes long; the snapshot is taken after it.")
    elif isinstance(found, SnapshotTaken):
        emit(_line(session, found, True)) if as_json else say(
            f"{found.id}: step {found.step}, {counted(found.files, 'file')}, {counted(found.bytes, 'byte')}, "
            f"{found.added:,} of them new, {found.seconds:.2f} s")
    else:
        note(f"No snapshot could be taken: {found.reason}")
        return 1
    return 0


def _await(home: Home, session: str, after: int) -> SnapshotTaken | SnapshotFailed | None:
    until = time.monotonic() + PATIENCE_S
    with reading(home) as conn:
        while time.monotonic() < until:
            for placed in log.read_all(conn, session, after=after):
                fact, after = decode_stored(placed.body).fact, placed.seq
                if isinstance(fact, SnapshotTaken | SnapshotFailed) and fact.cause == "person":
                    return fact
            time.sleep(0.1)
    return None


@click.command()
@click.argument("session", required=False)
@json_option
def snapshots(session: str | None, as_json: bool) -> None:
    """List the snapshots of SESSION, or of all: what each holds and costs, and whether it is on this computer still."""
    home = Home.default()
    with reading(home) as conn, closing(SnapshotStore(home.path)) as store:
        names = [session] if session else [row.session for row in log.rows(conn) if row.origin == "live"]
        found = [(name, fact) for name in names for fact in log.snapshots(conn, name)]
        here = {one.id for name in names for one in store.of(name)}
        stored = store.pieces.bytes_stored()
    if as_json:
        for name, fact in found:
            emit(_line(name, fact, fact.id in here))
        return
    table(("snapshot", "session", "step", "cause", "files", "bytes", "new", "seconds", "here"),
          [(f.id, name, f.step, f.cause, f.files, f.bytes, f.added, f"{f.seconds:.2f}", "yes" if f.id in here else "no")
           for name, f in found])
    say(f"All snapshots together take {counted(stored, 'byte')}.")
    if found and session:
        for one in found[-1][1].not_saved:
            say(f"not saved by the last: {one.kind} {one.host} {one.what}".rstrip())


def _line(session: str, fact: SnapshotTaken, is_here: bool) -> dict[str, object]:
    fields: dict[str, object] = msgspec.to_builtins(fact)
    return {"session": session, "snapshot": fields.pop("id", ""), "cause": "", "files": 0, "bytes": 0, "added": 0,
            "seconds": 0.0, "not_saved": [], **{k: v for k, v in fields.items() if k not in ("type", "images")},
            "here": is_here}


@click.command("restore-session")
@click.argument("session")
@click.option("--snapshot", "id", default="", help="This one; without it, the newest on this computer.")
@json_option
def restore_session(session: str, id: str, as_json: bool) -> None:
    """Bring SESSION back from a snapshot: its journal if that is gone, and the files of its hosts when it next works.

    A session that ended then goes on with `tiphys continue`. From a snapshot before its last step: `tiphys branch`.
    """
    home = Home.default()
    chosen = id or _newest(home, session)
    result = do(session, RestoreSession(snapshot=chosen), home)
    with reading(home) as conn:
        steps = {one.id: one.step for one in log.snapshots(conn, session)}
        step = steps.get(chosen, log.row(conn, session).steps)
    if as_json:
        emit({"session": session, "step": step, **result})
    else:
        say(f"Session {session} is as after step {step} (journal {result['journal']}); its hosts get their files "
            "when it next works.")


def _newest(home: Home, session: str) -> str:
    with closing(SnapshotStore(home.path)) as store:
        return store.last(session).id
