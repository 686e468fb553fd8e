"""The seat of a model in a foreign episode: whatever the episode asks its model, the session answers."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import Any, NamedTuple


class Ended(NamedTuple):
    """How an episode ended: its reward, as the package gives it, and that by its parts; or why it failed."""

    reward: Any = None
    parts: dict[str, Any] = {}
    problem: str = ""


class Seat(ABC):
    """One episode and the question that it waits with."""

    def __init__(self) -> None:
        self.question: dict[str, Any] = {}
        self._episode: asyncio.Task[Any]
        self._changed = asyncio.Event()
        self._answer: asyncio.Future[dict[str, Any]] | None = None

    def sit(self, episode: asyncio.Task[Any]) -> None:
        """The episode that runs."""
        self._episode = episode
        episode.add_done_callback(lambda _: self._changed.set())

    async def asks(self, question: dict[str, Any]) -> dict[str, Any]:
        """The session's answer to a request of the episode; both as OpenAI's chat completions have them."""
        self._answer = asyncio.get_running_loop().create_future()
        self.question = question
        self._changed.set()
        return await self._answer

    async def waits(self) -> bool:
        """Until it asks, or is over; whether it asks."""
        await self._changed.wait()
        return not self._episode.done()

    def answer(self, message: dict[str, Any]) -> None:
        """Say what the model says."""
        if not self._episode.done():
            self._changed.clear()
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(message)

    @abstractmethod
    def stop(self) -> None:
        """No further turn: it ends, and is scored as it is."""

    def ended(self) -> Ended:
        """How an episode ended that is over."""
        if (error := self._episode.exception()) is not None:
            return Ended(problem=f"{type(error).__name__}: {error}")
        return self.outcome(self._episode.result())

    @abstractmethod
    def outcome(self, result: Any) -> Ended:
        """How it ended, by what the episode returned."""

    async def leave(self) -> None:
        """End it without a score, where it is not over."""
        self._episode.cancel()
        await asyncio.wait([self._episode])
