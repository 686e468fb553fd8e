"""What nobody here answers for: an environment's code may raise anything, wait for ever, or give numbers that are none.

One session ends with it then, and says why; those beside it go on.
"""

from __future__ import annotations

import asyncio
import logging
import math
from collections.abc import Awaitable, Sequence
from typing import TypeVar

import msgspec

from core.domain.bounds import MOST_POINTS
from core.domain.errors import ReportableError, Unavailable
from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import Task
from core.environments.environment import Environment
from core.environments.line_tool import LONGEST_SEEN
from core.llm.model import ToolSpec
from core.tasks.scoring import Outcome

PATIENCE_S = 600.0
"""For one answer. What computes without ever waiting is not cut off by it, but played apart (`apart.py`)."""

_log = logging.getLogger("agent")
_T = TypeVar("_T")


class GuardedEnvironment:
    """An environment whose every failure is Unavailable (environment_failed)."""

    def __init__(self, environment: Environment, kind: str, patience_s: float = PATIENCE_S) -> None:
        self._environment, self._kind, self._patience_s = environment, kind, patience_s

    def tools(self) -> Sequence[ToolSpec]:
        """As it says. Raises Unavailable for what no model can be told."""
        tools = self._environment.tools()
        try:
            msgspec.json.encode(tools)
        except (UnicodeEncodeError, TypeError) as error:
            raise self._failed(f"its tools cannot be told: {error}") from error
        return tools

    def read(self, call: ToolCall) -> Action:
        """As it says."""
        return self._environment.read(call)

    async def reset(self, task: Task, seed: int) -> Observation:
        """Begin. Raises InvalidInput, Unavailable."""
        return self._checked(await self._within("reset", self._environment.reset(task, seed)))

    async def act(self, action: Action, step: int) -> Observation:
        """Carry an action out. Raises Unavailable."""
        return self._checked(await self._within("act", self._environment.act(action, step)))

    async def score(self) -> tuple[Outcome, bytes]:
        """What was reached. Raises Unavailable."""
        outcome, payload = await self._within("score", self._environment.score())
        self._check("score", outcome.total)
        return outcome, payload

    def state(self) -> bytes | None:
        """As it says."""
        return self._environment.state()

    async def close(self) -> None:
        """Let go of it; what fails there keeps nobody from what is already known."""
        try:
            await self._within("close", self._environment.close())
        except Unavailable as error:
            _log.warning("%s", error.sentence)

    async def _within(self, what: str, asked: Awaitable[_T]) -> _T:
        try:
            async with asyncio.timeout(self._patience_s):
                return await asked
        except ReportableError:
            raise
        except Exception as error:
            raise self._failed(f"{what} ended with {type(error).__name__}: {str(error)[:200]}") from error

    def _checked(self, seen: Observation) -> Observation:
        """An observation that a log and a context can hold."""
        self._check("reward", seen.reward)
        whole = seen.output.text
        text = whole[:LONGEST_SEEN].encode("utf-8", "replace").decode()
        if text == whole:
            return seen
        output = msgspec.structs.replace(seen.output, text=text, total_chars=max(seen.output.total_chars, len(whole)),
                                         truncated=seen.output.truncated or len(text) < len(whole))
        return msgspec.structs.replace(seen, output=output)

    def _check(self, what: str, number: float | None) -> None:
        """A reward that is no number would be none in the log, and the session would be learnt from as if it had none.
        """
        if number is not None and not (math.isfinite(number) and abs(number) <= MOST_POINTS):
            raise self._failed(f"it gives the {what} {number}")

    def _failed(self, why: str) -> Unavailable:
        return Unavailable("environment_failed", f"The environment {self._kind} failed: {why}.", kind=self._kind)
