"""Which lines of a Codex rollout belong together: the answers of the model with their results, and what stands between.

A step is one answer: its words, thoughts and calls. Where tokens are counted, a count shows the answer's end (before
0.58 its beginning); else words after results do.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from core.domain.step import Usage
from core.formats.readers import codex_items
from core.formats.readers.codex_items import CALLS, OUTPUTS, Line
from core.formats.values import text_of, usage_of


class Gathered(msgspec.Struct, kw_only=True):
    """A step, or one line that stands between steps. `places` are the lines of an answer, or the line."""

    kind: Literal["step", "words", "inherited", "compacted", "rolled back"] = "step"
    places: list[int] = []
    results: list[tuple[int, int | None]] = []
    """The lines of its results, each with the line that tells the end of its call."""
    usage: Usage = Usage()
    model: str = ""
    calls: list[str] = []
    is_counted: bool = False
    is_answered: bool = False
    has_led: bool = False
    """Whether its count stood before it."""
    is_empty: bool = True
    """Whether nothing of the model is in it yet."""

    @property
    def key(self) -> tuple[object, ...]:
        """All that what it does rests on, beside the lines."""
        return self.kind, tuple(self.places), tuple(self.results), self.usage, self.model


class Gatherer:
    """Walks over outlines of lines and closes a step where the model is asked again."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self._counts = codex_items.own_counts(lines)
        self._is_counted = bool(self._counts) or codex_items.will_count(lines)
        self._leading = codex_items.leading_counts(lines, self._counts)
        self._ends = {text_of(line.payload.get("call_id")): place for place, line in enumerate(lines)
                      if line.event.endswith("_end")}
        self._results: dict[str, deque[int]] = {}
        for place, line in enumerate(lines):
            if line.kind == "response_item" and line.payload.get("type") in OUTPUTS:
                self._results.setdefault(text_of(line.payload.get("call_id")), deque()).append(place)
        self._calls = Counter(text_of(x.payload.get("call_id")) for x in lines if x.payload.get("type") in CALLS)
        self._open = Gathered()
        self._model = ""
        self._found: list[Gathered] = []

    @property
    def orphans(self) -> int:
        """How many results have no call before them, once all was gathered."""
        return sum(map(len, self._results.values()))

    def gathered(self) -> Iterator[Gathered]:
        """All in order; of what is not asked for yet, the next one is made."""
        for place, line in enumerate(self._lines):
            self._look(line, place)
            yield from self._found
            self._found.clear()
        self._close()
        yield from self._found

    def _look(self, line: Line, place: int) -> None:
        if line.kind == "turn_context":
            self._model = text_of(line.payload.get("model"))
        elif line.kind == "response_item":
            self._item(line, place)
        elif line.kind == "compacted":
            self._between("compacted", place)
        elif line.kind == "inherited":
            self._between("inherited", place)
        elif line.event == "thread_rolled_back":
            self._between("rolled back", place)
        elif place in self._counts:
            self._count(place)

    def _between(self, kind: Literal["words", "inherited", "compacted", "rolled back"], place: int) -> None:
        self._close()
        self._found.append(Gathered(kind=kind, places=[place]))

    def _item(self, line: Line, place: int) -> None:
        kind = line.payload.get("type")
        if kind in OUTPUTS:
            self._open.is_answered = True
            if not line.payload.get("call_id") and self._results.get("") and not self._open.is_empty:
                self._open.results.append(self._ended(self._results[""].popleft()))
        elif line.is_answer:
            if not self._open.has_led and (self._open.is_counted if self._is_counted else self._open.is_answered):
                self._close()
            self._take(line, place)
        elif kind in (*codex_items.MESSAGES, None) and line.has_text:
            self._between("words", place)

    def _take(self, line: Line, place: int) -> None:
        step = self._open
        step.places.append(place)
        if line.payload.get("type") in CALLS:
            step.calls.append(codex_items.call_name(line.payload, len(step.calls) + 1))
        if line.payload.get("type") != "reasoning" or line.has_text:
            step.is_empty = False

    def _count(self, place: int) -> None:
        """A count before its answer begins a step; one after it ends the step, and the first is the step's own."""
        used = self._counts[place]
        usage = usage_of(used.get("input_tokens"), used.get("output_tokens"), used.get("cached_input_tokens"))
        if place in self._leading:
            self._close()
            self._open.usage, self._open.has_led = usage, True
        elif not (self._open.is_empty or self._open.is_counted or self._open.has_led):
            self._open.usage, self._open.is_counted = usage, True

    def _close(self) -> None:
        step, self._open = self._open, Gathered()
        if step.is_empty:
            return
        step.model = self._model
        step.results += [self._ended(place) for call in step.calls for place in self._results_of(call)]
        self._found.append(step)

    def _ended(self, place: int) -> tuple[int, int | None]:
        return place, self._ends.get(text_of(self._lines[place].payload.get("call_id")))

    def _results_of(self, call: str) -> list[int]:
        """What answers a call, wherever it stands; of a name that several calls have, each takes one."""
        waiting = self._results.get(call, deque())
        self._calls[call] -= 1
        count = len(waiting) if self._calls[call] <= 0 else min(1, len(waiting))
        return [waiting.popleft() for _ in range(count)]
