"""How an action is declared: its kind (what it does), a struct of documented arguments, and who carries it out.

The model's JSON schema and the checks of a call both come from the struct, so they cannot differ.
"""

import types
import typing
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from core.actions.bench import Bench
from core.actions.result import Result
from core.domain.action_kinds import ACTION_KINDS, ActionKind
from core.domain.step import Observation


class Arguments(msgspec.Struct, frozen=True, kw_only=True):
    """The arguments of an action. What the model writes beyond these is refused by its name, not ignored."""


class OnHost(Arguments, frozen=True, kw_only=True):
    """Arguments of an action that happens on a host."""

    computer_ip: Annotated[str, Meta(description="Name of the host to act on; the first host if left out.")] = ""


Carrier = Callable[[Any, Bench], Awaitable[Result | Observation]]


class Declared(msgspec.Struct, frozen=True):
    """One action. Raises LookupError where no kind of that name says what it does."""

    name: str
    arguments: type[Arguments]
    carry: Carrier

    def __post_init__(self) -> None:
        if self.name not in ACTION_KINDS:
            raise LookupError(f"Nothing in core/domain/action_kinds.py says what the action {self.name} does.")

    @property
    def kind(self) -> ActionKind:
        """What the action does."""
        return ACTION_KINDS[self.name]

    @property
    def description(self) -> str:
        """What the model is told: the docstring of the arguments."""
        return " ".join((self.arguments.__doc__ or "").split())

    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments, of type object, in the order of declaration."""
        made = msgspec.json.schema(self.arguments)
        found = dict(made["$defs"][self.arguments.__name__])
        properties = {name: _plain(one) for name, one in found["properties"].items()}
        return {"type": "object", "properties": properties, "required": list(found.get("required", []))}

    def read(self, given: dict[str, Any]) -> Arguments:
        """The arguments of a call. Raises msgspec.ValidationError with a sentence.

        Models write null, "None" and "" for what they leave out, and numbers as text: that is understood.
        """
        known = {f.encode_name for f in msgspec.structs.fields(self.arguments)}
        for name, value in given.items():
            if name not in known and value not in (None, "", "None", "null"):
                takes = ", ".join(sorted(known)) or "no arguments"
                raise msgspec.ValidationError(f"there is no argument {name[:60]!r}, which would be ignored; it takes "
                                              f"{takes}")
        hints = typing.get_type_hints(self.arguments)
        optional = {f.encode_name for f in msgspec.structs.fields(self.arguments) if not f.required}
        filled = {k: v for k, v in given.items() if not (k in optional and _left_out(v, hints[k]))}
        return msgspec.convert(filled, self.arguments, strict=False)


def declared(*carriers: Carrier) -> tuple[Declared, ...]:
    """Actions that are named as the functions that carry them out, with the arguments that these take as `a`."""
    return tuple(Declared(one.__name__, typing.get_type_hints(one)["a"], one) for one in carriers)


def _plain(schema: dict[str, Any]) -> dict[str, Any]:
    """A property without what says nothing: empty defaults, and null beside a type (it may be left out)."""
    plain = {k: v for k, v in schema.items() if k != "default" or v not in (None, "")}
    types_left = [one for one in plain.pop("anyOf", []) if one != {"type": "null"}]
    return {**plain, **types_left[0]} if len(types_left) == 1 else plain


def _left_out(value: Any, hint: Any) -> bool:
    takes_text = hint is str or (isinstance(hint, types.UnionType) and str in hint.__args__)
    return value is None or value in ("None", "null") or (value == "" and not takes_text)


Line = Annotated[int, Meta(description="Line number, counted from 1.", ge=1)]
