"""Contexts: which messages the model was given at a step, as a delta to the step before.

A message is stored once however many contexts hold it, so storage stays linear in the length of a session.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Annotated, cast

import msgspec

from core.domain.blob import BlobName
from core.domain.bounds import MOST_ITEMS, Code, Count, Many, Title, Tokens
from core.domain.errors import InvalidInput

MOST_MESSAGES = MOST_ITEMS
"""Messages of the longest context: a few deltas that keep the same range twice describe more than any memory holds."""

MOST_PARTS = 8_000
"""Parts of the longest delta that fits into an event; a context that would need more of them is not known."""

_FEW = 8
"""So many messages are sought one by one, which is quicker than an index of all that were there."""


class MessageRef(msgspec.Struct, frozen=True, kw_only=True, tag="entered", gc=False):
    """A message by content address, with what a reader wants to know without fetching it.

    `tokens` is its length in the model's own tokens where the tokenizer is at hand, else an estimate
    (`estimated`). `source` says what made it: task, step:N, guidance:ID, summary:ID, note.
    """

    hash: BlobName
    role: Code
    tokens: Tokens = 0
    estimated: bool = True
    source: Title = ""


class PreviousRange(msgspec.Struct, frozen=True, kw_only=True, tag="kept", gc=False):
    """Messages start..stop (half open) of the previous step's context."""

    start: Count
    stop: Count


class ContextDelta(msgspec.Struct, frozen=True, kw_only=True):
    """A context as what it keeps of the previous step's context and what entered."""

    parts: Annotated[tuple[PreviousRange | MessageRef, ...], Many] = ()


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """How many values two sequences share from their beginning. Lists compare faster than any loop over them."""
    low, high = 0, min(len(one), len(other))
    if list(one[:high]) == list(other[:high]):
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if list(one[low:middle]) == list(other[low:middle]):
            low = middle
        else:
            high = middle - 1
    return low


def delta_between(before: Sequence[MessageRef], after: Sequence[MessageRef]) -> ContextDelta:
    """The delta that turns one context into another; maximal runs of kept messages, in order. What both begin with is
    one of them, and is sought no more: a context that grows costs what enters."""
    shared = shared_length(before, after)
    parts: list[PreviousRange | MessageRef] = [PreviousRange(start=0, stop=shared)] if shared else []
    entered, left = after[shared:], before[shared:]
    position: dict[MessageRef, int] = {}
    for index, ref in enumerate(left if len(entered) > _FEW else (), shared):
        position.setdefault(ref, index)
    names = [ref.hash for ref in left] if entered and not position else []
    for ref in entered:
        last = parts[-1] if parts else None
        if isinstance(last, PreviousRange) and last.stop < len(before) and before[last.stop] == ref:
            parts[-1] = PreviousRange(start=last.start, stop=last.stop + 1)
            continue
        if position:
            at = position.get(ref)
        else:
            at = shared + left.index(ref) if ref.hash in names and ref in left else None
        parts.append(ref if at is None else PreviousRange(start=at, stop=at + 1))
    return ContextDelta(parts=tuple(parts))


def apply_delta(before: Sequence[MessageRef], delta: ContextDelta) -> list[MessageRef]:
    """The context that a delta describes.

    Raises InvalidInput when it refers outside `before`, or is longer than any context (`MOST_MESSAGES`).
    """
    after: list[MessageRef] = []
    _length(delta)
    for part in delta.parts:
        if isinstance(part, MessageRef):
            after.append(part)
        elif 0 <= part.start <= part.stop <= len(before):
            after += before[part.start : part.stop]
        else:
            raise _outside(part.start, part.stop, len(before))
    return after


class Contexts:
    """The contexts of a session's steps by index, rebuilt from deltas; the last few that were asked for are kept.

    A context is followed back only as far as its messages go: to the steps where they entered, or to a context that
    is kept. Going through a session step by step, either way, costs the length of each context and nothing more.
    """

    _RECENT = 8

    def __init__(self, delta_at: Callable[[int], ContextDelta]) -> None:
        """`delta_at(i)` gives the delta of the i-th step, counted from 0."""
        self._delta_at = delta_at
        self._recent: OrderedDict[int, list[MessageRef]] = OrderedDict()

    def at(self, index: int) -> list[MessageRef]:
        """The context of the `index`-th step, counted from 0; -1 gives the empty context before it.

        Raises InvalidInput when it keeps messages that the context before does not have.
        """
        if index < 0:
            return []
        if index not in self._recent:
            self._recent[index] = self._resolve(index)
            while len(self._recent) > self._RECENT:
                self._recent.popitem(last=False)
        self._recent.move_to_end(index)
        return list(self._recent[index])

    def _resolve(self, index: int) -> list[MessageRef]:
        delta = self._delta_at(index)
        if index - 1 in self._recent:
            return apply_delta(self._recent[index - 1], delta)
        found: list[MessageRef | None] = [None] * _length(delta)
        wanted = self._from_next(index, found) if index + 1 in self._recent else [(0, 0, len(found))]
        for at in range(index, -1, -1):
            if not wanted:
                break
            if at in self._recent:
                self._fill(found, wanted, self._recent[at])
                wanted = []
                break
            wanted = _step_back(found, wanted, delta if at == index else self._delta_at(at))
        if wanted:
            raise _outside(wanted[0][1], wanted[0][2], 0)
        return cast(list[MessageRef], found)

    def _from_next(self, index: int, found: list[MessageRef | None]) -> list[_Wanted]:
        """Take what the next step kept of this context; what is still to be found."""
        following, at = self._recent[index + 1], 0
        for part in self._delta_at(index + 1).parts:
            if isinstance(part, PreviousRange):
                found[part.start : part.stop] = following[at : at + part.stop - part.start]
                at += part.stop - part.start
            else:
                at += 1
        if None not in found:
            return []
        low = found.index(None)
        high = next(i for i in range(len(found), low, -1) if found[i - 1] is None)
        return [(low, low, high)]

    @staticmethod
    def _fill(found: list[MessageRef | None], wanted: list[_Wanted], held: list[MessageRef]) -> None:
        for place, start, stop in wanted:
            if stop > len(held):
                raise _outside(start, stop, len(held))
            found[place : place + stop - start] = held[start:stop]


_Wanted = tuple[int, int, int]
"""Messages start..stop of some context, and where the first of them stands in the one that is rebuilt."""


def _step_back(found: list[MessageRef | None], wanted: list[_Wanted], delta: ContextDelta) -> list[_Wanted]:
    """Put the messages that entered here into their places; where the others are in the context before."""
    starts = list(accumulate((_span(part) for part in delta.parts), initial=0))
    left: list[_Wanted] = []
    for place, start, stop in wanted:
        if stop > starts[-1]:
            raise _outside(start, stop, starts[-1])
        at = bisect_right(starts, start) - 1
        while start < stop:
            part, upto = delta.parts[at], min(stop, starts[at + 1])
            if isinstance(part, MessageRef):
                found[place] = part
            elif upto > start:
                _join(left, place, part.start + start - starts[at], part.start + upto - starts[at])
            place, start, at = place + upto - start, upto, at + 1
    return left


def _join(wanted: list[_Wanted], place: int, start: int, stop: int) -> None:
    """Add a range, to the last one where it goes on from it: ranges stay few."""
    if wanted:
        last_place, last_start, last_stop = wanted[-1]
        if last_stop == start and last_place + last_stop - last_start == place:
            wanted[-1] = (last_place, last_start, stop)
            return
    wanted.append((place, start, stop))


def _length(delta: ContextDelta) -> int:
    length = sum(map(_span, delta.parts))
    if length > MOST_MESSAGES:
        raise InvalidInput("context_delta", f"A context of {length} messages is longer than {MOST_MESSAGES}.")
    return length


def _span(part: PreviousRange | MessageRef) -> int:
    if isinstance(part, MessageRef):
        return 1
    if not 0 <= part.start <= part.stop:
        raise _outside(part.start, part.stop, 0)
    return part.stop - part.start


def _outside(start: int, stop: int, length: int) -> InvalidInput:
    return InvalidInput("context_delta", f"A context keeps messages {start}–{stop} of {length}.")
