"""Search in the server's log: one worker process for everybody, asked in turn, killed when it does not answer."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import sys
from asyncio.subprocess import PIPE, Process

import msgspec

from core.domain.errors import LimitReached, Unavailable, make_error
from core.protocol.messages import Found, Search
from core.server.child_environment import child_environment
from core.server.search_worker import SearchAnswer, SearchQuestion
from core.store.home import Home
from core.store.search_text import MAX_QUERY

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
        self._number = 0

    async def find(self, search: Search) -> Found:
        """The answer to a search. Raises LimitReached (search_too_long), Unavailable (search_failed)."""
        limit = min(max(1, search.limit), MAX_LIMIT)
        async with self._turn:
            self._number += 1
            asked = SearchQuestion(id=self._number, words=search.words[:MAX_QUERY], session=search.session or None,
                             limit=limit)
            answer = await self._ask(asked)
        if answer.error is not None:
            raise make_error(*answer.error, {})
        return Found(id=search.id, hits=answer.hits, more=answer.more, behind=answer.behind)

    async def close(self) -> None:
        """End the worker; the index is as its last commit has it."""
        worker, self._worker = self._worker, None
        if worker is not None:
            with contextlib.suppress(ProcessLookupError):
                worker.kill()
            await worker.wait()

    async def _ask(self, question: SearchQuestion) -> SearchAnswer:
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._read_answer(question)
        except TimeoutError:
            _log.warning("the search worker said nothing for %g s and was ended", ANSWER_S)
            await self.close()
            raise LimitReached("search_too_long", f"The search took longer than {ANSWER_S:g} s.") from None
        except (OSError, EOFError, ValueError, msgspec.MsgspecError) as error:
            await self.close()
            raise Unavailable("search_failed", "The server's search ended unexpectedly; its log says more.") from error

    async def _read_answer(self, question: SearchQuestion) -> SearchAnswer:
        """What the worker says to a question; an answer to one whose asker left is passed by."""
        worker = self._worker
        if worker is None or worker.returncode is not None:
            worker = self._worker = await self._start()
        assert worker.stdin is not None
        assert worker.stdout is not None
        worker.stdin.write(msgspec.json.encode(question) + b"\n")
        await worker.stdin.drain()
        while line := await worker.stdout.readline():
            answer = msgspec.json.decode(line, type=SearchAnswer)
            if answer.id == question.id:
                return answer
        raise EOFError

    async def _start(self) -> Process:
        home = self._home
        command = [sys.executable, "-m", "core.server.search_worker", str(home.server_db), str(home.search_db)]
        return await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, env=child_environment(home.path), cwd=home.path, limit=_MAX_LINE)
