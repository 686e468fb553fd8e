"""The environment that hosts are: terminals, files and the rest, by the actions of `core.actions`."""

from __future__ import annotations

import msgspec

from core.actions.registry import parse_call, tool_specs
from core.actions.runner import ActionRunner
from core.domain.message import ToolCall
from core.domain.step import Action, Observation
from core.domain.task import AgentSettings, Task
from core.llm.model import ToolSpec
from core.tasks.handing_in import HandingIn
from core.tasks.scoring import Outcome


class HostEnvironment:
    """The session's hosts, of which somebody else says where they run."""

    _actions: ActionRunner

    def __init__(self, task: Task, settings: AgentSettings, handing_in: HandingIn) -> None:
        self._task, self._settings, self._handing_in = task, settings, handing_in

    def carry_out_by(self, actions: ActionRunner) -> None:
        """Who carries actions out, from before the beginning on."""
        self._actions = actions

    def tools(self) -> list[ToolSpec]:
        """The actions that can work in this session."""
        return tool_specs(self._task, self._settings)

    def read(self, call: ToolCall) -> Action:
        """The action of a call."""
        return parse_call(call)

    async def reset(self, task: Task, seed: int) -> Observation:
        """Start the hosts, or find them as they are. Raises Unavailable."""
        await self._actions.start()
        return Observation(call_id="")

    async def act(self, action: Action, step: int) -> Observation:
        """Carry an action out."""
        return await self._actions.run(action, step)

    async def score(self) -> tuple[Outcome, bytes]:
        """What the task's evaluator says of what is there now."""
        return await self._handing_in.score()

    def state(self) -> bytes:
        """Open files, jobs, and how far terminals were told of."""
        return msgspec.json.encode(self._actions.state())

    async def close(self) -> None:
        """Stop following; the hosts go on."""
        await self._actions.close()
