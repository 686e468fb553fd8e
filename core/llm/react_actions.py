"""Answers in ReAct's form, for environments whose one tool takes a line of words: `Thought: …`, then `Action: …`."""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from core.domain.message import ToolCall
from core.llm.model import ToolSpec

_ACTION = re.compile(r"^[ \t]*Action:[ \t]*(?:\n[ \t]*)?(.*?)[ \t]*$", re.MULTILINE)
_THOUGHT = re.compile(r"\A\s*(?:Thought:)?\s*")


def line_argument(tools: Sequence[ToolSpec]) -> tuple[str, str] | None:
    """The name of the one tool and of its one argument, where this form can say a call; else None."""
    properties = list(tools[0].parameters.get("properties", {})) if len(tools) == 1 else []
    return (tools[0].name, properties[0]) if len(properties) == 1 else None


def parse_react(text: str, step: int, tool: str, argument: str) -> tuple[str, tuple[ToolCall, ...]]:
    """The thought and the call of an answer. Several actions, or an empty one, are a call that cannot be read."""
    found = list(_ACTION.finditer(text))
    if not found:
        return text.strip(), ()
    thought = _THOUGHT.sub("", text[: found[0].start()], count=1).strip()
    if len(found) > 1:
        return thought, (ToolCall(id=f"react-{step}", name=tool, arguments="Only one Action is allowed per answer."),)
    arguments = msgspec.json.encode({argument: found[0][1]}).decode()
    return thought, (ToolCall(id=f"react-{step}", name=tool, arguments=arguments),)


def react_text(thought: str, call: ToolCall, argument: str) -> str:
    """A call in this form. What is no line of words becomes one; a call of another shape says so when it is read."""
    try:
        words = msgspec.json.decode(call.arguments, type=dict)[argument]
    except (KeyError, ValueError, RecursionError):
        words = call.arguments
    line = f"Action: {' '.join(str(words).split())}"
    return f"Thought: {' '.join(thought.split())}\n{line}" if thought.strip() else line
