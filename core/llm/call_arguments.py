"""The arguments of a model's call as an object, or what is wrong with them."""

import re
from typing import Any

import msgspec

from core.domain.message import ToolCall

ARGUMENTS_LIMIT = 4 << 20
DEEPEST = 100
"""Objects and lists in one another: what is deeper can be read at one place of the program and not at another."""

_PLAIN = re.compile(r"[^A-Za-z0-9_.-]")


def read_arguments(call: ToolCall) -> tuple[str, dict[str, Any], str]:
    """A call's name in plain characters, its arguments, and what is wrong with them; never raises."""
    arguments, problem = _arguments(call.arguments)
    return _PLAIN.sub("_", call.name)[:64] or "null", arguments, problem


def _arguments(text: str) -> tuple[dict[str, Any], str]:
    if len(text) > ARGUMENTS_LIMIT:
        return {}, f"The arguments are longer than {ARGUMENTS_LIMIT:,} characters."
    try:
        given = msgspec.json.decode(text.encode("utf-8", "surrogatepass")) if text.strip() else {}
        msgspec.json.encode(given)  # what cannot be written again cannot be kept in the log
    except (msgspec.DecodeError, UnicodeError, RecursionError, ValueError, OverflowError) as error:
        return {}, f"The arguments are not valid JSON: {error}."
    if not isinstance(given, dict):
        return {}, "The arguments are not a JSON object."
    return ({}, f"The arguments are nested more than {DEEPEST} deep.") if _is_deep(given) else (given, "")


def _is_deep(value: dict[str, Any]) -> bool:
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)
                 if isinstance(inner, dict | list)]
        if not level:
            return False
    return True
