"""The steps of a long session as rules go through them: a few at a time, which are read for all rules at once.

Each rule goes through all steps by itself. Held in memory they take twice the session's file, and read for each rule
anew they cost more than all rules do. So each rule has a thread of its own here, and each waits at the end of a window
until all are there: then the next one is read, and takes the place of the last.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar, overload

from core.domain.step import StepBody

T = TypeVar("T")

WINDOW = 4_000_000
"""Characters of the steps that are read at once."""

Load = Callable[[int, int], list[StepBody]]
"""Gives the steps from one place to another, without the second."""


class StepWindows(Sequence[StepBody]):
    """Steps that are read when they are looked at; `run_together` lets several go through them side by side."""

    def __init__(self, load: Load, starts: Sequence[int], count: int) -> None:
        """`starts` are the places of the first steps of the windows."""
        self._load, self._starts, self._count = load, starts, count
        self._turn = threading.Condition()
        self._at_work = 0
        self._wanted: dict[int, int] = {}
        """Which window each thread waits for that has come to the end of another."""
        self._held: tuple[int, list[StepBody]] = -1, []

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, place: int) -> StepBody: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[StepBody]: ...
    def __getitem__(self, place: int | slice) -> StepBody | Sequence[StepBody]:
        places = range(self._count)[place]
        with self._turn:
            if isinstance(places, int):
                return self._load(places, places + 1)[0]
            return [self._load(at, at + 1)[0] for at in places]

    def __iter__(self) -> Iterator[StepBody]:
        for window in range(len(self._starts)):
            yield from self._window(window)

    def run_together(self, works: Iterable[Callable[[], T]]) -> list[T]:
        """What each of some works gives, each of which may go through the steps as often as it likes."""
        found: dict[int, T] = {}
        threads = [threading.Thread(target=self._run, args=(n, work, found), name=f"rule {n}", daemon=True)
                   for n, work in enumerate(works)]
        self._at_work = len(threads)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return [found[n] for n in range(len(threads))]

    def _run(self, number: int, work: Callable[[], T], found: dict[int, T]) -> None:
        try:
            found[number] = work()
        finally:
            with self._turn:
                self._rest()

    def _window(self, window: int) -> list[StepBody]:
        with self._turn:
            if not self._at_work:  # nobody else goes through them
                return self._read(window)
            me = threading.get_ident()
            self._wanted[me] = window
            self._rest()
            self._turn.wait_for(lambda: me not in self._wanted)
            return self._held[1]

    def _rest(self) -> None:
        """One less is at work. The last one reads on, the farthest window first, so that those who begin again do so
        together."""
        self._at_work -= 1
        if self._at_work or not self._wanted:
            return
        window = max(self._wanted.values())
        self._read(window)
        for one in [one for one, wanted in self._wanted.items() if wanted == window]:
            del self._wanted[one]
            self._at_work += 1
        self._turn.notify_all()

    def _read(self, window: int) -> list[StepBody]:
        if self._held[0] != window:
            self._held = -1, []  # let go of before the next is read
            stop = self._starts[window + 1] if window + 1 < len(self._starts) else self._count
            self._held = window, self._load(self._starts[window], stop)
        return self._held[1]
