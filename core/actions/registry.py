"""The one table of actions, in the order in which the model is told of them; their specifications for it, and the
reading of a call."""

import difflib
import os

import msgspec

from core.actions import browse, command, control, file, media, parse, web_search
from core.actions.declare import Declared
from core.domain.message import ToolCall
from core.domain.step import Action
from core.domain.task import AgentSettings, Task
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec

OFFERED: tuple[Declared, ...] = (*command.ACTIONS, *file.ACTIONS, *parse.ACTIONS, *media.ACTIONS, *web_search.ACTIONS,
                                 *browse.ACTIONS, *control.ACTIONS)
"""The 42 actions; a model is offered those of them that can work in its session (`is_offered`)."""

ACTIONS: dict[str, Declared] = {d.name: d for d in (*OFFERED, *control.UNLISTED)}
"""All that a call may name; two more than offered, which older data holds."""


def tool_specs(task: Task, settings: AgentSettings) -> list[ToolSpec]:
    """What the model is told of every action that can work, in a fixed order (so that prompts stay cacheable)."""
    return [ToolSpec(name=d.name, description=d.description, parameters=d.schema()) for d in OFFERED
            if is_offered(d, task, settings)]


def is_offered(action: Declared, task: Task, settings: AgentSettings) -> bool:
    """Whether an action can work in a session: what nobody configured costs the model its words alone."""
    family, name = action.kind.family, action.name
    if family == "search":
        return bool(os.environ.get("TIPHYS_SEARCH_URL"))
    if family == "browse":
        return os.environ.get("TIPHYS_BROWSE") == "on"
    if action in media.ACTIONS:
        return settings.media is not None
    return name != "eval" or bool(task.evaluator.script)


def parse_call(call: ToolCall) -> Action:
    """The action that a call asks for; never raises. What cannot be read has its reason in `malformed`."""
    name, arguments, problem = read_arguments(call)
    declared = ACTIONS.get(call.name)
    if declared is None:
        problem = _unknown(name)
    elif not problem:
        try:
            declared.read(arguments)
        except msgspec.ValidationError as error:
            problem = f"The arguments of {name} are wrong: {error}."
    return Action(call_id=call.id, tool=name, arguments=arguments, family=declared.kind.family if declared else "other",
                  malformed=problem)


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, ACTIONS, 1)
    return f"There is no tool {name!r}.{f' Did you mean {close[0]}?' if close else ''}"
