"""Messages and tools in the form that chat templates read: the same for serving, exporting and training."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from core.domain.message import Message, ToolCall
from core.llm.model import ToolSpec


def template_message(message: Message) -> dict[str, Any]:
    """One message. Reasoning is never sent back; arguments become an object where they are JSON of one."""
    rendered: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        rendered["tool_calls"] = [_call(c) for c in message.tool_calls]
    if message.tool_call_id:
        rendered["tool_call_id"] = message.tool_call_id
    if message.name:
        rendered["name"] = message.name
    return rendered


def template_tool(tool: ToolSpec) -> dict[str, Any]:
    """One tool, as the OpenAI API and every chat template know it."""
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


def template_messages(messages: Sequence[Message]) -> list[dict[str, Any]]:
    """Messages in order."""
    return [template_message(m) for m in messages]


def _call(call: ToolCall) -> dict[str, Any]:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments_of(call)}}


def arguments_of(call: ToolCall) -> dict[str, Any] | str:
    """A call's arguments as an object, or the text as the model wrote it where that is no JSON object."""
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError):
        return call.arguments
    return arguments if isinstance(arguments, dict) else call.arguments
