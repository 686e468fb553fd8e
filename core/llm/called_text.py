"""Tool calls inside a model's text, in the form that Hermes and Qwen templates teach: <tool_call>{…}</tool_call>."""

from __future__ import annotations

import json
import re

_CALL = re.compile(r"<tool_call>\s*(.*?)\s*(?:</tool_call>|\Z)", re.DOTALL)


def split_calls(text: str) -> tuple[str, list[tuple[str, str]]]:
    """The text beside the calls, and each call as (name, arguments as JSON text).

    What cannot be read becomes a call named "null" with the text as it came: the agent answers a malformed call.
    """
    calls = [_call(m.group(1)) for m in _CALL.finditer(text)]
    return (_CALL.sub("", text).strip() if calls else text), calls


def _call(text: str) -> tuple[str, str]:
    try:
        call = json.loads(text)
    except (ValueError, RecursionError):
        return "null", text
    if not isinstance(call, dict) or not isinstance(call.get("name"), str):
        return "null", text
    return call["name"], json.dumps(call.get("arguments", {}), ensure_ascii=False)
