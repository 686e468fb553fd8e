"""A session that was carried out again held against the first time: where they differ first, in results or files."""

from itertools import zip_longest

import msgspec

from core.agents.saved_trees import paths_of
from core.agents.snapshot_store import Snapshot, SnapshotStore
from core.domain.errors import NotFound
from core.domain.step import Observation, StepBody, decode_body
from core.store import blobs, log
from core.store.sqlite import Connection


class FirstDifference(msgspec.Struct, frozen=True, kw_only=True):
    """What is another thing the second time: of a step's `action`-th action (from 1; 0: the step is missing), or, where
    `path` is set, of a file after `step`."""

    step: int
    action: int = 0
    tool: str = ""
    path: str = ""
    what: str = ""
    before: str = ""
    after: str = ""

    @property
    def sentence(self) -> str:
        """The difference in English."""
        if self.path:
            return f"After step {self.step}, {self.path} is another: {self.what}."
        if not self.action:
            return f"Step {self.step} {self.what}."
        return (f"Step {self.step}, action {self.action} ({self.tool}): {self.what} was {self.before!r} and is "
                f"{self.after!r}.")


def first_difference(conn: Connection, store: SnapshotStore, session: str, again: str, last: int
                     ) -> FirstDifference | None:
    """Where the second time differs first; None where all results and, as far as both were saved, all files agree."""
    for number in range(1, last + 1):
        before, after = _body(conn, session, number), _body(conn, again, number)
        if before is None:  # of the session that this one branched from
            continue
        if after is None:
            return FirstDifference(step=number, what="was not taken again")
        if found := _of_step(number, before, after):
            return found
    return _of_files(store, session, again, last)


def _body(conn: Connection, session: str, number: int) -> StepBody | None:
    found = log.tellings(conn, session, number)
    return decode_body(blobs.get(conn, found[-1].body)) if found else None


def _of_step(number: int, before: StepBody, after: StepBody) -> FirstDifference | None:
    for place, action in enumerate(before.actions, 1):
        old, new = before.observations[place - 1], after.observations[place - 1]
        for what, was, now in _aspects(old, new):
            if was != now:
                return FirstDifference(step=number, action=place, tool=action.tool, what=what, before=was[:300],
                                       after=now[:300])
    return None


def _aspects(old: Observation, new: Observation) -> list[tuple[str, str, str]]:
    """What is held against each other, as text: how it ended, then the first line of output that differs."""
    errors = [one.error.kind if one.error else "" for one in (old, new)]
    lines = zip_longest(old.output.text.splitlines(), new.output.text.splitlines(), fillvalue="")
    place, was, now = next(((n, a, b) for n, (a, b) in enumerate(lines, 1) if a != b), (0, "", ""))
    return [("the status", old.status, new.status), ("the exit code", str(old.exit_code), str(new.exit_code)),
            ("the error", *errors), (f"line {place} of the output", was, now)]  # type: ignore[list-item]


def _of_files(store: SnapshotStore, session: str, again: str, last: int) -> FirstDifference | None:
    """Contents and permissions; times are others each time."""
    try:
        before, after = store.last(session, last), store.last(again, last)
    except NotFound:
        return None
    if before.step != after.step:
        return None
    old, new = _files(store, before), _files(store, after)
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            what = "it is new" if path not in old else "it is gone" if path not in new else "its content or permissions"
            return FirstDifference(step=before.step, path=path, what=what)
    return None


def _files(store: SnapshotStore, snapshot: Snapshot) -> dict[str, tuple[object, ...]]:
    return {f"{host}:{name}/{path}": (entry.kind, entry.mode, entry.pieces, entry.target)
            for host, saved in snapshot.hosts.items() for name, tree in saved.trees.items()
            for path, entry in paths_of(store.pieces, tree)}
