"""Why data do not fit a table of settings, in a person's words; msgspec speaks of types and of JSON paths."""

import difflib
import re
from typing import Any, get_args, get_type_hints

import msgspec

_TYPES = {"str": "a text", "bool": "true or false", "int": "a whole number", "float": "a number", "array": "a list",
          "object": "a table", "null": "nothing"}
_BOUNDS = {">": "above", ">=": "of at least", "<": "below", "<=": "of at most"}
_LIKE = re.compile(r"Expected `([^`]*)`(?: (>=|<=|>|<) (\S+))?(?:, got `(\w+)`)?")


def misfit(error: Exception, table: type[msgspec.Struct]) -> str:
    """One clause without a full stop: which setting of `table` is wrong, and what is expected there."""
    text = str(error)
    found, _, place = text.partition(" - at `$")
    name = place.strip("`.")
    known = table.__struct_fields__
    if unknown := re.match(r"Object contains unknown field `(.*)`", found):
        near = difflib.get_close_matches(unknown[1], known, 1)
        return f"there is no setting {unknown[1]!r}" + (f" (did you mean {near[0]}?)" if near and not name else "")
    if lacking := re.match(r"Object missing required field `(.*)`", found):
        return f"{lacking[1]} is missing"
    if found.startswith("Invalid enum value"):
        value = found.removeprefix("Invalid enum value").strip()
        return f"{name} = {value} is none of {', '.join(_choices(table, name)) or 'the known words'}"
    if like := _LIKE.match(found):
        got = f", not {_words(like[4])}" if like[4] else ""
        bound = f" {_BOUNDS[like[2]]} {float(like[3]):g}" if like[2] else ""
        return f"{name or 'all of it'} has to be {_words(like[1])}{bound}{got}"
    return text


def _words(types: str) -> str:
    return " or ".join(_TYPES.get(one.strip(), one.strip()) for one in types.split("|"))


def _choices(table: type[msgspec.Struct], name: str) -> tuple[Any, ...]:
    return tuple(map(str, get_args(get_type_hints(table).get(name))))
