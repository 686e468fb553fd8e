"""What a setting of a rule may be: read from the types in the declaration of the rule's function, in one place."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Annotated, Any, get_type_hints

import msgspec
from msgspec import Meta
from msgspec.inspect import BoolType, FloatType, IntType, type_info

Count = Annotated[int, Meta(ge=1)]
"""A number of things that are needed for a finding: 0 would find everywhere."""


def kinds_of(find: Callable[..., Any]) -> dict[str, Any]:
    """The type of each setting, as annotated; that of its default, where there is no type that can be used."""
    try:
        hints = get_type_hints(find, include_extras=True)
    except Exception:  # noqa: BLE001 - evaluates what a person's file says, which may name types that are not there
        hints = {}
    settings = [p for p in inspect.signature(find).parameters.values() if p.kind is p.KEYWORD_ONLY]
    return {p.name: kind if _holds(kind := hints.get(p.name), p.default) else type(p.default)
            for p in settings if p.default is not p.empty}


def fits(value: object, kind: Any) -> bool:
    """Whether a setting of that type may be this; a number is one that can be counted with."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return not isinstance(value, float) or math.isfinite(value)


def words_of(kind: Any) -> str:
    """A type and its bounds in words, for a sentence."""
    match type_info(kind):
        case BoolType():
            return "true or false"
        case IntType(ge=least, le=most):
            return f"a whole number{_bounds(least, most)}"
        case FloatType(ge=least, le=most):
            return f"a number{_bounds(least, most)}"
        case other:
            return f"of the kind {getattr(kind, '__name__', other)}"


def _bounds(least: float | None, most: float | None) -> str:
    if least is None or most is None:
        return f" of {least:g} or more" if least is not None else f" of {most:g} at most" if most is not None else ""
    return f" from {least:g} to {most:g}"


def _holds(kind: Any, default: object) -> bool:
    """Whether a type is one that its own default fits; what is declared otherwise bounds nothing."""
    try:
        return kind is not None and fits(default, kind)
    except TypeError:
        return False
