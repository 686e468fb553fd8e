"""Search in the server's log: one worker process for everybody, asked in turn, killed when it does not answer."""

import asyncio
import logging

from core import program
from core.domain.errors import LimitReached, Unavailable
from core.protocol.messages import Found, Search
from core.server.worker_process import WorkerProcess
from core.store.home import Home
from core.store.search_text import MAX_QUERY
from core.workers.search import LogHits, SearchLog

ANSWER_S = 15.0
"""A worker that says nothing for so long is killed: what it looks for takes less, or is given up by itself."""

MAX_LIMIT = 200
_MAX_LINE = 16 * 1024 * 1024

_log = logging.getLogger("wire")


class LogSearch:
    """The search of one home. Nothing runs before the first question."""

    def __init__(self, home: Home) -> None:
        self._turn = asyncio.Lock()
        command = program.command("search", str(home.server_db), str(home.search_db))
        self._worker = WorkerProcess(home, command, _MAX_LINE)

    async def find(self, search: Search) -> Found:
        """The answer to a search. Raises LimitReached (search_too_long), Unavailable (search_failed)."""
        limit = min(max(1, search.limit), MAX_LIMIT)
        async with self._turn:
            found = await self._ask(SearchLog(words=search.words[:MAX_QUERY], session=search.session or None,
                                              limit=limit))
        return Found(id=search.id, hits=found.hits, more=found.more, behind=found.behind)

    async def close(self) -> None:
        """End the worker; the index is as its last commit has it."""
        await self._worker.close()

    async def _ask(self, request: SearchLog) -> LogHits:
        try:
            return await self._worker.ask(request, ANSWER_S)
        except TimeoutError:
            _log.warning("the search worker gave no answer for %g s and was ended", ANSWER_S)
            raise LimitReached("search_too_long", f"The search took longer than {ANSWER_S:g} s.") from None
        except (OSError, EOFError, ValueError) as error:
            raise Unavailable("search_failed", "The server's search ended unexpectedly; its log says more.") from error
