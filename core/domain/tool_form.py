"""A tool as a form that a person fills in: its fields, and what their words mean by the tool's JSON schema."""

from collections.abc import Mapping
from typing import Any

import msgspec

from core.domain.errors import InvalidInput


class FormField(msgspec.Struct, frozen=True):
    """One argument: its name, what it is for, whether it must be given, and the only values, where they are few.
    `is_long`: a text of several lines may stand there."""

    name: str
    about: str = ""
    is_required: bool = False
    choices: tuple[str, ...] = ()
    kind: str = "string"
    is_long: bool = False


class ToolForm(msgspec.Struct, frozen=True):
    """One tool."""

    name: str
    about: str
    fields: tuple[FormField, ...]


MOST_TOOLS, MOST_FIELDS, MOST_CHOICES = 500, 100, 200
"""What a form shows: each is drawn, and a server of an environment may name any number."""

_LONG = frozenset({"content", "command", "text", "code", "patch", "new_str", "old_str", "file_text", "thought"})
"""Arguments of which people write several lines."""


def forms_of(tools: bytes) -> tuple[ToolForm, ...]:
    """The forms of a JSON list of tools. Raises InvalidInput (bad_tools) for anything else: a log said it."""
    try:
        found = msgspec.json.decode(tools, type=list[dict[str, Any]])
        if len(found) > MOST_TOOLS:
            raise TypeError(f"{len(found):,} tools")
        return tuple(_form(tool) for tool in found)
    except (msgspec.DecodeError, UnicodeError, RecursionError, TypeError, AttributeError) as error:
        raise InvalidInput("bad_tools", f"What there is to call cannot be read: {error}") from error


def argument_of(parameters: Mapping[str, Any], name: str, text: str) -> Any:
    """What a person's words are as the value of an argument: text, or JSON where the schema wants something else.

    Raises InvalidInput (bad_action) for an argument that the tool has not, or words that are no such value.
    """
    known = parameters.get("properties", {})
    if name not in known:
        raise InvalidInput("bad_action", f"There is no argument {name!r}; there are {', '.join(known) or 'none'}.",
                           argument=name)
    if (kind := _kind(known[name])) == "string":
        return text
    try:
        return msgspec.json.decode(text.strip().lower() if kind == "boolean" else text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise InvalidInput("bad_action", f"{name} takes a value of the type {kind}, not {text[:80]!r}.",
                           argument=name) from None


def packed_arguments(form: ToolForm, given: Mapping[str, str]) -> str:
    """The JSON of what was filled in; empty fields are left out. Raises InvalidInput (bad_action)."""
    schema = {"properties": {f.name: {"type": f.kind} for f in form.fields}}
    missing = next((f.name for f in form.fields if f.is_required and not given.get(f.name, "").strip()), None)
    if missing is not None:
        raise InvalidInput("bad_action", f"{form.name} needs {missing}.", argument=missing)
    values = {name: argument_of(schema, name, text) for name, text in given.items() if text.strip()}
    return msgspec.json.encode(values).decode()


def _form(tool: Mapping[str, Any]) -> ToolForm:
    parameters = tool.get("parameters") or {}
    required, properties = parameters.get("required", []), parameters.get("properties", {})
    if len(properties) > MOST_FIELDS:
        raise TypeError(f"{len(properties):,} arguments of a tool")
    fields = [FormField(str(name), str(spec.get("description", "")), name in required, _choices(spec), _kind(spec),
                        name in _LONG) for name, spec in properties.items()]
    return ToolForm(str(tool.get("name", "")), str(tool.get("description", "")),
                    tuple(sorted(fields, key=lambda f: not f.is_required)))


def _choices(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The only values; of too many to choose from none, so that one is written."""
    values = spec.get("enum", ())
    return tuple(map(str, values)) if len(values) <= MOST_CHOICES else ()


def _kind(spec: Mapping[str, Any]) -> str:
    """The type that a schema names; of several the first that is none of text, for text is what people write."""
    kinds = spec.get("type") or [one.get("type") for one in spec.get("anyOf", [])]
    named = [k for k in (kinds if isinstance(kinds, list) else [kinds]) if isinstance(k, str) and k != "null"]
    return "string" if not named or "string" in named else named[0]
