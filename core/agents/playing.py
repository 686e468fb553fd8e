"""A session in an environment that is no host: from its first look to its end."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import msgspec

from core.agents import prompts
from core.agents.acting import EnvironmentPlayer
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.loop import Agent
from core.agents.signals import Signals
from core.agents.steps import StepJournal
from core.agents.submissions import Submissions
from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.domain.step import Action
from core.domain.task import AgentSettings, Task
from core.environments.apart import ApartEnvironment
from core.environments.environment import Environment
from core.environments.guarded import PATIENCE_S, GuardedEnvironment
from core.environments.registry import open_environment
from core.llm.model import LanguageModel
from core.llm.react_actions import line_argument


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
