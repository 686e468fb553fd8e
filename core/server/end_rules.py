"""The rules judge every session when it ends, imported ones when they are here, so that nothing unjudged is trained.

A worker process asks the rules, a person's own ones too (`home/rules`): one that breaks or hangs stops nothing. What
they say stands in the log under each rule's name and version, like that of `tiphys judge`. `at_end = false` in
rules.toml switches it off, for all sessions or those of a task.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Protocol

import msgspec

from core import program
from core.aio import TaskScope
from core.domain.errors import InvalidInput, NotFound, ReportableError
from core.domain.events import StepAdded, VerdictGiven, decode_event
from core.domain.session import FINAL_STATES, SessionRow
from core.protocol.codec import check_event
from core.server.worker_process import WorkerProcess
from core.store import log
from core.store.home import Home, make_private_folder, read_small, write_private
from core.store.sqlite import Connection as Database
from core.supervision.rule_file import judges_at_end
from core.workers.rules import ProposeVerdicts

_log = logging.getLogger("session")

LOOK_PAUSE_S = 0.5
"""Sessions that changed are looked at together, so often at most."""

ANSWER_S = 300.0
"""Rules that take longer for one session are ended; it stays as it is until it grows or somebody asks."""

ATTEMPTS = 5
TOGETHER = 64
"""What is said of so many sessions is stored at once: a commit for each small one costs more than to judge it."""

_MAX_LINE = 256 * 1024 * 1024


class WritableLog(Protocol):
    """A home's log: that of a server (`Hub`), or of a command while no server runs."""

    reader: Database

    async def do(self, session: str, work: Callable[[Database], bool]) -> bool:
        """The result of work on a session once it is committed."""


class EndRules:
    """Judges sessions that are over, one after the other. `judged` is how many steps the rules have seen of each: a
    derived file, without which they say nothing twice, but look again."""

    def __init__(self, log: WritableLog, home: Home) -> None:
        self._log, self._rules = log, home.path / "rules"
        self._file = home.path / "cache" / "judged_at_end.json"
        self._judged: dict[str, int] = {}
        self._changed: dict[str, None] = {}
        self._wake = asyncio.Event()
        command = program.command("rules", "--log", str(home.server_db), "--rules", str(self._rules))
        self._worker = WorkerProcess(home, command, _MAX_LINE)

    async def judge(self, sessions: Iterable[str], judged: Mapping[str, int]) -> None:
        """Judge those of some sessions that are over, once; `judged` tells of those that were judged elsewhere."""
        self._load()
        self._judged.update(judged)
        self._changed.update(dict.fromkeys(sessions))
        await self._judge_changed()
        if judged:
            self._save()

    async def run(self, on_changed: list[Callable[[str], None]], on_deleted: list[Callable[[str], None]]) -> None:
        """Judge what is over, then what comes to be over, until cancelled. `on_changed` is called with a session after
        each commit that touched it, `on_deleted` with one that is gone."""
        self._load()
        on_changed.append(self._on_changed)
        on_deleted.append(self._on_deleted)
        for row in log.rows(self._log.reader):
            self._on_changed(row.session)
        while True:
            await self._wake.wait()
            self._wake.clear()
            await self._judge_changed()
            await asyncio.sleep(LOOK_PAUSE_S)

    async def close(self) -> None:
        """End the worker."""
        await self._worker.close()

    def _load(self) -> None:
        self._judged = read_small(self._file, dict[str, int], self._judged)

    def _on_changed(self, session: str) -> None:
        self._changed[session] = None
        self._wake.set()

    def _on_deleted(self, session: str) -> None:
        """What comes back under its id is judged anew."""
        self._judged.pop(session, None)

    async def _judge_changed(self) -> None:
        changed, self._changed = self._changed, {}
        due = [row for session in changed if (row := self._row(session)) is not None and self._is_due(row)]
        for first in range(0, len(due), TOGETHER):
            await self._judge_together(due[first : first + TOGETHER])
        if due:
            await self._worker.close()
            self._save()

    def _row(self, session: str) -> SessionRow | None:
        with suppress(NotFound):
            row = log.row(self._log.reader, session)
            return None if row.is_hidden else row
        return None

    def _is_due(self, row: SessionRow) -> bool:
        """Whether a session is over, and has steps that the rules were not asked about."""
        return is_over(row) and self._judged.get(row.session, 0) < row.steps

    async def _judge_together(self, rows: Sequence[SessionRow]) -> None:
        """Ask of each, then store what was said of all; who grew meanwhile is asked about again."""
        for _ in range(ATTEMPTS):
            asked = [(row, work) for row in rows if (work := await self._asked(row)) is not None]
            async with TaskScope("rules") as scope:
                tasks = [(row, scope.spawn(self._stored(row, work), name="store")) for row, work in asked]
                rows = [row for row, task in tasks if not await task]
            if not rows:
                return

    async def _asked(self, row: SessionRow) -> Callable[[Database], bool] | None:
        """What stores the rules' words on a session; None where they say nothing new. A session that they could not
        judge is not tried again before it grows."""
        if not judges_at_end(self._rules, row.task):
            return None
        self._judged[row.session] = row.steps
        try:
            proposed = await self._worker.ask(ProposeVerdicts(session=row.session), ANSWER_S)
            bodies = [_checked(body, row.steps) for body in proposed.events]
        except _BROKE as error:
            _warn(row, error)
            return None
        return partial(_store, row.session, proposed.head, bodies) if bodies else None

    async def _stored(self, row: SessionRow, work: Callable[[Database], bool]) -> bool:
        """Whether no more is to be done for a session."""
        try:
            return await self._log.do(row.session, work)
        except _BROKE as error:
            _warn(row, error)
            return True

    def _save(self) -> None:
        """A disk that refuses costs that the rules look again after the next start."""
        try:
            make_private_folder(self._file.parent)
            write_private(self._file, msgspec.json.encode(self._judged))
        except (ReportableError, OSError) as error:
            _log.warning("%s cannot be written: %s", self._file, error)


def is_over(row: SessionRow) -> bool:
    """Whether a session is over. An import is but while its file is followed."""
    return row.state in FINAL_STATES or (row.origin != "live" and row.state != "running")


_BROKE = (ReportableError, OSError, EOFError, ValueError)


def _warn(row: SessionRow, error: Exception) -> None:
    _log.warning("the rules could not judge session %s at its end: %s", row.session, error)


def _checked(body: bytes, steps: int) -> bytes:
    """An event of the worker's, which runs a person's code: it may speak as a rule about the steps, and not else."""
    event = decode_event(check_event(body))
    fact = event.fact
    if event.author.kind != "rule" or not isinstance(fact, VerdictGiven) or not 0 < fact.step <= steps:
        raise InvalidInput("bad_opinion", f"A rule cannot say {type(fact).__name__} as {event.author.kind}.")
    return body


def _store(session: str, head: int, bodies: Sequence[bytes], conn: Database) -> bool:
    """Whether it was stored: not where the session grew, or rules spoke, after the worker had read it."""
    for placed in log.read_all(conn, session, after=head):
        event = placed.event
        if isinstance(event.fact, StepAdded) or (isinstance(event.fact, VerdictGiven) and event.author.kind == "rule"):
            return False
    log.append(conn, session, bodies)
    return True
