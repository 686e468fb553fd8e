"""The steps of a trajectory: columns of what is asked of all of them, entries of those that are looked at.

With a `Read` only the columns stay in memory (about 50 bytes a step); an entry is decoded again from the log when it
is asked for. Without one every entry is kept.
"""

import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from math import nan

import msgspec

from core.domain.events import StepAdded, decode_event
from core.domain.places import ByPlace
from core.domain.step import StepHead, Usage
from core.domain.step_entry import Opinions, StepEntry

Read = Callable[[Sequence[int]], dict[int, bytes]]
"""Gives the bodies of the events with these seqs, by seq."""

BLOCK = 64
"""Entries that are decoded together."""

RECENT_BLOCKS = 16
"""Blocks that stay decoded."""

ERROR, WAITING, RUNNING, TERMINALS, REPORT, PERSON = 1, 2, 4, 8, 16, 32
"""Bits of a step's flags: it failed, it only waited, it goes on in the background, it tells lengths of terminals, it
answers or reports, a person wrote it in the agent's place."""

LONG_TITLE = 190
"""A title of so many characters may be cut off; two that are equal need not be of the same command."""

ALL = ERROR | WAITING | RUNNING | TERMINALS | REPORT | PERSON


class StepShape(msgspec.Struct, frozen=True):
    """What many steps have in common: how they are filtered and counted."""

    family: str
    tools: tuple[str, ...]
    hosts: tuple[str, ...]
    status: str
    error: str
    is_error: bool


class Steps(ByPlace[StepEntry]):
    """A sequence of entries with columns beside it. Times are seconds since 1970 and NaN where the log says nothing;
    tokens are −1 and costs NaN there."""

    def __init__(self, read: Read | None = None) -> None:
        self._read = read
        self.numbers, self.seqs = array("q"), array("I")
        self.flags = bytearray()
        self.shape_of, self.key_of = array("I"), array("I")
        self.started, self.ended, self.cost = array("d"), array("d"), array("f")
        self.tokens_in, self.tokens_out = array("i"), array("i")
        self.shapes: list[StepShape] = []
        self.opinions: dict[int, Opinions] = {}
        self.touched = array("q")
        """The steps about which something was said, or said again, since this was made, in order, with repetitions."""
        self.usage_at: dict[int, int] = {}
        """Where an import told a step again without its usage: the seq of the event that has it."""
        self._shape_ids: dict[StepShape, int] = {}
        self._places: dict[int, int] | None = None
        self._held: list[StepEntry] = []
        self._blocks: OrderedDict[int, list[StepEntry]] = OrderedDict()

    # ---- as a sequence ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.seqs)

    def at(self, place: int) -> StepEntry:
        """The entry at a place."""
        if self._read is None:
            return self._held[place]
        return self._block(place // BLOCK)[place % BLOCK]

    def __iter__(self) -> Iterator[StepEntry]:
        if self._read is None:
            yield from self._held
            return
        for first in range(0, len(self), BLOCK):
            held = self._blocks.get(first // BLOCK)
            yield from held or self._decode(first, min(len(self), first + BLOCK))

    def index_of(self, number: int) -> int | None:
        """The place of a step number, or None."""
        if self._places is not None:
            return self._places.get(number)
        at = bisect_left(self.numbers, number)
        return at if at < len(self.numbers) and self.numbers[at] == number else None

    def indices_of(self, numbers: Iterable[int]) -> list[int]:
        """The places of those step numbers that are here, in order."""
        wanted = sorted(numbers)
        if self._places is None and len(self) and self.numbers[-1] - self.numbers[0] == len(self) - 1:  # n, n+1, …
            first = self.numbers[0]
            return [n - first for n in wanted[bisect_left(wanted, first) : bisect_right(wanted, self.numbers[-1])]]
        return sorted(at for at in map(self.index_of, wanted) if at is not None)

    # ---- growing ---------------------------------------------------------------------------------

    def add(self, seq: int, fact: StepAdded) -> None:
        """Take the next step."""
        number, at = fact.head.number, len(self.seqs)
        if self._places is None and at and number <= self.numbers[-1]:
            self._places = {known: place for place, known in enumerate(self.numbers)}
        if self._places is not None:
            self._places[number] = at
        self.numbers.append(number)
        self.seqs.append(seq)
        self.flags.append(0)
        for column in (self.shape_of, self.key_of, self.started, self.ended, self.cost, self.tokens_in,
                       self.tokens_out):
            column.append(0)
        self._note(at, fact)
        if self._read is None:
            self._held.append(_entry(seq, fact, fact.head.usage, None))
        elif at % BLOCK == 0:
            self._keep(at // BLOCK, [_entry(seq, fact, fact.head.usage, None)])
        elif (held := self._blocks.get(at // BLOCK)) is not None and len(held) == at % BLOCK:
            held.append(_entry(seq, fact, fact.head.usage, None))
        else:
            self._blocks.pop(at // BLOCK, None)

    def tell_again(self, at: int, seq: int, fact: StepAdded) -> None:
        """An import tells a step once more, whole: it takes the place of the first telling.

        Opinions stay, unless the agent's own words or actions are others than those that people judged.
        """
        usage = fact.head.usage
        if fact.is_rewritten:
            self.opinions.pop(at, None)
        if usage == Usage():
            usage = self[at].head.usage
            self.usage_at.setdefault(at, self.seqs[at])
        else:
            self.usage_at.pop(at, None)
        fresh = _entry(seq, fact, usage, self.opinions.get(at))
        self.seqs[at] = seq
        self.touched.append(at)
        self._note(at, fact)
        self._note_usage(at, usage)
        if self._read is None:
            self._held[at] = fresh
        else:
            self._blocks.pop(at // BLOCK, None)

    def opinion(self, at: int) -> Opinions:
        """What was said about a step, to be changed now."""
        self.touched.append(at)
        opinions = self.opinions.get(at)
        if opinions is None:
            opinions = self.opinions[at] = Opinions()
            held = self._held if self._read is None else self._blocks.get(at // BLOCK, [])
            place = at if self._read is None else at % BLOCK
            if place < len(held):
                entry = held[place]
                entry.verdicts, entry.notes, entry.tags = opinions.verdicts, opinions.notes, opinions.tags
        return opinions

    def last_with(self, flag: int, at: int) -> int:
        """The last step up to the `at`-th that has a flag; −1 where there is none."""
        return max((self.flags.rfind(value, 0, at + 1) for value in range(1, ALL + 1) if value & flag), default=-1)

    def shape(self, at: int) -> StepShape:
        """What a step has in common with others."""
        return self.shapes[self.shape_of[at]]

    # ---- parts -----------------------------------------------------------------------------------

    def _note(self, at: int, fact: StepAdded) -> None:
        head = fact.head
        self.flags[at] = (
            (ERROR if head.is_error else 0)
            | (WAITING if head.is_waiting else 0)
            | (RUNNING if head.status == "running" else 0)
            | (TERMINALS if fact.terminals else 0)
            | (REPORT if head.is_report else 0)
            | (PERSON if head.author else 0)
        )
        shape = StepShape(head.family, head.tools, head.hosts, head.status, head.error_kind, head.is_error)
        known = self._shape_ids.get(shape)
        if known is None:
            known = self._shape_ids[shape] = len(self.shapes)
            self.shapes.append(shape)
        self.shape_of[at] = known
        self.key_of[at] = _key(at, head)
        self.started[at], self.ended[at] = _seconds(head.started_at), _seconds(head.ended_at)
        self._note_usage(at, head.usage)

    def _note_usage(self, at: int, usage: Usage) -> None:
        self.tokens_in[at], self.tokens_out[at] = _count(usage.input_tokens), _count(usage.output_tokens)
        self.cost[at] = nan if usage.cost_usd is None else usage.cost_usd

    def _block(self, block: int) -> list[StepEntry]:
        first, stop = block * BLOCK, min(len(self), (block + 1) * BLOCK)
        held = self._blocks.get(block)
        if held is None or len(held) < stop - first:
            held = self._decode(first, stop)
            self._keep(block, held)
        else:
            self._blocks.move_to_end(block)
        return held

    def _keep(self, block: int, entries: list[StepEntry]) -> None:
        self._blocks[block] = entries
        self._blocks.move_to_end(block)
        while len(self._blocks) > RECENT_BLOCKS:
            self._blocks.popitem(last=False)

    def _decode(self, first: int, stop: int) -> list[StepEntry]:
        assert self._read is not None
        wanted = list(self.seqs[first:stop])
        bodies = self._read([*wanted, *(self.usage_at[at] for at in range(first, stop) if at in self.usage_at)])
        made = []
        for at, seq in enumerate(wanted, first):
            fact = _fact(bodies[seq])
            usage = _fact(bodies[self.usage_at[at]]).head.usage if at in self.usage_at else fact.head.usage
            made.append(_entry(seq, fact, usage, self.opinions.get(at)))
        return made

    def restore(self, shapes: Sequence[StepShape]) -> None:
        """Take up what follows from columns that were put in place as a whole."""
        self.shapes = list(shapes)
        self._shape_ids = {shape: number for number, shape in enumerate(self.shapes)}
        if not self._ascends:
            self._places = {number: place for place, number in enumerate(self.numbers)}

    @property
    def _ascends(self) -> bool:
        """Whether every number is above the one before; a runner counts n, n+1, …, which is seen at once."""
        numbers = self.numbers
        dense = not numbers or numbers == array("q", range(numbers[0], numbers[0] + len(numbers)))
        return dense or all(a < b for a, b in pairwise(numbers))


def _fact(body: bytes) -> StepAdded:
    fact = decode_event(body).fact
    assert isinstance(fact, StepAdded)
    return fact


def _entry(seq: int, fact: StepAdded, usage: Usage, opinions: Opinions | None) -> StepEntry:
    head = fact.head if fact.head.usage is usage else msgspec.structs.replace(fact.head, usage=usage)
    entry = StepEntry(head=head, body=fact.body, context=fact.context, completion=fact.completion,
                      terminals=fact.terminals, tools=fact.tools, sampled=fact.sampled, seq=seq)
    if opinions is not None:
        entry.verdicts, entry.notes, entry.tags = opinions.verdicts, opinions.notes, opinions.tags
    return entry


def _count(count: int | None) -> int:
    return -1 if count is None else count


def _key(at: int, head: StepHead) -> int:
    """The same for steps that tried the same thing. A title tells a whole command, but not what was written into a
    file: such steps are the same only when they fail."""
    whole = head.family in ("command", "search", "browse", "parse") and len(head.title) < LONG_TITLE
    is_comparable = bool(head.tools) and (whole or head.is_error)
    return zlib.crc32(head.title.encode("utf-8", "surrogatepass")) if is_comparable else at


def _seconds(at: datetime | None) -> float:
    return nan if at is None else at.timestamp()
