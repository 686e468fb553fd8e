"""What one client asks beside its commands: nothing is stored, and what was not answered may be asked again."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from core.domain.errors import ReportableError, error_kind
from core.domain.host_rights import HostRight
from core.domain.task_terms import terms_of
from core.environments.registry import with_horizon
from core.protocol.messages import Failed, Found, ListTasks, OfferedTask, Search, Tasks
from core.protocol.server_state import Bucket
from core.server.hub import Hub
from core.server.lookups import Lookups
from core.server.outlets import Door
from core.tasks.allowances import asked

_log = logging.getLogger("wire")

MAX_TASKS, MAX_TITLE, MAX_HOSTS, MAX_HOST, MAX_ASKS, MAX_ASK = 500, 200, 8, 40, 12, 120
"""What is told of a catalogue: an answer stays far below the largest frame."""

QUESTIONS_PER_S, QUESTIONS_AT_ONCE = 4.0, 8.0
"""How often one connection is answered; who asks more often is answered later, and only what was asked last."""


class QuestionQueue:
    """One connection's questions: of each kind the newest waits, and one is answered at a time.

    `start` runs a coroutine function as long as the connection is there; it is called with the first question.
    """

    def __init__(self, hub: Hub, door: Door, start: Callable[[Callable[[], Coroutine[Any, Any, None]], str], object]
                 ) -> None:
        self._hub, self._door, self._start = hub, door, start
        self._is_started = False
        self._waiting: dict[type[Search | ListTasks], Search | ListTasks] = {}
        self._more = asyncio.Event()
        self._bucket = Bucket(QUESTIONS_PER_S, QUESTIONS_AT_ONCE)

    def ask(self, question: Search | ListTasks) -> None:
        """Take a question; one of its kind that still waits is forgotten."""
        self._waiting[type(question)] = question
        self._more.set()
        if not self._is_started:
            self._is_started = True
            self._start(self._run, "questions")

    async def _run(self) -> None:
        while True:
            await self._more.wait()
            await asyncio.sleep(self._bucket.wait(asyncio.get_running_loop().time()))
            self._more.clear()
            while self._waiting:
                await self._answer(self._waiting.pop(next(iter(self._waiting))))

    async def _answer(self, question: Search | ListTasks) -> None:
        try:
            await self._door.say(await self._found(question))
        except ReportableError as error:
            await self._door.say(Failed(kind=error_kind(error), code=error.code, sentence=error.sentence,
                                        about=question.id))

    async def _found(self, question: Search | ListTasks) -> Found | Tasks:
        if isinstance(question, Search):
            return await self._hub.search.find(question)
        return await asyncio.to_thread(_tasks, question, self._hub.lookups)


def _tasks(question: ListTasks, lookups: Lookups) -> Tasks:
    """The catalogue as its files are now."""
    catalogue = lookups.catalogue
    problems = catalogue.problems()
    for problem in problems:
        _log.warning("%s", problem.sentence)
    offered = [OfferedTask(task=entry.task.id, title=entry.task.title[:MAX_TITLE],
                        hosts=tuple(host.name[:MAX_HOST] for host in entry.task.hosts[:MAX_HOSTS]),
                        terms=terms_of(with_horizon(entry.task), entry.agent),
                        asks=tuple(map(_short, asked(entry, lookups.allowances)[0][:MAX_ASKS])))
            for entry in catalogue.entries()[:MAX_TASKS]]
    return Tasks(id=question.id, tasks=tuple(offered), unreadable=len(problems))


def _short(right: HostRight) -> HostRight:
    return HostRight(right.kind, right.name[:MAX_ASK], right.endpoint[:MAX_ASK])
