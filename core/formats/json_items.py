"""Long lists of JSON values that are decoded when they are looked at: memory holds their bytes, or not even these."""

from __future__ import annotations

import os
import weakref
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, SupportsIndex, TypedDict, overload

import msgspec

from core.domain.errors import Unavailable
from core.formats.json_text import CAREFULLY, Parsed, check_plain, parse, quick

LARGE = 8 * 1024 * 1024
"""Bytes from which on a list is decoded item by item."""

_BLOCK = 64 * 1024
"""Bytes that are read at once."""

_BETWEEN = b" \t\r\n,"
"""What stands between the items of a list."""


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
        for place in range(self._count):
            try:
                yield _some(self._text(place), names)
            except CAREFULLY:
                yield self._item(place)


def only(items: Iterable[dict[str, Any]], *names: str) -> Iterable[dict[str, Any]]:
    """The objects for a look at some of their members; where they are decoded for it, what else they hold is skipped,
    at a small part of the price."""
    return items.only(names) if isinstance(items, JsonItems) else items


def parse_some(data: bytes, names: tuple[str, ...]) -> Parsed:
    """As `parse`, of an object with some of its members only: what is wrong with it is found all the same."""
    try:
        if not data.isascii():
            data.decode()  # texts that are skipped are not looked at
        return Parsed(_some(data, names))
    except CAREFULLY:
        return parse(data)


def _some(text: Any, names: tuple[str, ...]) -> dict[str, Any]:
    """Some members of the text of a plain object. Raises one of CAREFULLY for other text."""
    held = _with_members(names).decode(text)
    check_plain(held)
    return held


@cache
def _with_members(names: tuple[str, ...]) -> msgspec.json.Decoder[dict[str, Any]]:
    """Decodes objects, and passes over what is not named."""
    return msgspec.json.Decoder(TypedDict("Members", dict.fromkeys(names, Any), total=False))  # type: ignore[operator]


def parse_large(file: FilePieces) -> Parsed:
    """As `parse` of a file, with the items of a long list, or of long lists in an object, read and decoded again when
    they are looked at."""
    data = file.whole()
    try:
        if data.lstrip()[:1] == b"[":
            begin = data.index(b"[")
            return Parsed(_list(memoryview(data)[begin:], file, begin))
        members = msgspec.json.decode(data, type=dict[str, msgspec.Raw])
        return Parsed({key: _member(data, file, memoryview(raw)) for key, raw in members.items()})
    except CAREFULLY:
        return parse(data)


def _member(data: bytes, file: FilePieces, text: memoryview) -> Any:
    is_long = len(text) >= LARGE and bytes(text[:1]) == b"["
    return _list(text, file, _place(data, text)) if is_long else quick(text)


def _place(data: bytes, part: memoryview) -> int:
    """Where a part of the data begins; one that is the same is as good."""
    begin, at = bytes(part[:4096]), -1
    while not data.startswith(part, at := data.index(begin, at + 1)):
        pass
    return at


def _list(text: memoryview, file: FilePieces, at: int) -> JsonItems:
    """The items, each of which is plain JSON, of a list that begins in the file at a byte."""
    items = FileItems(file)
    end = 1
    for raw in msgspec.json.decode(text, type=list[msgspec.Raw]):
        value = quick(raw)
        while text[end] in _BETWEEN:
            end += 1
        items.append(at + end, len(memoryview(raw)), is_plain=True, is_object=type(value) is dict)
        end += len(memoryview(raw))
    return items.items()


class FilePieces:
    """A file of which pieces are read, mostly one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        weakref.finalize(self, os.close, self._file)
        self._start, self._block = 0, b""

    def whole(self) -> bytes:
        """All bytes."""
        with os.fdopen(os.dup(self._file), "rb") as file:
            file.seek(0)
            return file.read()

    def read(self, start: int, size: int) -> bytes:
        """Bytes from a place on."""
        at = start - self._start
        if at < 0 or at + size > len(self._block):
            os.lseek(self._file, start, os.SEEK_SET)
            self._start, self._block, at = start, os.read(self._file, max(size, _BLOCK)), 0
        return self._block[at : at + size]


class FileItems:
    """Collects the places of JSON values in a file, which are read and decoded again when they are looked at."""

    def __init__(self, file: FilePieces) -> None:
        self._file = file
        self._starts, self._sizes = array("q"), array("q")
        self._are_plain, self._are_objects = bytearray(), True

    def append(self, start: int, size: int, is_plain: bool = False, is_object: bool = True) -> None:
        """One more value. One that is plain needs no second look at its numbers and depth."""
        self._starts.append(start)
        self._sizes.append(size)
        self._are_plain.append(is_plain)
        self._are_objects &= is_object

    def items(self) -> JsonItems:
        """All of them in order."""
        return JsonItems(len(self._starts), self._read, self._text, self._are_objects)

    def _text(self, place: int) -> bytes:
        return self._file.read(self._starts[place], self._sizes[place])

    def _read(self, place: int) -> Any:
        """Raises Unavailable (file_incomplete) where the file was written over since."""
        text = self._text(place)
        with suppress(msgspec.DecodeError, UnicodeError):
            found = msgspec.json.decode(text) if self._are_plain[place] else self._carefully(place, text)
            if not self._are_objects or type(found) is dict:
                return found
        raise Unavailable("file_incomplete", f"{self._file.path} is being written now.", path=str(self._file.path))

    def _carefully(self, place: int, text: bytes) -> Any:
        parsed = parse(text)
        self._are_plain[place] = parsed.is_plain
        return parsed.value
