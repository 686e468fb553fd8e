"""Values at and beyond the bounds of a type, read off the type itself (`msgspec.inspect`), the same for the same seed.

    facts = Extremes(7)
    facts.fact(StepAdded)          # valid, at its bounds
    list(outside(StepAdded))       # each breaks one bound, as what JSON decodes to
"""

from __future__ import annotations

import base64
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
from msgspec import inspect

from core.domain.events import Fact

SMALLEST = datetime(1, 1, 1, tzinfo=UTC)
LARGEST = datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)
TIMES = (
    SMALLEST, LARGEST, SMALLEST.replace(tzinfo=timezone(timedelta(hours=14))),
    LARGEST.replace(tzinfo=timezone(timedelta(hours=-12))), datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC),
    datetime(2024, 2, 29, 12, tzinfo=UTC), datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC),
    datetime(2026, 3, 1, 9, 30, tzinfo=timezone(timedelta(hours=5, minutes=45))),
)
TEXTS = (
    "", " ", "\n", "x", "0", "a\nb\tc\r\n", "\x00\x01\x07\x1b[31m\x7f\x9b", "\u202eevil\u2066\u2069\u200f",
    "\u200b\ufeff\u00ad", "\U0001f469\u200d\U0001f467\U0001f3f3\ufe0f" * 16, "e" + "\u0301" * 60,
    "\u0634\u0631\u062d \u05e2\u05d1", "训练" * 40, "%n %1 %L2 %s {n} {0} {", "<b>&amp;</b><img src=x>",
    "\ufffe\uffff\ufffd", "\U0010ffff\ue000", "../../etc/passwd", "a/b/c", "/" * 40, "CON", "-", "--help", "None",
    "NaN", "1e999", "tiphys://session/x", "x" * 199, "a" * 5_000, "one\u2028two\u2029three\x85four", "\t" * 30,
    "\ufdfa" * 30,
)
ANY = (None, True, 0, -1, 2**31, 2**63, 10**40, 1e308, 5e-324, "", "\u202e\x00", "x" * 3_000, [], {}, [[[[[]]]]],
       {"": ""}, {"a": {"b": ["c", None, 1.5]}}, ["x"] * 300)

RAW = b'{"a":[1,"\xe4\xb8\xad"]}'


class Extremes:
    """Valid values. `shared` gives the texts that facts have in common, by the name of the field."""

    def __init__(self, seed: int, shared: dict[str, tuple[object, ...]] | None = None) -> None:
        self.random = random.Random(seed)
        self._shared = shared or {}
        self._room = 0

    def fact(self, kind: type[Fact], **fixed: object) -> Fact:
        """One fact of a kind, its values at their bounds more often than not."""
        self._room = self.random.choice((40, 400, 4_000))
        return msgspec.convert({**self._struct(inspect.type_info(kind)), **fixed}, kind)

    def value(self, kind: Any) -> Any:
        """One value of any type."""
        self._room = self.random.choice((40, 400, 4_000))
        return msgspec.convert(self._make(inspect.type_info(kind), ""), kind)

    def _make(self, type_: inspect.Type, name: str) -> Any:
        if name in self._shared and isinstance(type_, inspect.IntType | inspect.StrType) and self.random.random() < 0.8:
            return self.random.choice(self._shared[name])
        return _MAKERS[type(type_)](self, type_)

    def _whole(self, type_: inspect.IntType) -> int:
        low, high = type_.ge if type_.ge is not None else -(2**63), type_.le if type_.le is not None else 2**63
        near = (low, low + 1, high - 1, high, 0, 1, 2, 3, 7, 100, self.random.randint(low, high))
        return self.random.choice([n for n in near if low <= n <= high])

    def _real(self, type_: inspect.FloatType) -> float:
        low, high = type_.ge if type_.ge is not None else -1e308, type_.le if type_.le is not None else 1e308
        near = (low, high, 0.0, 5e-324, -0.0, 0.1, 1.0, 99.99, self.random.uniform(low, high))
        return self.random.choice([n for n in near if low <= n <= high])

    def _text(self, type_: inspect.StrType) -> str:
        if type_.pattern:  # the name of a blob
            return "0" * 64
        most = min(type_.max_length or 10_000, 60_000)
        text = self.random.choice(TEXTS)
        if self.random.random() < 0.15:
            text = (text or "w") * (1 + most // len(text or "w")) if self._spend(most // 100) else text
        return text[: most if self.random.random() < 0.9 else max(0, most - 1)]

    def _spend(self, room: int) -> bool:
        self._room -= room
        return self._room > 0

    def _bytes(self, type_: inspect.BytesType) -> bytes:
        pieces = (b"", b"x", b"\xff\xfe\x00", b"\x1b[2J\x1b[999;999H\x1b]0;t\x07", b"line\r\n" * 200,
                  b"\x1b[?1049h" * 50, "训练\U0001f3f3".encode() * 100, bytes(range(256)) * 8, b"\x1b[38;5;999m" * 99)
        return self.random.choice(pieces)[: type_.max_length]

    def _list(self, type_: Any) -> list[Any]:
        size = min(self.random.choice((0, 1, 1, 2, 3, self._room // 2)), type_.max_length or 9)
        made = []
        while len(made) < size and self._spend(1):
            made.append(self._make(type_.item_type, ""))
        return made

    def _tuple(self, type_: inspect.TupleType) -> list[Any]:
        return [self._make(one, "") for one in type_.item_types]

    def _dict(self, type_: inspect.DictType) -> dict[Any, Any]:
        size = min(self.random.choice((0, 1, 2, self._room // 2)), type_.max_length or 9)
        made: dict[Any, Any] = {}
        while len(made) < size and self._spend(1):
            made[self._make(type_.key_type, "")] = self._make(type_.value_type, "")
            size -= self.random.random() < 0.1  # keys that are there already
        return made

    def _struct(self, type_: Any) -> dict[str, Any]:
        made = {f.encode_name: self._make(f.type, f.encode_name) for f in type_.fields
                if f.required or self.random.random() < 0.75}
        return {**({type_.tag_field: type_.tag} if type_.tag_field else {}), **made}

    def _one_of(self, type_: Any) -> Any:
        return self._make(self.random.choice(type_.types), "")


_MAKERS: dict[type, Callable[[Extremes, Any], Any]] = {
    inspect.IntType: Extremes._whole, inspect.FloatType: Extremes._real, inspect.StrType: Extremes._text,
    inspect.BytesType: Extremes._bytes, inspect.VarTupleType: Extremes._list, inspect.ListType: Extremes._list,
    inspect.TupleType: Extremes._tuple, inspect.DictType: Extremes._dict, inspect.StructType: Extremes._struct,
    inspect.UnionType: Extremes._one_of,
    inspect.BoolType: lambda made, _: made.random.random() < 0.5,
    inspect.NoneType: lambda made, _: None,
    inspect.LiteralType: lambda made, type_: made.random.choice(type_.values),
    inspect.DateTimeType: lambda made, _: made.random.choice(TIMES),
    inspect.AnyType: lambda made, _: made.random.choice(ANY),
    inspect.RawType: lambda made, _: msgspec.Raw(RAW),
}


# ---- what is not bounded, and what is beyond a bound


def unbounded(type_: inspect.Type, path: str = "$", seen: tuple[object, ...] = ()) -> Iterator[str]:
    """Where a type holds a number, text or list without a bound; `Raw` and `Any` are judged where they are decoded."""
    missing = {
        inspect.IntType: ("ge", "le"), inspect.FloatType: ("ge", "le"), inspect.StrType: ("max_length",),
        inspect.BytesType: ("max_length",), inspect.VarTupleType: ("max_length",), inspect.ListType: ("max_length",),
        inspect.DictType: ("max_length",), inspect.DateTimeType: ("tz",),
    }.get(type(type_), ())
    if any(getattr(type_, one) is None for one in missing):
        yield f"{path}: {type(type_).__name__}"
    if isinstance(type_, inspect.StructType):
        if type_.cls not in seen:
            for field in type_.fields:
                yield from unbounded(field.type, f"{path}.{field.encode_name}", (*seen, type_.cls))
        return
    for number, part in enumerate(_parts(type_)):
        yield from unbounded(part, f"{path}[{number}]", seen)


def outside(kind: Any) -> Iterator[tuple[str, Any]]:
    """(where, JSON value): each breaks exactly one bound of the type, and is else as small as can be."""
    yield from _beyond(inspect.type_info(kind), "$")


def smallest(kind: Any) -> Any:
    """The JSON value of a type with as little in it as there can be."""
    return _least(inspect.type_info(kind))


def _parts(type_: Any) -> tuple[inspect.Type, ...]:
    match type_:
        case inspect.VarTupleType() | inspect.ListType():
            return (type_.item_type,)
        case inspect.TupleType():
            return type_.item_types
        case inspect.DictType():
            return (type_.key_type, type_.value_type)
        case inspect.UnionType():
            return type_.types
    return ()


def _beyond(type_: Any, path: str) -> Iterator[tuple[str, Any]]:
    match type_:
        case inspect.IntType():
            for value in (type_.ge - 1, type_.le + 1, 2**31 if type_.le < 2**31 else 2**63, 2**63, -(2**63), 10**30):
                yield path, value
        case inspect.FloatType():
            yield from ((path, value) for value in (type_.ge - 1, type_.le * 1.01, 1e300, -1e300, 10**40))
        case inspect.StrType():
            yield path, "x" * (type_.max_length + 1)
            if type_.pattern:
                yield from ((path, text) for text in ("x" * 64, "0" * 63, "0" * 65, "A" * 64, "0" * 63 + "\n", "../x"))
        case inspect.BytesType():
            yield path, base64.b64encode(bytes(type_.max_length + 1)).decode()
        case inspect.DateTimeType():
            for value in ("2026-01-01T00:00:00", "10000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"):
                yield path, value
        case inspect.VarTupleType() | inspect.ListType():
            yield path, [_least(type_.item_type)] * (type_.max_length + 1)
            yield from ((where, [value]) for where, value in _beyond(type_.item_type, f"{path}[]"))
        case inspect.DictType():
            least = _least(type_.value_type)
            yield path, {str(key): least for key in range(1, type_.max_length + 2)}
            yield from ((w, {str(v): least}) for w, v in _beyond(type_.key_type, f"{path}{{}}"))
            key = str(_least(type_.key_type))
            yield from ((w, {key: v}) for w, v in _beyond(type_.value_type, f"{path}.*"))
        case inspect.UnionType():
            for part in type_.types:
                yield from _beyond(part, path)
        case inspect.StructType():
            least = _least(type_)
            for field in type_.fields:
                for where, value in _beyond(field.type, f"{path}.{field.encode_name}"):
                    yield where, {**least, field.encode_name: value}


def _least(type_: Any) -> Any:
    match type_:
        case inspect.IntType() | inspect.FloatType():
            return max(type_.ge, 0)
        case inspect.StrType() | inspect.BytesType():
            return "0" * 64 if getattr(type_, "pattern", None) else ""
        case inspect.BoolType():
            return False
        case inspect.LiteralType():
            return type_.values[0]
        case inspect.DateTimeType():
            return "2026-01-01T00:00:00Z"
        case inspect.VarTupleType() | inspect.ListType():
            return []
        case inspect.TupleType():
            return [_least(one) for one in type_.item_types]
        case inspect.DictType() | inspect.AnyType() | inspect.RawType():
            return {}
        case inspect.UnionType():
            return None if any(isinstance(t, inspect.NoneType) for t in type_.types) else _least(type_.types[0])
        case inspect.StructType():
            made = {f.encode_name: _least(f.type) for f in type_.fields if f.required}
            return {**({type_.tag_field: type_.tag} if type_.tag_field else {}), **made}
    raise AssertionError(type_)
