"""Messages and tools in the wire shape of the OpenAI chat API: what an endpoint is sent, and what a reader may copy."""

from __future__ import annotations

import json
import re
from typing import Any

from core.domain.message import Message

_NAME = re.compile(r"[^A-Za-z0-9_-]")


def payload(message: Message) -> dict[str, Any]:
    """A message as the chat API takes it. Arguments that are no JSON object are wrapped: servers refuse them."""
    as_json: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        as_json["content"] = message.content or None
        as_json["tool_calls"] = [
            {"id": c.id, "type": "function",
             "function": {"name": _NAME.sub("_", c.name)[:64] or "unknown", "arguments": _arguments(c.arguments)}}
            for c in message.tool_calls
        ]
    if message.role == "tool":
        as_json["tool_call_id"] = message.tool_call_id
    return as_json


def tool_payload(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """A tool as the chat API takes it; `parameters` is a JSON schema."""
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _arguments(text: str) -> str:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    return text if isinstance(value, dict) else json.dumps({"malformed": text})
