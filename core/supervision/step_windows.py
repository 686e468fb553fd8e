"""The steps of a long session as rules go through them: a few at a time, which are read for all rules at once.

Each rule goes through all steps by itself. Held in memory they take twice the session's file, and read for each rule
anew they cost more than all rules do. So each rule has a thread of its own here, and each waits at the end of a window
until all are there: then the next one is read, and takes the place of the last.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import TypeVar, overload

from core.domain.step import StepBody

T = TypeVar("T")

WINDOW = 1_000_000
"""Characters of the steps that are read at once."""

Load = Callable[[int], list[StepBody] | None]
"""Gives the steps of a window by its number, the next or one before; None behind the last."""


class StepWindows(Sequence[StepBody]):
    """Steps that are read when they are looked at; `run_together` lets several go through them side by side."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._turn = threading.Condition()
        self._work = threading.Lock()
        """Held by the one thread that works: threads that want to at once only hinder one another."""
        self._at_work = 0
        self._wanted: dict[int, int] = {}
        """Which window each thread waits for that has come to the end of another."""
        self._held: tuple[int, list[StepBody] | None] = -1, None
        self._farthest = 0
        self._failure: BaseException | None = None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @overload
    def __getitem__(self, place: int) -> StepBody: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[StepBody]: ...
    def __getitem__(self, place: int | slice) -> StepBody | Sequence[StepBody]:
        return list(self)[place]

    def __iter__(self) -> Iterator[StepBody]:
        for number in count():
            if (window := self._window(number)) is None:
                return
            yield from window
            del window  # else it would be held until the next is here

    def run_together(self, works: Iterable[Callable[[], T]]) -> list[T]:
        """What each of some works gives, each of which may go through the steps as often as it likes."""
        found: dict[int, T] = {}
        threads = [threading.Thread(target=self._run, args=(n, work, found), name=f"rule {n}", daemon=True)
                   for n, work in enumerate(works)]
        self._at_work = len(threads)
        for thread in threads:
            thread.start()
        self._serve()
        for thread in threads:
            thread.join()
        while self._failure is None and self._read(self._farthest) is not None:  # what nobody came to
            self._farthest += 1
        if self._failure is not None:
            raise self._failure
        return [found[n] for n in range(len(threads))]

    def _run(self, number: int, work: Callable[[], T], found: dict[int, T]) -> None:
        try:
            with self._work:
                found[number] = work()
        finally:
            with self._turn:
                self._rest()

    def _window(self, window: int) -> list[StepBody] | None:
        with self._turn:
            if not self._at_work:  # nobody else goes through them
                return self._alone(window)
            self._work.release()
            me = threading.get_ident()
            self._wanted[me] = window
            self._rest()
            self._turn.wait_for(lambda: me not in self._wanted)
            held = self._held[1]
        self._work.acquire()
        return held

    def _alone(self, window: int) -> list[StepBody] | None:
        read = self._read(window)
        if self._failure is not None:
            raise self._failure
        return read

    def _rest(self) -> None:
        """One less is at work."""
        self._at_work -= 1
        if not self._at_work:
            self._turn.notify_all()

    def _serve(self) -> None:
        """Read on whenever all wait, until none does: the farthest window first, so that those who begin again do so
        together. All is read in one thread, as memory that another one gives back is not used by the others."""
        with self._turn:
            while self._turn.wait_for(lambda: not self._at_work) and self._wanted:
                window = max(self._wanted.values())
                self._read(window)
                for one in [one for one, wanted in self._wanted.items() if wanted == window]:
                    del self._wanted[one]
                    self._at_work += 1
                self._turn.notify_all()

    def _read(self, window: int) -> list[StepBody] | None:
        """One that cannot be read ends it for all who wait, and for who let them run."""
        if self._held[0] != window:
            self._held = window, None  # let go of before the next is read
            self._farthest = max(window, self._farthest)
            try:
                self._held = window, self._load(window)
            except BaseException as error:  # noqa: BLE001 - whatever it is, nobody may wait for ever
                self._failure = error
        return self._held[1]
