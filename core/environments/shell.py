"""A task of one host as an environment with one tool, a shell command, as Endless Terminals' own loop has it
(arXiv 2601.16443): what a policy tries a generated task in."""

from __future__ import annotations

from collections.abc import Sequence

from core.domain.step import Action, Observation
from core.domain.task import Task
from core.environments.environment import Environment
from core.environments.line_tool import line_tool, seen
from core.llm.model import ToolSpec
from core.sandbox.sandbox import Sandbox
from core.tasks.handing_in import HandingIn
from core.tasks.scoring import Outcome, tail

COMMAND_S = 30.0
"""How long a command may take, in seconds."""

SHOWN = 8_000
"""Bytes of a command's output that are shown, its end."""

FINISH = "finish"


class ShellEnvironment(Environment):
    """One attempt in a host that is ready ; the command `finish` ends it. The host is its owner's."""

    def __init__(self, host: Sandbox, handing_in: HandingIn) -> None:
        self._host, self._handing_in = host, handing_in

    def tools(self) -> Sequence[ToolSpec]:
        """One tool, which takes a command."""
        return [line_tool("Run one bash command in the working folder; each begins there anew. "
                          f"The command {FINISH} says that you are done.")]

    async def reset(self, task: Task, seed: int) -> Observation:
        """The working folder."""
        return await self._ran("ls -la")

    async def act(self, action: Action, step: int) -> Observation:
        """Run a command. Raises Unavailable where the engine does not answer."""
        command = str(action.arguments["command"])
        return seen("Done.", done=True) if command.strip() == FINISH else await self._ran(command)

    async def score(self) -> tuple[Outcome, bytes]:
        """What the task's evaluator says of what is there now."""
        return await self._handing_in.score()

    async def _ran(self, command: str) -> Observation:
        ran = await self._host.run(["bash", "-c", command], cwd=self._host.workspace, timeout=COMMAND_S, limit=SHOWN)
        end = f"[not done after {COMMAND_S:g} s]" if ran.timed_out else f"[exit code {ran.exit_code}]"
        return seen(f"{tail(ran.output)}\n{end}".strip(), reward=0.0)
