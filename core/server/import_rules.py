"""The rules judge a session while it is imported: in the transaction that stores it, by the events and payloads that
are at hand there, so that nothing is read, unpacked and decoded a second time.

Only the program's own rules do, which are trusted and quick. Where a person has rules of their own, a worker process
asks all of them when the import is over (`core.server.end_rules`), as of every session that was not judged here.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from core.domain.errors import InvalidInput, NotFound, ReportableError
from core.domain.events import Event, encode_event
from core.domain.step import StepBody, decode_body
from core.domain.trajectory import Trajectory
from core.server.end_rules import is_over
from core.store import blobs, log
from core.store.sqlite import Connection as Database
from core.supervision.propose import propose
from core.supervision.rule import Rule
from core.supervision.rule_book import has_own_rules, rules_of
from core.supervision.rule_file import judges_at_end

MOST_HELD = 20_000
"""Events of a session up to which its steps are held in memory while it is judged; those of a longer one are read from
the log again."""


class ImportRules:
    """The rules of a folder for what is imported now, one session after the other; `judged` gets how many steps of each
    they saw."""

    def __init__(self, folder: Path, judged: dict[str, int]) -> None:
        self._folder, self._judged = folder, judged
        self._can_judge = not has_own_rules(folder)
        self._of_task: dict[str, list[Rule]] = {}
        self._trajectory: Trajectory | None = None

    def begin(self, conn: Database, session: str, count: int) -> None:
        """The `count` events of a session come next; one that was here before is left for the end."""
        read = partial(log.bodies, conn, session) if count > MOST_HELD else None
        is_asked = self._can_judge and not log.head(conn, session)
        self._trajectory = Trajectory(session, read) if is_asked else None

    def take(self, events: Iterable[Event]) -> None:
        """These of its events were stored. What cannot be folded is left for the end, too, which says why."""
        if self._trajectory is None:
            return
        try:
            for event in events:
                self._trajectory.take(event)
        except ReportableError:
            self._trajectory = None

    def judge(self, conn: Database, payloads: Mapping[str, bytes]) -> None:
        """Add what the rules say of the session, which is stored whole now."""
        trajectory, self._trajectory = self._trajectory, None
        if trajectory is None or trajectory.created is None:
            return
        row = log.row(conn, trajectory.session)
        if not is_over(row) or not (rules := self._rules(row.task)):
            return
        if found := _words(trajectory, _bodies(conn, payloads), rules):
            log.append(conn, row.session, [encode_event(event) for event in found], found)
        self._judged[row.session] = row.steps

    def _rules(self, task: str) -> list[Rule]:
        """The rules for a task; none where they judge only when they are asked to, or cannot be used, which the import
        says when it is over."""
        task = task if self._folder.is_dir() else ""  # else nothing is set for any
        if task not in self._of_task:
            with suppress(InvalidInput):
                asked = judges_at_end(self._folder, task)
                self._of_task[task] = rules_of(self._folder, task) if asked else []
        return self._of_task.setdefault(task, [])


def _words(trajectory: Trajectory, body_of: Callable[[str], StepBody | None], rules: Sequence[Rule]) -> list[Event]:
    gc.disable()  # what is read stays until the answer: looking through it took a sixth of a long session's time
    try:
        return propose(trajectory, body_of, rules)
    finally:
        gc.enable()


def _bodies(conn: Database, payloads: Mapping[str, bytes]) -> Callable[[str], StepBody | None]:
    """Bodies by hash, None where nobody has one; `payloads` are those that were stored now."""

    def body(name: str) -> StepBody | None:
        try:
            return decode_body(payloads[name] if name in payloads else blobs.get(conn, name))
        except (NotFound, InvalidInput):
            return None

    return body
