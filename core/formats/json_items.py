"""Long lists of JSON values that are decoded when they are looked at: memory holds their bytes, or not even these."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, SupportsIndex, overload

import msgspec

from core.domain.errors import Unavailable
from core.formats.json_text import CAREFULLY, Parsed, check_plain, parse, quick

LARGE = 8 * 1024 * 1024
"""Bytes from which on a list is decoded item by item."""


class JsonItems(list[Any]):
    """A list whose items are decoded each time they are looked at.

    It is a `list`, for readers ask values whether they are; what it inherits is empty. CPython takes the short way
    past `__iter__` for exact lists only.
    """

    def __init__(self, count: int, item: Callable[[int], Any], text: Callable[[int], Any],
                 are_objects: bool = False) -> None:
        """`item` gives the value at a place, `text` its bytes, or what shows them."""
        super().__init__()
        self._count, self._item, self._text, self._are_objects = count, item, text, are_objects

    def __len__(self) -> int:
        return self._count

    def __bool__(self) -> bool:
        return self._count > 0

    def __iter__(self) -> Iterator[Any]:
        return map(self._item, range(self._count))

    def __reversed__(self) -> Iterator[Any]:
        return map(self._item, range(self._count - 1, -1, -1))

    @overload
    def __getitem__(self, place: SupportsIndex) -> Any: ...
    @overload
    def __getitem__(self, place: slice) -> list[Any]: ...
    def __getitem__(self, place: SupportsIndex | slice) -> Any:
        places = range(self._count)[place]
        if not isinstance(places, range):
            return self._item(places)
        return self._some(places)

    def _some(self, places: Sequence[int]) -> JsonItems:
        return JsonItems(len(places), lambda n: self._item(places[n]), lambda n: self._text(places[n]),
                         self._are_objects)

    def objects(self) -> JsonItems:
        """The items that are objects."""
        if self._are_objects:
            return self
        places = array("q", (n for n in range(self._count) if bytes(memoryview(self._text(n))[:1]) == b"{"))
        self._are_objects = len(places) == self._count
        return self if self._are_objects else self._some(places)

    def only(self, names: tuple[str, ...]) -> Iterator[dict[str, Any]]:
        """See `only`."""
        kind = _with_members(names)
        for place in range(self._count):
            try:
                found = msgspec.structs.asdict(msgspec.json.decode(self._text(place), type=kind))
                held = {name: value for name, value in zip(names, found.values(), strict=True)
                        if value is not msgspec.UNSET}
                check_plain(held)
            except CAREFULLY:
                held = self._item(place)
            yield held


def only(items: Iterable[dict[str, Any]], *names: str) -> Iterable[dict[str, Any]]:
    """The objects for a look at some of their members; where they are decoded for it, what else they hold is skipped,
    at a small part of the price."""
    return items.only(names) if isinstance(items, JsonItems) else items


@cache
def _with_members(names: tuple[str, ...]) -> type[msgspec.Struct]:
    fields = {f"member_{n}": name for n, name in enumerate(names)}
    return msgspec.defstruct("Members", [(field, Any, msgspec.UNSET) for field in fields], rename=fields)


def parse_large(data: bytes) -> Parsed:
    """As `parse`, with the items of a long list, or of long lists in an object, decoded when they are looked at."""
    try:
        if data.lstrip()[:1] == b"[":
            return Parsed(_list(data))
        members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return Parsed({key: _member(memoryview(raw)) for key, raw in members.items()})
    except CAREFULLY:
        return parse(data)


def _member(text: memoryview) -> Any:
    return _list(text) if len(text) >= LARGE and bytes(text[:1]) == b"[" else quick(text)


def _list(text: bytes | memoryview) -> JsonItems:
    """The items, each of which is plain JSON; they refer to the text."""
    raws = msgspec.json.decode(text, type=list[msgspec.Raw])
    for raw in raws:
        quick(raw)
    return JsonItems(len(raws), lambda n: msgspec.json.decode(raws[n]), raws.__getitem__)


class FileItems:
    """Collects the places of objects in a file, which are read and decoded again when they are looked at."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._starts, self._sizes = array("q"), array("q")
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._file)

    def append(self, start: int, size: int) -> None:
        """One more object."""
        self._starts.append(start)
        self._sizes.append(size)

    def items(self) -> Sequence[Any]:
        """All of them in order."""
        return JsonItems(len(self._starts), self._read, self._text, are_objects=True)

    def _text(self, place: int) -> bytes:
        os.lseek(self._file, self._starts[place], os.SEEK_SET)
        return os.read(self._file, self._sizes[place])

    def _read(self, place: int) -> dict[str, Any]:
        """Raises Unavailable (file_incomplete) where the file was written over since."""
        found = parse(self._text(place)).value
        if not isinstance(found, dict):
            raise Unavailable("file_incomplete", f"{self._path} is being written now.", path=str(self._path))
        return found
