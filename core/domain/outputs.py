"""The recorded output of one terminal: places in its stream, and the bytes when they are asked for."""

from array import array
from bisect import bisect_right
from collections import OrderedDict

from core.domain.events import TerminalOutput, decode_event
from core.domain.places import ByPlace
from core.domain.steps import Read

RECENT = 64
"""Outputs that stay decoded."""


class Outputs(ByPlace[TerminalOutput]):
    """Outputs in the order of the log. With a `Read` their bytes stay in the log until they are looked at."""

    def __init__(self, read: Read | None = None) -> None:
        self._read = read
        self.seqs, self.offsets, self.sizes = array("I"), array("q"), array("I")
        self._held: list[TerminalOutput] = []
        self._recent: OrderedDict[int, TerminalOutput] = OrderedDict()

    def add(self, seq: int, fact: TerminalOutput) -> None:
        """Take the next output."""
        self.seqs.append(seq)
        self.offsets.append(fact.offset)
        self.sizes.append(fact.size)
        if self._read is None:
            self._held.append(fact)
        else:
            self._keep(len(self.seqs) - 1, fact)

    @property
    def length(self) -> int:
        """The offset behind the last byte."""
        return self.offsets[-1] + self.sizes[-1] if self.offsets else 0

    def before(self, offset: int) -> int:
        """The last output that begins at an offset or before it; −1 where there is none."""
        return bisect_right(self.offsets, offset) - 1

    def __len__(self) -> int:
        return len(self.seqs)

    def at(self, place: int) -> TerminalOutput:
        """The output at a place."""
        if self._read is None:
            return self._held[place]
        if place not in self._recent:
            fact = decode_event(self._read([self.seqs[place]])[self.seqs[place]]).fact
            assert isinstance(fact, TerminalOutput)
            self._keep(place, fact)
        return self._recent[place]

    def _keep(self, at: int, fact: TerminalOutput) -> None:
        self._recent[at] = fact
        while len(self._recent) > RECENT:
            self._recent.popitem(last=False)
