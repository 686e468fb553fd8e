"""Messages in the vocabulary of the OpenAI chat API, as several formats hold them."""

from __future__ import annotations

import json
from typing import Any

from core.domain.action_kinds import Family
from core.domain.errors import InvalidInput
from core.domain.message import Message, Role, ToolCall
from core.domain.step import Action, Usage
from core.formats.json_text import loads
from core.formats.tools import family_of
from core.formats.values import as_json, dict_of, dicts_of, text_of, usage_of

_ROLES: dict[str, Role] = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant",
                           "tool": "tool", "function": "tool"}


def role_of(role: object) -> Role | None:
    """The role in our vocabulary, or None for an unknown one."""
    return _ROLES.get(role) if isinstance(role, str) else None


def content_text(content: Any) -> str:
    """The text of a message's content: a string, null, or a list of parts (other parts are named in brackets)."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(_part_text(p) for p in content)
    return as_json(content)


def parts_text(content: Any) -> str:
    """The text of a content that is text or a list of parts; parts without text are named in brackets."""
    if isinstance(content, str):
        return content
    return "\n".join(text_of(p.get("text")) or f"[{text_of(p.get('type')) or 'part'}]" for p in dicts_of(content))


def _part_text(part: Any) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict):
        text = part.get("text", part.get("refusal"))
        return text if isinstance(text, str) else f"[{part.get('type') or part.get('content_type') or 'part'}]"
    return "[part]"


def read_calls(message: dict[str, Any]) -> tuple[ToolCall, ...]:
    """The tool calls of an assistant message, the old single `function_call` included."""
    found = dicts_of(message.get("tool_calls"))
    if isinstance(message.get("function_call"), dict):
        found.append({"id": "", "function": message["function_call"]})
    return tuple(_call(c, n) for n, c in enumerate(found, 1))


def _call(call: dict[str, Any], ordinal: int) -> ToolCall:
    """A function's call, or that of a custom tool, whose input is text and no JSON."""
    function, custom = dict_of(call.get("function")), dict_of(call.get("custom"))
    if custom and not function:
        function = {"name": custom.get("name"), "arguments": json.dumps({"input": custom.get("input", "")})}
    return ToolCall(id=str(call.get("id") or ordinal), name=str(function.get("name") or "unknown"),
                    arguments=as_json(function.get("arguments", "")))


def make_call(id: Any, name: Any, arguments: Any, ordinal: int = 1) -> ToolCall:
    """The call of another vocabulary; one without an id is named by its place in its step."""
    return ToolCall(id=text_of(id) or str(ordinal), name=text_of(name) or "unknown", arguments=as_json(arguments))


def tool_definitions(tools: Any) -> list[dict[str, Any]]:
    """The definitions in a list of tools as our steps name them: name, description, parameters."""
    definitions = [dict_of(t.get("function")) or t for t in dicts_of(tools)]
    return [{k: d[k] for k in ("name", "description", "parameters") if k in d} for d in definitions]


def action_of(call: ToolCall, family: Family = "other") -> Action:
    """The action of a call; arguments that are no JSON become its `text`, and it is marked malformed."""
    try:
        value = loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        return Action(call_id=call.id, tool=call.name, arguments={"text": call.arguments}, family=family,
                      malformed=f"The arguments are not JSON: {error}")
    arguments = value if isinstance(value, dict) else {"value": value}
    return Action(call_id=call.id, tool=call.name, arguments=arguments, family=family)


def bare_action(call_id: Any, tool: Any) -> Action:
    """An action of which no more than the tool is known."""
    name = text_of(tool) or "unknown"
    return Action(call_id=text_of(call_id), tool=name, family=family_of(name))


def usage_in(response: dict[str, Any], cost: Any = None) -> Usage:
    """The usage of a response of the API."""
    used = dict_of(response.get("usage"))
    cached = dict_of(used.get("prompt_tokens_details")).get("cached_tokens")
    return usage_of(used.get("prompt_tokens"), used.get("completion_tokens"), cached, cost)


def read_message(message: dict[str, Any]) -> Message:
    """One message. Raises InvalidInput for a role that the API does not have."""
    role = role_of(message.get("role"))
    if role is None:
        raise InvalidInput("bad_role", f"A message has the role {message.get('role')!r}.")
    return Message(role=role, content=content_text(message.get("content")), tool_calls=read_calls(message),
                   tool_call_id=str(message.get("tool_call_id") or ""), name=str(message.get("name") or ""),
                   reasoning=str(message.get("reasoning_content") or message.get("reasoning") or ""))


def is_chat(messages: Any) -> bool:
    """Whether a value is a list of such messages, judged by all of its members."""
    return isinstance(messages, list) and bool(messages) and all(
        isinstance(m, dict) and role_of(m.get("role")) is not None and _is_content(m.get("content"))
        and ("content" in m or bool(read_calls(m))) for m in messages)


def _is_content(content: Any) -> bool:
    if isinstance(content, list):
        return all(isinstance(part, str) or _is_part(part) for part in content)
    return content is None or isinstance(content, str)


def _is_part(part: Any) -> bool:
    """A typed part of a message; one with a `value` is a dialogue's of another format."""
    return isinstance(part, dict) and bool(part.keys() & {"type", "content_type"}) and "value" not in part
