"""Values of foreign JSON taken with care: the wrong type is as good as an absent value, and nothing is made up."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import msgspec

from core.domain.bounds import MOST_COST
from core.domain.step import ActionError, Usage
from core.formats.json_items import JsonItems

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_ALIKE = frozenset({str, int, bool, type(None)})


def text_of(value: Any) -> str:
    """The value if it is text, else ""."""
    return value if isinstance(value, str) else ""


def dict_of(value: Any) -> dict[str, Any]:
    """The value if it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def dicts_of(value: Any) -> list[dict[str, Any]]:
    """The objects in a list; everything else is passed over."""
    if type(value) is list:
        return [v for v in value if isinstance(v, dict)]
    return value.objects() if isinstance(value, JsonItems) else []


def upwards(name: str, above: Callable[[str], str]) -> Iterator[str]:
    """A name and those above it; `above` gives the next one, "" at the top. Foreign files hold circles: each once."""
    seen: set[str] = set()
    while name and name not in seen:
        yield name
        seen.add(name)
        name = above(name)


def int_of(value: Any) -> int | None:
    """A whole number that is not negative, or None."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def code_of(value: Any) -> int | None:
    """An exit code, or None; unlike a count it may be negative."""
    is_code = isinstance(value, int) and not isinstance(value, bool) and -(2**31) <= value < 2**32
    return value if is_code else None


def float_of(value: Any) -> float | None:
    """A finite number, or None."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # JSON knows whole numbers of any length
        return None
    return number if math.isfinite(number) else None


def time_of(value: Any) -> datetime | None:
    """A moment: ISO 8601 (without a zone it is taken as UTC), or seconds or milliseconds since 1970; else None."""
    try:
        if isinstance(value, str):
            read = datetime.fromisoformat(value)
            return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
        seconds = float_of(value)
        if seconds is None or seconds <= 0:
            return None
        return datetime.fromtimestamp(seconds / 1000 if seconds > 1e11 else seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def usage_of(input_tokens: Any = None, output_tokens: Any = None, cached: Any = None, cost: Any = None) -> Usage:
    """A usage of what is known."""
    paid = float_of(cost)
    return Usage(input_tokens=int_of(input_tokens), output_tokens=int_of(output_tokens), cached_tokens=int_of(cached),
                 cost_usd=paid if paid is not None and 0 <= paid <= MOST_COST else None)


def exit_error(code: int | None) -> ActionError | None:
    """The error that an exit code stands for; None for 0 and for an unknown one."""
    return ActionError(kind="exit_code", message=f"The command ended with exit code {code}.") if code else None


def as_json(value: Any) -> str:
    """The value as JSON text, or the text that it is."""
    if isinstance(value, str):
        return value
    with suppress(msgspec.MsgspecError, UnicodeError, OverflowError, RecursionError):
        if _is_written_alike(value):
            return msgspec.json.format(msgspec.json.encode(value), indent=0).decode()
    return _ENCODER.encode(value)


def _is_written_alike(value: Any) -> bool:
    """Whether both encoders give the same text; of numbers with a fraction they may not. The other is the quick one."""
    kind = type(value)
    if kind is dict:
        return all(map(_is_written_alike, value.values()))
    return all(map(_is_written_alike, value)) if kind is list else kind in _ALIKE


def paragraphs(*texts: str) -> str:
    """The texts that are not empty, with a blank line between them."""
    return "\n\n".join(filter(None, texts))


def sum_of(counts: dict[str, Any], *names: str) -> int | None:
    """The sum of some counts; None where the first of them is not there."""
    numbers = [int_of(counts.get(name)) for name in names]
    return sum(n or 0 for n in numbers) if numbers[0] is not None else None
