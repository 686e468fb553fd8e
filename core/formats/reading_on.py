"""What of a growing file's session will not change is read for good; the next reading goes on behind it.

A reader that gathers its items first, and then tells a conversation of one after the other, gives them here with what
each of them rests on. Those that were the same the last time, but for the last, go into a conversation that stays; the
rest goes into a copy of it, which becomes the session of now. Where something of what stays is another, all is read.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from core.formats.conversation import Conversation

OPEN = 2
"""So many of the last items may still change, as a step whose results come; another that does costs a whole reading."""


class ItemsRead(msgspec.Struct):
    """A conversation with some items, how long its context was after each, and what their reader noted by name."""

    conversation: Conversation
    lengths: array[int] = msgspec.field(default_factory=lambda: array("q"))
    named: dict[str, int] = {}

    def copy(self) -> ItemsRead:
        """One that goes on by itself."""
        return ItemsRead(self.conversation.copy(), self.lengths[:], dict(self.named))


class _Held(msgspec.Struct):
    begun: object
    done: ItemsRead
    warnings: int
    keys: Sequence[object] = ()
    """Of the items that were added."""
    last: Sequence[object] = ()
    """Of all items of the reading before."""


def read_on(held: dict[Any, Any] | None, name: object, begun: object, keys: Sequence[object],
            begin: Callable[[], Conversation], add: Callable[[ItemsRead, int], None]) -> ItemsRead:
    """The conversation of all items. `held` is what the readings of a growing file share (None: it does not grow),
    `name` the session's there; `begun` is what its first fact rests on, `keys` what each item does, which is looked at
    only where the file grows. `add` adds the item of a place."""
    if held is None:
        done = ItemsRead(begin())
        for place in range(len(keys)):
            add(done, place)
        return done
    known: _Held | None = held.get(name)
    fresh = begin()
    if known is None or known.begun != begun or known.keys != keys[: len(known.keys)]:
        known = held[name] = _Held(begun, ItemsRead(fresh), len(fresh.builder.warnings), last=keys)
    settled = max(len(known.keys), _shared(known.last, keys) - OPEN)
    for place in range(len(known.keys), settled):
        add(known.done, place)
    known.keys, known.last = keys[:settled], keys
    done = known.done.copy()
    builder = done.conversation.builder
    builder.warnings[: known.warnings] = fresh.builder.warnings
    for place in range(settled, len(keys)):
        add(done, place)
    return done


def _shared(one: Sequence[object], other: Sequence[object]) -> int:
    """How many values two sequences share from their beginning."""
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
