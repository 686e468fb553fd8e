"""What an agent writes is taken as what it should be, or as nothing: no shape of it is an error."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]


def object_of(value: object) -> Json:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def objects_of(value: object) -> list[Json]:
    """The objects of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """The value where it is text that can be written, else ""."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""
