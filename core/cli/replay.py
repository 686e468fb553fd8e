"""`tiphys replay`: a session is carried out again with its recorded answers, and held against what it was."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import click
import msgspec

from core.agents.replayed import FirstDifference, first_difference
from core.agents.snapshot_store import SnapshotStore
from core.cli.branch import make_branches
from core.cli.log_access import reading
from core.cli.number import Whole
from core.cli.output import emit, json_option, note, say
from core.cli.watch import watch_to_end
from core.domain.plural import counted
from core.protocol.operations import BranchSession
from core.store import log
from core.store.home import Home
from core.store.sqlite import connect


@click.command()
@click.argument("session")
@click.option("--step", type=Whole(1), help="Only up to this step; without it, to the last.")
@json_option
def replay(session: str, step: int | None, as_json: bool) -> int:
    """Carry SESSION out again from its start, in fresh sandboxes, with its recorded answers; waits for the end.

    The exit status is 0 where every result and every file is the same, 1 where not: then the first difference is named.
    """
    home = Home.default()
    with reading(home) as conn:
        last = step or log.row(conn, session).steps
    op = BranchSession(parent=session, step=last, from_start=True, ends=True, arm="replay")
    [name] = make_branches(home, op)
    note(f"Session {name} takes the steps of {session} again.")
    watch_to_end(home, name, lambda _trajectory, _event: None)
    difference = _difference(home.path, session, name, last)
    if as_json:
        emit({"session": session, "replay": name, "steps": last, "is_same": difference is None,
              "difference": None if difference is None else msgspec.to_builtins(difference)})
    else:
        say(difference.sentence if difference else f"The same after {counted(last, 'step')}: results and files.")
    return 0 if difference is None else 1


def _difference(home: object, session: str, name: str, last: int) -> FirstDifference | None:
    folder = Path(str(home))
    with closing(connect(folder / "server.db", readonly=True)) as conn, closing(SnapshotStore(folder)) as store:
        return first_difference(conn, store, session, name, last)
