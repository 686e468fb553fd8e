"""What the model was given at a step as text to take away: JSON, or a curl command without secrets. No Qt."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Sequence
from typing import Any

from core.domain.message import Message, payload, tool_payload
from core.domain.secret_text import find_secrets
from core.domain.task import ModelSettings

OPENAI = "https://api.openai.com/v1"
_PERSON_IN_ADDRESS = re.compile(r"(?<=://)[^/?#@\s]*@")
_END = "END_OF_REQUEST"


def request_of(messages: Sequence[Message], tools: bytes, model: ModelSettings) -> dict[str, Any]:
    """The request as an OpenAI-compatible endpoint takes it. `tools` is the JSON list logged beside the context."""
    request: dict[str, Any] = {"model": model.name, "messages": [payload(m) for m in messages]}
    if given := _tools(tools):
        request["tools"] = given
    request["max_tokens"] = model.max_output_tokens
    if model.temperature is not None:
        request["temperature"] = model.temperature
    return request


def as_json(request: dict[str, Any]) -> str:
    """The request, indented, exact."""
    return json.dumps(request, ensure_ascii=False, indent=2)


def as_curl(request: dict[str, Any], model: ModelSettings) -> tuple[str, int]:
    """A command for a shell, and how many secrets were taken out of it; the key is read from the environment."""
    clean, removed = _clean(request)
    base = _PERSON_IN_ADDRESS.sub("", (model.base_url or OPENAI).partition("?")[0].rstrip("/"))
    text = "\n".join((
        f"curl {shlex.quote(base + '/chat/completions')} \\",
        "  -H 'Content-Type: application/json' \\",
        '  -H "Authorization: Bearer $OPENAI_API_KEY" \\',
        f"  --data-binary @- <<'{_END}'",
        json.dumps(clean, ensure_ascii=False, indent=2),  # no line of it is the end mark: texts stand in quotes
        _END, ""))
    return text, removed


def _tools(data: bytes) -> list[dict[str, Any]]:
    try:
        tools = json.loads(data) if data else []
    except ValueError:
        return []
    return [tool_payload(str(t.get("name", "")), str(t.get("description", "")), t.get("parameters") or {})
            for t in tools if isinstance(t, dict)] if isinstance(tools, list) else []


def _clean(value: Any) -> tuple[Any, int]:
    """The same with every secret in its texts replaced by its kind."""
    if isinstance(value, str):
        found = list(find_secrets(value))
        for one in reversed(found):
            value = f"{value[:one.start]}[{one.kind} removed]{value[one.end:]}"
        return value, len(found)
    if isinstance(value, dict):
        cleaned = {key: _clean(one) for key, one in value.items()}
        return {key: one for key, (one, _) in cleaned.items()}, sum(n for _, n in cleaned.values())
    if isinstance(value, list):
        rows = [_clean(one) for one in value]
        return [one for one, _ in rows], sum(n for _, n in rows)
    return value, 0
