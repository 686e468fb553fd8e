"""A session in an environment that is no host: from its first look to its end, and what carries its actions out."""

import math
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime

import msgspec

from core.actions.runner import RunnerState
from core.agents import prompts
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.loop import Agent
from core.agents.signals import Signals
from core.agents.steps import StepJournal
from core.agents.submissions import Submissions
from core.domain.errors import InvalidInput, Unavailable
from core.domain.events import StepAdded
from core.domain.message import Message
from core.domain.step import Action, Observation, decode_body, refusal
from core.domain.task import AgentSettings, Task
from core.environments.apart import ApartEnvironment
from core.environments.environment import Environment
from core.environments.guarded import PATIENCE_S, GuardedEnvironment
from core.environments.registry import open_environment
from core.llm.model import LanguageModel
from core.llm.text_actions import line_argument


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
            return refusal("malformed", action.malformed)
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


async def play(journal: Journal, inbox: Inbox, signals: Signals, task: Task, settings: AgentSettings,
               model: LanguageModel, *, on_thought: Callable[[str], None] | None = None,
               on_action: Callable[[int, Action], AbstractAsyncContextManager[None]] | None = None,
               environment: Environment | None = None) -> None:
    """Work until a final state is journalled, in what the task names, or in an `environment` that is made already.

    Raises InvalidInput, Unavailable where there is nothing to play.
    """
    if task.environment is None:
        raise InvalidInput("bad_environment", f"Task {task.id} names no environment.")
    place = environment or open_environment(task.environment)
    patience_s = math.inf if isinstance(place, ApartEnvironment) else PATIENCE_S  # what is apart looks to itself
    environment = GuardedEnvironment(place, task.environment.kind, patience_s)
    try:
        player = EnvironmentPlayer(environment, journal, task)
        first = await player.begin()
        agent = _agent(journal, inbox, signals, task, settings, model, environment, player, first.output.text,
                       on_thought, on_action)
        await agent.run()
    finally:
        await environment.close()


def _agent(journal: Journal, inbox: Inbox, signals: Signals, task: Task, settings: AgentSettings,
           model: LanguageModel, environment: Environment, player: EnvironmentPlayer, first: str,
           on_thought: Callable[[str], None] | None,
           on_action: Callable[[int, Action], AbstractAsyncContextManager[None]] | None) -> Agent:
    tools, form = environment.tools(), settings.model.actions
    if form == "react" and line_argument(tools) is None:
        raise InvalidInput("bad_environment", f"The environment {task.id} has other tools than one for a line of words:"
                           " its actions cannot be written as react.")
    native = form == "native"
    steps = StepJournal(journal, inbox, task, model.count, native=native,
                        tools=msgspec.json.encode(tools) if native else b"")
    system, seen = prompts.environment_prompts(task, first, form, () if native else tools)
    return Agent(journal, inbox, signals, steps, model, player, Submissions(journal, steps, task, environment), task,
                 settings, tools, on_thought=on_thought, on_action=on_action, read=environment.read,
                 opening=[Message(role="system", content=system), Message(role="user", content=seen)])
