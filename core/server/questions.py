"""What one client asks beside its commands: nothing is stored, and what was not answered may be asked again."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from core.domain.errors import ReportableError, error_kind
from core.protocol.messages import Failed, Search
from core.protocol.server_state import Bucket
from core.server.hub import Hub
from core.server.outlets import Door

QUESTIONS_PER_S, QUESTIONS_AT_ONCE = 4.0, 8.0
"""How often one connection is answered; who asks more often is answered later, and only what was asked last."""


class Questions:
    """One connection's questions: of each kind the newest waits, and one is answered at a time.

    `start` runs a coroutine function as long as the connection is there; it is called with the first question.
    """

    def __init__(self, hub: Hub, door: Door, start: Callable[[Callable[[], Coroutine[Any, Any, None]], str], object]
                 ) -> None:
        self._hub, self._door, self._start = hub, door, start
        self._is_started = False
        self._waiting: dict[type[Search], Search] = {}
        self._more = asyncio.Event()
        self._bucket = Bucket(QUESTIONS_PER_S, QUESTIONS_AT_ONCE)

    def ask(self, question: Search) -> None:
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

    async def _answer(self, question: Search) -> None:
        try:
            await self._door.say(await self._hub.search.find(question))
        except ReportableError as error:
            await self._door.say(Failed(kind=error_kind(error), code=error.code, sentence=error.sentence,
                                        about=question.id))
