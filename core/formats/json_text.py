"""Foreign JSON: bounded, tolerant of a damaged end, and free of values that our own encoding cannot hold."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_MOST_DIGITS = 20
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder(parse_int=lambda digits: int(digits) if len(digits) <= _MOST_DIGITS else digits)
"""Longer numbers are beyond 64 bits and stay the text that `clean` makes of such: Python reads at most 4,300 digits."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_BIG = 2**63

DEEPEST = 400
"""Levels of lists and objects up to which the quick way is taken; beyond them it is looked at with care."""


class Parsed(msgspec.Struct, frozen=True):
    """A JSON value, and one sentence on what of the text could not be read ("" when all of it could)."""

    value: Any
    problem: str = ""
    is_plain: bool = False
    """Whether the text was decoded the quick way, which holds for it as often as it is decoded."""


def parse(data: bytes) -> Parsed:
    """The value of JSON text. Of a damaged object, the members and list items before the damage."""
    try:
        return Parsed(quick(data), is_plain=True)
    except CAREFULLY:
        pass
    text, problem = _decode(data)
    try:
        return Parsed(clean(_DECODER.decode(text)), problem)
    except json.JSONDecodeError as error:
        byte = len(text[: error.pos].encode("utf-8", errors="replace"))
        return Parsed(_salvage(text), f"The text is damaged at line {error.lineno}, byte {byte}: {error.msg}.")
    except RecursionError:
        return Parsed(None, "The text is nested too deeply to be read.")


def objects_in(data: bytes) -> list[tuple[int, bytes]]:
    """Whole objects that stand behind one another where one was expected, each with the byte it begins at: two programs
    wrote a line, or one did not end it. Empty where it is anything else."""
    found: list[tuple[int, bytes]] = []
    try:
        text, at, byte = data.decode(), 0, 0
        while text[at : at + 1] == "{":
            end = _DECODER.raw_decode(text, at)[1]
            found.append((byte, text[at:end].encode()))
            past = _skip(text, end)
            byte, at = byte + len(found[-1][1]) + past - end, past
    except (ValueError, RecursionError):
        return []
    return found if at == len(text) else []


def loads(text: str) -> Any:
    """The clean value of whole JSON text. Raises ValueError where it is none, RecursionError where it is too deep."""
    try:
        return quick(text)
    except CAREFULLY:
        return clean(_DECODER.decode(text))


def quick(data: Any) -> Any:
    """The value of text (or of bytes, or of what shows them) that is plain JSON: what `json.loads` and `clean` give, at
    a fifth of the price. Raises one of CAREFULLY for other text."""
    value = msgspec.json.decode(data)
    check_plain(value)
    return value


def check_plain(value: Any) -> None:
    """Raises one of CAREFULLY for a decoded value that is deep, or holds a number beyond 64 bits."""
    level: list[Any] = [value]
    for _ in range(DEEPEST):
        inner: list[Any] = []
        for one in level:
            for held in one.values() if type(one) is dict else one if type(one) is list else (one,):
                kind = type(held)
                if kind is str:
                    continue  # as most are
                if kind is dict or kind is list:
                    inner.append(held)
                elif kind is int and not -_BIG <= held < _BIG:
                    raise _NotPlain
        if not inner:
            return
        level = inner
    raise _NotPlain


class _NotPlain(ValueError):
    """A value is deep, or holds a number beyond 64 bits."""


CAREFULLY = (msgspec.DecodeError, UnicodeError, RecursionError, _NotPlain)
"""What is raised for text that must be looked at with care."""


def clean(value: Any) -> Any:
    """The value without lone surrogates and without numbers beyond 64 bits, which become text."""
    match value:
        case str():
            return _SURROGATE.sub("\ufffd", value)
        case dict():
            return {clean(k): clean(v) for k, v in value.items()}
        case list():
            return [clean(v) for v in value]
        case int() if not -_BIG <= value < _BIG:
            return str(value)
    return value


def _decode(data: bytes) -> tuple[str, str]:
    try:
        return data.decode("utf-8-sig"), ""
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return data.decode("utf-8-sig", errors="replace"), (
            f"Line {line}, byte {error.start} is not UTF-8; such bytes are shown as \ufffd.")


def _salvage(text: str) -> Any:
    """The readable part of a damaged top-level object or list; None when there is none."""
    at = _skip(text, 0)
    try:
        if text[at : at + 1] == "{":
            return clean(_members(text, at + 1))
        if text[at : at + 1] == "[":
            return clean(_items(text, at)[0])
    except RecursionError:
        return None
    return None


def _members(text: str, at: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    try:
        while True:
            at = _skip(text, at)
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
            if text[at : at + 1] == "[":
                found[str(key)], at = _items(text, at)
            else:
                found[str(key)], at = _DECODER.raw_decode(text, at)
            at = _skip(text, at)
            if text[at : at + 1] != ",":
                return found
            at += 1
    except ValueError:
        return found


def _items(text: str, at: int) -> tuple[list[Any], int]:
    """The items of a list up to its end or to the damage, and the place after it."""
    found: list[Any] = []
    at = _skip(text, at + 1)
    while text[at : at + 1] not in ("]", ""):
        try:
            item, at = _DECODER.raw_decode(text, at)
        except ValueError:
            return found, len(text)
        found.append(item)
        at = _skip(text, at)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != "]":
            return found, len(text)
    return found, at + 1


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at
