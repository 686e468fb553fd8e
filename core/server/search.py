"""Search in the server's log: one worker process for everybody, asked in turn, killed when it does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from asyncio.subprocess import PIPE, Process

from core.domain.errors import LimitReached, Unavailable
from core.protocol.messages import Found, Search
from core.server.child_environment import child_environment
from core.store.home import Home
from core.store.search_text import MAX_QUERY
from core.workers.calls import Calls
from core.workers.search import LogHits, SearchLog

ANSWER_S = 15.0
"""A worker that says nothing for so long is killed: what it looks for takes less, or is given up by itself."""

MAX_LIMIT = 200
_MAX_LINE = 16 * 1024 * 1024

_log = logging.getLogger("wire")


class LogSearch:
    """The search of one home. Nothing runs before the first question."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._turn = asyncio.Lock()
        self._worker: Process | None = None
        self._calls = Calls()

    async def find(self, search: Search) -> Found:
        """The answer to a search. Raises LimitReached (search_too_long), Unavailable (search_failed)."""
        limit = min(max(1, search.limit), MAX_LIMIT)
        async with self._turn:
            found = await self._ask(SearchLog(words=search.words[:MAX_QUERY], session=search.session or None,
                                              limit=limit))
        return Found(id=search.id, hits=found.hits, more=found.more, behind=found.behind)

    async def close(self) -> None:
        """End the worker; the index is as its last commit has it."""
        worker, self._worker = self._worker, None
        if worker is not None:
            with contextlib.suppress(ProcessLookupError):
                worker.kill()
            await worker.wait()

    async def _ask(self, request: SearchLog) -> LogHits:
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._answer(request)
        except TimeoutError:
            _log.warning("the search worker gave no answer for %g s and was ended", ANSWER_S)
            await self.close()
            raise LimitReached("search_too_long", f"The search took longer than {ANSWER_S:g} s.") from None
        except (OSError, EOFError, ValueError) as error:
            await self.close()
            raise Unavailable("search_failed", "The server's search ended unexpectedly; its log says more.") from error

    async def _answer(self, request: SearchLog) -> LogHits:
        """The worker's answer; one to a request whose asker left is passed by."""
        worker = self._worker
        if worker is None or worker.returncode is not None:
            worker = self._worker = await self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        found: asyncio.Future[LogHits] = asyncio.get_running_loop().create_future()
        self._calls.forget()
        self._calls.ask(request, worker.stdin.write, found.set_result,
                        lambda problem: found.set_exception(problem.error))
        await worker.stdin.drain()
        while not found.done():
            if not (line := await worker.stdout.readline()):
                raise EOFError
            self._calls.take(line)
        return found.result()

    async def _start(self) -> Process:
        home = self._home
        command = [sys.executable, "-m", "core.server.search_worker", str(home.server_db), str(home.search_db)]
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, env=child_environment(home.path), cwd=home.path, limit=_MAX_LINE)
