"""The one tool of environments that are played by lines of words, and how calls of it are read."""

from __future__ import annotations

from core.domain.bounds import MOST_POINTS
from core.domain.message import ToolCall
from core.domain.step import Action, ActionError, Observation, Output
from core.llm.call_arguments import read_arguments
from core.llm.model import ToolSpec

LINE_TOOL = "act"
LONGEST = 2_000
"""Characters of the longest command."""
LONGEST_SEEN = 200_000
"""Characters of the longest text that is shown: an agent's context holds all of them from then on."""


def line_tool(description: str) -> ToolSpec:
    """The tool, with what its commands are."""
    return ToolSpec(name=LINE_TOOL, description=description, parameters={
        "type": "object", "properties": {"command": {"type": "string", "description": "The command."}},
        "required": ["command"]})


def read_line_call(call: ToolCall) -> Action:
    """The action of a call of the tool; never raises."""
    name, given, problem = read_arguments(call)
    command = given.get("command")
    if call.name != LINE_TOOL:
        problem = f"There is no tool {name!r}; there is {LINE_TOOL!r}."
    elif not problem and (not isinstance(command, str) or not command.strip() or len(command) > LONGEST
                          or set(given) != {"command"}):
        problem = f"{LINE_TOOL} takes one argument, command: a line of at most {LONGEST:,} characters."
    return Action(call_id=call.id, tool=name, arguments=given, malformed=problem)


def line_of(action: Action) -> str:
    """The command of an action that could be read."""
    return " ".join(str(action.arguments["command"]).split())


def seen(text: str, *, reward: float | None = None, done: bool = False, problem: str = "") -> Observation:
    """An observation of text; with `problem`, a code, the action failed and the text says why."""
    shown = text[:LONGEST_SEEN]
    output = Output() if problem else Output(text=shown, total_chars=len(text), truncated=len(text) > LONGEST_SEEN)
    error = ActionError(kind=problem, message=shown) if problem else None
    return Observation(call_id="", status="failed" if problem else "finished", output=output, error=error,
                       reward=reward, done=done)


def reward_in(value: object) -> float | None:
    """A reward as a server that nobody here answers for gave it; None for what a log cannot hold as one."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= MOST_POINTS:
        return None
    return float(value)
