"""Which blobs a fact names, read off the types of its fields (`BlobName`, `BlobRef`)."""

from __future__ import annotations

from functools import cache
from typing import Any, get_args, get_type_hints

import msgspec

from core.domain.blob import BlobName, BlobRef
from core.domain.events.fact import Fact

_NAMES = (BlobName, BlobRef)
_MANY = (tuple, list)


def blobs_of(fact: Fact) -> tuple[str, ...]:
    """The content addresses that a fact refers to; whoever stores the event must hold these first."""
    found: list[str] = []
    _find(fact, found)
    return tuple(found)


def _find(value: object, found: list[str]) -> None:
    if isinstance(value, _MANY):
        for one in value:
            _find(one, found)
        return
    kind: Any = type(value)
    for field, is_blob, is_required in _fields(kind):
        held = getattr(value, field)
        if not is_blob:
            if held:  # most of these are empty
                _find(held, found)
        elif held or is_required:
            found.append(held)


@cache
def _fields(kind: type) -> tuple[tuple[str, bool, bool], ...]:
    """(name, whether it is a blob's, whether it is required) of the fields that hold names of blobs, at any depth."""
    if not issubclass(kind, msgspec.Struct):
        return ()
    hints = get_type_hints(kind, include_extras=True)
    return tuple((f.name, hints[f.name] in _NAMES, f.required) for f in msgspec.structs.fields(kind)
                 if _holds_blobs(hints[f.name]))


def _holds_blobs(hint: Any) -> bool:
    if hint in _NAMES:
        return True
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return bool(_fields(hint))
    return any(_holds_blobs(part) for part in get_args(hint))
