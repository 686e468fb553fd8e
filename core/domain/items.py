"""The rows of a step list in the order of the log: steps, and what stands between them."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from core.domain.places import ByPlace

Kind = Literal["step", "summary", "guidance", "score", "submission"]


class Item(msgspec.Struct, frozen=True):
    """One row: a step, a score or a submission by its index, a summary or guidance by its id."""

    kind: Kind
    ref: int | str


class Items(ByPlace[Item]):
    """All items. Steps are in their order, so only the others are held, with their places."""

    def __init__(self) -> None:
        self.steps = 0
        self.places: list[int] = []
        """Where the items stand that are no steps, in order."""
        self.others: list[Item] = []

    def __len__(self) -> int:
        return self.steps + len(self.others)

    def at(self, place: int) -> Item:
        """The item at a place."""
        before = bisect_left(self.places, place)
        if before < len(self.places) and self.places[before] == place:
            return self.others[before]
        return Item("step", place - before)

    def __iter__(self) -> Iterator[Item]:
        step = 0
        for place, (at, other) in enumerate(zip(self.places, self.others, strict=True)):
            yield from (Item("step", i) for i in range(step, at - place))
            yield other
            step = at - place
        yield from (Item("step", i) for i in range(step, self.steps))

    def add_step(self) -> None:
        """The next item is the next step."""
        self.steps += 1

    def add(self, item: Item) -> None:
        """The next item is no step."""
        self.places.append(len(self))
        self.others.append(item)

    def step_at(self, index: int) -> int:
        """Which step an item is, counted from 0; −1 for what is no step."""
        before = bisect_left(self.places, index)
        return -1 if before < len(self.places) and self.places[before] == index else index - before

    def of_step(self, step: int) -> int:
        """Where the `step`-th step stands, counted from 0."""
        return step + bisect_right(range(len(self.places)), step, key=lambda before: self.places[before] - before)

    def of_steps(self, steps: Sequence[int]) -> list[int]:
        """Where some steps stand, counted from 0 and given in order; the same as `of_step` of each, only sooner."""
        found: list[int] = []
        start = 0
        for before, place in enumerate(self.places):
            stop = bisect_left(steps, place - before, start)
            found += [step + before for step in steps[start:stop]] if before else steps[start:stop]
            start = stop
        return found + [step + len(self.places) for step in steps[start:]]

    def of_other(self, kind: str, ref: int | str) -> int:
        """Where something that is no step stands; −1 where it does not."""
        wanted = kind, ref
        return next((at for at, item in zip(self.places, self.others, strict=True) if (item.kind, item.ref) == wanted),
                    -1)

    def others_in(self, first: int, last: int) -> range:
        """Which of the others stand at first..last."""
        return range(bisect_left(self.places, first), bisect_right(self.places, last))
