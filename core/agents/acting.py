"""What carries an agent's actions out: hosts, or an environment that is played."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

import msgspec

from core.actions.registry import RunnerState
from core.agents.journal import Journal
from core.domain.errors import Unavailable
from core.domain.events import StepAdded
from core.domain.step import Action, ActionError, Observation, decode_body
from core.domain.task import Task
from core.environments.environment import Environment


class Actor(Protocol):
    """The agent's hands."""

    async def run(self, action: Action, step: int) -> Observation:
        """Carry an action out. Never raises for the agent's mistake."""

    async def recover(self, action: Action, step: int) -> Observation:
        """After a restart: what became of an action that had begun."""

    async def flush(self) -> None:
        """Emit what has come so far."""

    def offsets(self) -> dict[str, int]:
        """How far each terminal's stream was emitted."""

    def state(self) -> RunnerState:
        """What to journal with a step."""

    async def interrupt(self) -> bool:
        """End the action that is running; whether there is one."""


class EnvironmentPlayer:
    """Plays an environment for an agent. What was played before a restart is played again: it is the same each time."""

    def __init__(self, environment: Environment, journal: Journal, task: Task) -> None:
        self._environment, self._journal, self._task = environment, journal, task

    async def begin(self) -> Observation:
        """What there is to see at the beginning; after it, the environment stands where the journal does.

        Raises InvalidInput, Unavailable (environment_differs).
        """
        settings = self._task.environment
        first = await self._environment.reset(self._task, settings.seed if settings is not None else 0)
        for fact in self._journal.facts():
            if isinstance(fact, StepAdded):
                body = decode_body(self._journal.blob(fact.body))
                for action, before in zip(body.actions, body.observations, strict=True):
                    await self._again(action, before, fact.head.number)
        return first

    async def _again(self, action: Action, before: Observation, step: int) -> None:
        if action.malformed or before.status == "refused":
            return
        now = await self._environment.act(action, step)
        if (now.output.text, now.done) != (before.output.text, before.done):
            raise Unavailable("environment_differs", f"Step {step} has another result when it is played again: what "
                              "was played cannot be gone on with.", step=step)

    async def run(self, action: Action, step: int) -> Observation:
        """Carry an action out."""
        if action.malformed:
            return Observation(call_id="", status="refused", error=ActionError(kind="malformed",
                                                                               message=action.malformed))
        began = datetime.now(UTC)
        observation = await self._environment.act(action, step)
        return msgspec.structs.replace(observation, started_at=began, ended_at=datetime.now(UTC))

    async def recover(self, action: Action, step: int) -> Observation:
        """The environment was begun anew, so the action did not happen yet."""
        return await self.run(action, step)

    async def flush(self) -> None:
        """Nothing waits."""

    def offsets(self) -> dict[str, int]:
        """There is no terminal."""
        return {}

    def state(self) -> RunnerState:
        """Nothing is remembered beside the log."""
        return RunnerState()

    async def interrupt(self) -> bool:
        """A move in a game is over before anybody could end it."""
        return False
