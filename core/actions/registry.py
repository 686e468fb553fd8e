"""All actions by name: their specifications for the model, the reading of a call, and who carries it out.

This is the door of the package: `tool_specs`, `parse_call`, `ActionRunner`, `ActionSink`.
"""

from __future__ import annotations

import difflib
import re
from typing import Any

import msgspec

from core.actions.runner import ActionRunner, RunnerState
from core.actions.sink import ActionSink, WakeReason
from core.actions.table import ACTIONS, OFFERED, is_offered
from core.domain.message import ToolCall
from core.domain.step import Action
from core.domain.task import AgentSettings, Task
from core.llm.model import ToolSpec

__all__ = ["ActionRunner", "ActionSink", "RunnerState", "WakeReason", "parse_call", "tool_specs"]

ARGUMENTS_LIMIT = 4 << 20
_PLAIN = re.compile(r"[^A-Za-z0-9_.-]")


def tool_specs(task: Task, settings: AgentSettings) -> list[ToolSpec]:
    """What the model is told of every action that can work, in a fixed order (so that prompts stay cacheable)."""
    return [ToolSpec(name=d.name, description=d.description, parameters=d.schema()) for d in OFFERED
            if is_offered(d, task, settings)]


def parse_call(call: ToolCall) -> Action:
    """The action that a call asks for; never raises. What cannot be read has its reason in `malformed`."""
    name = _PLAIN.sub("_", call.name)[:64] or "null"
    declared = ACTIONS.get(call.name)
    arguments, problem = _arguments(call.arguments)
    if declared is None:
        problem = _unknown(name)
    elif not problem:
        try:
            declared.read(arguments)
        except msgspec.ValidationError as error:
            problem = f"The arguments of {name} are wrong: {error}."
    return Action(call_id=call.id, tool=name, arguments=arguments, family=declared.kind.family if declared else "other",
                  malformed=problem)


def _arguments(text: str) -> tuple[dict[str, Any], str]:
    """The arguments of a call and what is wrong with them."""
    if len(text) > ARGUMENTS_LIMIT:
        return {}, f"The arguments are longer than {ARGUMENTS_LIMIT:,} characters."
    try:
        given = msgspec.json.decode(text.encode("utf-8", "surrogatepass")) if text.strip() else {}
        msgspec.json.encode(given)  # what cannot be written again cannot be kept in the log
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError) as error:
        return {}, f"The arguments are not valid JSON: {error}."
    if not isinstance(given, dict):
        return {}, "The arguments are not a JSON object."
    return given, ""


def _unknown(name: str) -> str:
    close = difflib.get_close_matches(name, ACTIONS, 1)
    return f"There is no tool {name!r}.{f' Did you mean {close[0]}?' if close else ''}"
