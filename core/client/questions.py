"""Questions to the server that are answered once or not at all: nothing of them is stored, nor asked again."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

from core.client.status import Status
from core.domain.errors import ProtocolMismatch, ReportableError, Unavailable, make_error
from core.protocol.messages import CAN_LIST_TASKS, CAN_SEARCH, Failed, Found, ListTasks, Search, Tasks, Wire

PATIENCE_S = 30.0
"""How long an answer may take."""

A = TypeVar("A", bound=Wire)


class PendingQuestions:
    """The questions of one client that wait for their answers. `post` sends a message."""

    def __init__(self, post: Callable[[Wire], None]) -> None:
        self._post = post
        self._asked: dict[str, asyncio.Future[Wire]] = {}

    async def search(self, search: Search, status: Status) -> Found:
        """Where the server finds words. Raises what `_ask` raises, LimitReached (search_too_long)."""
        return await self._ask(search, search.id, Found, CAN_SEARCH, status)

    async def tasks(self, question: ListTasks, status: Status) -> Tasks:
        """The tasks that the server offers. Raises what `_ask` raises."""
        return await self._ask(question, question.id, Tasks, CAN_LIST_TASKS, status)

    def take(self, message: Wire) -> bool:
        """A message came; whether it was an answer to a question."""
        name = message.about if isinstance(message, Failed) else getattr(message, "id", "")
        future = self._asked.get(name)
        if future is None or future.done():
            return False
        if isinstance(message, Failed):
            future.set_exception(make_error(message.kind, message.code, message.sentence, message.params))
        else:
            future.set_result(message)
        return True

    def disconnected(self) -> None:
        """The connection is gone, and with it every answer."""
        for future in self._asked.values():
            if not future.done():
                future.set_exception(_away())

    async def _ask(self, question: Wire, name: str, answer: type[A], needed: str, status: Status) -> A:
        """Raises Unavailable (server_away, no_answer), ProtocolMismatch (server_too_old), Denied (missing_scope)."""
        if status.state != "online":
            raise _away()
        if needed not in status.capabilities:
            raise ProtocolMismatch("server_too_old", f"The server's program is older and knows no {needed}.")
        future = self._asked[name] = asyncio.get_running_loop().create_future()
        self._post(question)
        try:
            async with asyncio.timeout(PATIENCE_S):
                received = await future
        except TimeoutError:
            raise Unavailable("no_answer", "The server did not answer in time.") from None
        finally:
            del self._asked[name]
        if not isinstance(received, answer):
            raise ProtocolMismatch("bad_answer", "The server answered something else than was asked.")
        return received


def _away() -> ReportableError:
    return Unavailable("server_away", "There is no connection to the server.")
