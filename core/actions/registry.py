"""All actions by name: their specifications for the model, the reading of a call, and who carries it out.

This is the door of the package: `tool_specs`, `parse_call`, `ActionRunner`, `ActionSink`.
"""

from __future__ import annotations

import difflib

import msgspec

from core.actions.runner import ActionRunner, RunnerState
from core.actions.sink import ActionSink, WakeReason
from core.actions.table import ACTIONS, OFFERED, is_offered
from core.domain.message import ToolCall
from core.domain.step import Action
from core.domain.task import AgentSettings, Task
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec

__all__ = ["ActionRunner", "ActionSink", "RunnerState", "WakeReason", "parse_call", "tool_specs"]


def tool_specs(task: Task, settings: AgentSettings) -> list[ToolSpec]:
    """What the model is told of every action that can work, in a fixed order (so that prompts stay cacheable)."""
    return [ToolSpec(name=d.name, description=d.description, parameters=d.schema()) for d in OFFERED
            if is_offered(d, task, settings)]


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
