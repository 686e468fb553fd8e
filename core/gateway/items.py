"""The conversation of a request as it stands in the body's bytes, read from the first byte that is new.

An agent sends its whole history each time. What begins with the same bytes as a request before is neither parsed nor
hashed again: its items are taken over, and only a body in which a marker stands for them is parsed.
"""

import secrets
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import msgspec

from core.domain.context import shared_length
from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.gateway.chain import ChainMaker
from core.gateway.dialect import Body, Dialect, Json, decode_raw

_LINES = 5
_BLOCK = 1 << 14
"""Bytes that are compared at once: so few are copied within the processor's own memory."""
_MARKER = msgspec.json.encode({secrets.token_hex(16): 0})
"""Stands for items that are known. Nobody else can write it, so where it is found is where they stood."""


class WrittenItems(msgspec.Struct, frozen=True, kw_only=True):
    """`items` as they were written; `links` name their prefixes (see chain).

    `pieces` joined are the body: what stands before the items, one for each of them with what separates it from the
    one before, what comes after. `ends` are the places in the body where items end; none where the body does not hold
    them so, and is one piece. `known` is the body up to the last of them. `opening` counts the leading items that are
    the program's own words.
    """

    raw: bytes
    known: bytes
    items: list[bytes]
    links: list[bytes]
    pieces: list[bytes]
    ends: list[int]
    opening: int = 0

    def shared_items(self, raw: bytes) -> int:
        """With how many of these items another body begins, byte by byte."""
        if raw.startswith(self.known):
            return len(self.ends)
        at, last = 0, len(self.known)
        while at < last and raw[at : at + _BLOCK] == self.raw[at : at + _BLOCK]:
            at += _BLOCK
        shared = bisect_right(self.ends, at)
        while shared < len(self.ends) and raw[at : self.ends[shared]] == self.raw[at : self.ends[shared]]:
            at, shared = self.ends[shared], shared + 1
        return shared


class ItemsReader:
    """Reads conversations; holds the last ones of a few lines."""

    def __init__(self) -> None:
        self._chains = ChainMaker()
        self._recent: list[tuple[str, WrittenItems]] = []

    def read(self, dialect: Dialect, raw: bytes) -> tuple[Body, WrittenItems, dict[bytes, Json]]:
        """The body's fields with the conversation; of `Body` only its other fields count. Then the values of those
        items that had to be decoded. Raises InvalidInput."""
        able = [held for name, held in self._recent if name == dialect.name]
        shared, old = max(((held.shared_items(raw), held) for held in able), default=(0, None), key=lambda one: one[0])
        found = _read_on(dialect, raw, old, shared) if old is not None and shared else None
        if found is None:
            found = _read_whole(dialect, raw)
            items = found[1]
            shared, old = max(((shared_length(held.items, items), held) for held in able), default=(0, None),
                              key=lambda one: one[0])
        body, items, pieces, ends = found
        opening = old.opening if old is not None and shared > old.opening else _opening(dialect, items)
        made = WrittenItems(raw=raw, known=raw[: ends[-1] if ends else 0], items=items, pieces=pieces, ends=ends,
                            opening=opening, links=self._chains.extend(
                                old.links[:shared] if old is not None else [], items[shared:]))
        extended = old if old is not None and shared == len(old.items) else None
        self._recent = [one for one in self._recent[-_LINES:] if one[1] is not extended] + [(dialect.name, made)]
        return body, made, self._chains.decoded


_Found = tuple[Body, list[bytes], list[bytes], list[int]]


def _read_on(dialect: Dialect, raw: bytes, old: WrittenItems, shared: int) -> _Found | None:
    """A body that begins as another one does, up to the end of an item; None where a marker does not show it."""
    end = old.ends[shared - 1]
    try:
        body = Body(raw[: len(old.pieces[0])] + _MARKER + raw[end:])
        marked, *new = body.items(dialect.items)
    except (InvalidInput, KeyError, ValueError):
        return None
    if marked != _MARKER:
        return None
    _check(dialect, new)
    pieces, ends = [*old.pieces[: shared + 1]], old.ends[:shared]
    _place(raw, new, pieces, ends)
    return body, [*old.items[:shared], *new], pieces, ends


def _read_whole(dialect: Dialect, raw: bytes) -> _Found:
    body = Body(raw)
    given = body.fields.get(dialect.items)
    if given is None:
        raise InvalidInput("bad_request_body", f"The agent's request has no {dialect.items}.")
    if bytes(given).lstrip()[:1] == b'"':  # text alone is one message
        return body, [msgspec.json.encode({"role": "user", "content": decode_raw(given)})], [raw], []
    items = body.items(dialect.items)
    _check(dialect, items)
    start = raw.find(items[0]) if items else 0
    pieces: list[bytes] = [raw[:start]]
    ends: list[int] = []
    _place(raw, items, pieces, ends)
    if not items or _marked(dialect, raw, start, ends[-1]) != [_MARKER]:
        return body, items, [raw], []  # the same words stand elsewhere in it, too
    return body, items, pieces, ends


def _marked(dialect: Dialect, raw: bytes, start: int, end: int) -> list[bytes]:
    """The items of a body in which the marker stands for a part of it."""
    try:
        return Body(raw[:start] + _MARKER + raw[end:]).items(dialect.items)
    except (InvalidInput, KeyError):
        return []


def _place(raw: bytes, new: Sequence[bytes], pieces: list[bytes], ends: list[int]) -> None:
    """Find items that follow one another in a body; between two of them stand a comma and white space alone."""
    at = ends[-1] if ends else len(pieces[0])
    gap = 0
    for item in new:  # what stands between two items is mostly the same, and to compare is cheaper than to search
        start = at + gap if raw.startswith(item, at + gap) else raw.find(item, at)
        gap = start - at
        end = start + len(item)
        pieces.append(raw[at:end])
        ends.append(end)
        at = end
    pieces.append(raw[at:])


def _check(dialect: Dialect, items: Sequence[bytes]) -> None:
    if not all(item[:1] == b"{" for item in items):
        raise InvalidInput("bad_request_body", f"{dialect.items} of the agent's request has what is no object.")


def _opening(dialect: Dialect, items: Sequence[bytes]) -> int:
    for count, item in enumerate(items):
        messages: list[Message] = dialect.messages(decode_raw(item))
        if any(message.role != "system" for message in messages):
            return count
    return len(items)


def put_in(dialect: Dialect, body: Body, held: WrittenItems, texts: Mapping[int, Sequence[str]]) -> list[bytes]:
    """The pieces of a body with texts behind some items; all others are the same bytes."""
    behind = {at: _with_texts(dialect, held.items[at], there) for at, there in texts.items()}
    if not held.ends:
        items = [one for at, item in enumerate(held.items) for one in behind.get(at, (item,))]
        return [body.with_items(dialect.items, items)]
    made: list[bytes] = []
    at = 0
    for place in sorted(behind):
        first, *more = behind[place]
        piece = held.pieces[place + 1]
        made += held.pieces[at : place + 1]
        made += [piece[: len(piece) - len(held.items[place])] + first, *(b"," + one for one in more)]
        at = place + 2
    return [*made, *held.pieces[at:]]


def _with_texts(dialect: Dialect, item: bytes, texts: Sequence[str]) -> list[bytes]:
    """An item with what stands behind it; the same bytes where it has not changed itself."""
    first = decode_raw(item)
    placed = [first]
    for text in texts:
        placed[-1:] = dialect.put(placed[-1], text)
    return [item if one is first else msgspec.json.encode(one) for one in placed]
