"""Messages and tools in the form that chat templates read: the same for serving, exporting and training.

Some templates demand a person's and the model's messages by turns (Gemma 3, Cohere). A person's message can be
followed by another one: guidance behind a result, a summary behind the task. Such templates refuse them, so neighbours
become one message with their texts in order, an empty line between them. What a system says later than first is taken
as a person's words: it has no place either. Nothing that the model wrote is touched, so that a mask lies on the text
that is served.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any

from core.domain.errors import ReportableError
from core.domain.message import Message, ToolCall, tool_payload
from core.llm.model import ToolSpec

_ASKED = Message(role="user", content="Qa1x"), Message(role="user", content="Qc1x")


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
    return tool_payload(tool.name, tool.description, tool.parameters)


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


def demands_turns(render: Callable[[Sequence[Message]], object]) -> bool:
    """Whether a template takes one message of a person and refuses two. `render` raises a ReportableError where it is
    refused."""
    try:
        render(_ASKED[:1])
    except ReportableError:
        return False
    try:
        render(_ASKED)
    except ReportableError:
        return True
    return False


def in_turn(before: Message | None, message: Message) -> tuple[Message, bool]:
    """A message as it follows the one `before` it (None: it is the first), and whether it stands in place of both."""
    if message.role == "system" and before is not None:
        message = Message(role="user", content=message.content)
    if before is None or not before.role == message.role == "user":
        return message, False
    return Message(role="user", content="\n\n".join(filter(None, (before.content, message.content)))), True


def by_turns(messages: Sequence[Message]) -> list[Message]:
    """The messages with neighbours of a person joined."""
    turns: list[Message] = []
    for message in messages:
        turn, stands_for_both = in_turn(turns[-1] if turns else None, message)
        turns[len(turns) - stands_for_both :] = [turn]
    return turns
