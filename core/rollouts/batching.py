"""Sessions that run side by side ask one policy: their questions are answered in batches."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.llm.model import Completion, EndpointError, LanguageModel, OnText, Policy, Request

SETTLE_S = 0.004
"""A batch goes when every session waits, or when nobody came for so long."""

Question = tuple[Request, asyncio.Future[Completion]]


class Batcher:
    """Collects questions while the policy answers those before them. `sessions` says how many can ask at once;
    `in_step`: a batch waits for all of them, and is in the order of the requests' seeds, not of the clock."""

    def __init__(self, policy: Policy, sessions: Callable[[], int], *, in_step: bool = False) -> None:
        self.policy, self._sessions, self._in_step = policy, sessions, in_step
        self._waiting: list[Question] = []
        self._came = asyncio.Event()

    async def run(self) -> None:
        """Answer until cancelled. Raises what the policy raises for all of a batch."""
        while True:
            await self._came.wait()
            await self._settle()
            batch = [one for one in self._waiting if not one[1].done()]
            self._waiting.clear()
            self._came.clear()
            if batch:
                await self._answer(batch)

    async def ask(self, request: Request) -> Completion:
        """The policy's answer. Raises EndpointError, and what the policy raises."""
        future: asyncio.Future[Completion] = asyncio.get_running_loop().create_future()
        self._waiting.append((request, future))
        self._came.set()
        return await future

    async def _settle(self) -> None:
        while self._in_step and len(self._waiting) < self._sessions():
            await asyncio.sleep(SETTLE_S)
        if self._in_step:
            self._waiting.sort(key=lambda one: one[0].seed or 0)
        count = 0
        while count < len(self._waiting) < self._sessions():
            count = len(self._waiting)
            await asyncio.sleep(SETTLE_S)

    async def _answer(self, batch: list[Question]) -> None:
        try:
            answers = await self.policy.answer([request for request, _ in batch])
        except Exception as error:  # noqa: BLE001 - whoever asked is told, whatever it was
            answers = [error] * len(batch)  # type: ignore[list-item]
        for (_, future), answer in zip(batch, answers, strict=True):
            if future.done():
                continue
            if isinstance(answer, BaseException):
                future.set_exception(answer)
            else:
                future.set_result(answer)


class PolicySession(LanguageModel):
    """The policy as one session's model; `key` names the session for what is random in its answers."""

    def __init__(self, batcher: Batcher, key: str) -> None:
        self._batcher, self._key, self.name = batcher, key, batcher.policy.name

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The answer. Raises EndpointError (context_too_long), InvalidInput (policy_refused) for whatever asking again
        would not help."""
        seed = random.Random(f"{self._key} {request.purpose} {request.step}").getrandbits(62)
        try:
            return await self._batcher.ask(msgspec.structs.replace(request, seed=seed))
        except EndpointError as error:
            if error.code == "context_too_long":
                raise
            raise InvalidInput("policy_refused", error.sentence) from error

    def count(self, message: Message) -> tuple[int, bool]:
        """The length of a message, as the policy counts it."""
        return self._batcher.policy.count(message)
