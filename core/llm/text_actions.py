"""Calls as text, for models without native tool calls: in blocks, or as ReAct has them.

An answer holds `<action>{"tool": …, "arguments": {…}}</action>` blocks. The parser forgives what small models do
(code fences, `name` for `tool`, a missing end tag) but never guesses a tool: what cannot be read becomes a call
whose arguments are the unreadable text, so that the agent is told. In an environment whose one tool takes a line of
words, ReAct's form: `Thought: …`, then `Action: …`.
"""

import json
import re
from collections.abc import Sequence
from typing import Any

import msgspec

from core.domain.message import ToolCall
from core.llm.model import ToolSpec

_BLOCK = re.compile(r"<action>\s*(.*?)\s*(?:</action>|\Z|(?=<action>))", re.DOTALL)
_FENCE = re.compile(r"\A```[a-zA-Z]*\s*\n(.*?)\n?\s*```\Z", re.DOTALL)
_DECODER = json.JSONDecoder(strict=False)
_ACTION = re.compile(r"^[ \t]*Action:[ \t]*(?:\n[ \t]*)?(.*?)[ \t]*$", re.MULTILINE)
_THOUGHT = re.compile(r"\A\s*(?:Thought:)?\s*")


def describe_tools(tools: Sequence[ToolSpec]) -> str:
    """The tools as text: name, what it does, each argument with its type."""
    return "\n".join(_describe(tool) for tool in tools)


def parse_text_actions(text: str, step: int) -> tuple[str, tuple[ToolCall, ...]]:
    """The thought before the first block, and the calls; their ids are `text-STEP-PLACE`."""
    blocks = list(_BLOCK.finditer(text))
    if not blocks:
        return text.strip(), ()
    calls = tuple(_call(match[1], f"text-{step}-{place}") for place, match in enumerate(blocks))
    return text[: blocks[0].start()].strip(), calls


def action_text(thought: str, call: ToolCall) -> str:
    """A call in this format, behind a thought in which nothing looks like one."""
    block = msgspec.json.encode({"tool": call.name, "arguments": msgspec.Raw(call.arguments.encode())}).decode()
    return f"{thought.replace('<action>', '< action >')}\n<action>{block}</action>".strip()


def block_places(text: str) -> list[int]:
    """Where the blocks of a text begin."""
    return [match.start() for match in _BLOCK.finditer(text)]


def _describe(tool: ToolSpec) -> str:
    properties: dict[str, Any] = tool.parameters.get("properties", {})
    required = tool.parameters.get("required", [])
    parameters = ", ".join(
        f"{name}{'' if name in required else '?'}: {spec.get('type', 'any')}" for name, spec in properties.items()
    )
    return f"- {tool.name}({parameters}): {' '.join(tool.description.split())}"


def _call(text: str, call_id: str) -> ToolCall:
    fenced = _FENCE.match(text)
    text = fenced[1] if fenced else text
    try:
        value, _ = _DECODER.raw_decode(text, text.index("{"))
        msgspec.json.encode(value)  # what cannot be written again cannot be kept in the log
    except (ValueError, OverflowError, RecursionError):
        return ToolCall(id=call_id, name=_first_word(text), arguments=text)
    name = value.get("tool") or value.get("name") or value.get("action")
    arguments = value.get("arguments", value.get("parameters", value.get("args")))
    if arguments is None:
        arguments = {k: v for k, v in value.items() if k not in ("tool", "name", "action")}
    if not isinstance(name, str):
        return ToolCall(id=call_id, name="", arguments=text)
    packed = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
    return ToolCall(id=call_id, name=name, arguments=packed)


def _first_word(text: str) -> str:
    match = re.match(r"[A-Za-z_]\w*", text)
    return match[0] if match else ""


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
