"""A policy: a model that answers many sessions at once, and says its answers in its own tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from core.domain.message import Message
from core.llm.model import Completion, EndpointError, Request


class Policy(Protocol):
    """What answers roll-outs. `name` is shown to people, and written beside sampled tokens. `version` is the number of
    the update that made its weights; it is read when a batch is answered, so whoever changes the weights changes it
    between two batches."""

    name: str

    @property
    def version(self) -> int:
        """The number of the update that made the weights."""

    async def answer(self, requests: Sequence[Request]) -> list[Completion | EndpointError]:
        """An answer, or why there is none, for each request, in their order."""

    def count(self, message: Message) -> tuple[int, bool]:
        """How many of the policy's tokens a message takes, and whether that is an estimate."""

    async def close(self) -> None:
        """Let go of connections and memory."""
