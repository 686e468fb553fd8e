"""Very many names of one length in little memory: what is known of each message of a long run is mostly its name."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

FEW = 16_384
"""Names up to which a plain `dict` finds them, which is quicker; of more than that it would take most of the memory."""


class NameTable:
    """Names in the order in which they came, each once; the place of a name is its number in that order.

    Many are found by open addressing: 12 to 20 bytes beside a name, where a `dict` of texts takes 250. Python's hash of
    bytes is keyed anew in each process, so that no file can be made whose names meet in one slot.
    """

    def __init__(self, width: int, before: NameTable | None = None) -> None:
        """`width`: bytes of each name; `before`: the names that it has now are here too."""
        self._width = width
        self._names: bytearray = bytearray() if before is None else before._names[:]
        self._few: dict[bytes, int] = {} if before is None else dict(before._few)
        self._slots: array[int] = array("i") if before is None else before._slots[:]

    def __len__(self) -> int:
        return len(self._names) // self._width

    def __iter__(self) -> Iterator[bytes]:
        return (self.name(place) for place in range(len(self)))

    def name(self, place: int) -> bytes:
        """The name at a place."""
        return bytes(self._names[place * self._width : (place + 1) * self._width])

    def find(self, name: bytes) -> int:
        """The place of a name; -1 where it is not here."""
        if not self._slots:
            return self._few.get(name, -1)
        return self._slots[self._slot(name)] if len(name) == self._width else -1

    def add(self, name: bytes) -> int:
        """The place of a name, which is here from now on."""
        count = len(self._names) // self._width
        if self._slots:
            slot = self._slot(name)
            if (place := self._slots[slot]) >= 0:
                return place
            self._slots[slot] = place = count
        elif (place := self._few.setdefault(name, count)) < count:
            return place
        self._names += name
        if place >= FEW and 2 * place > len(self._slots):
            self._widen()
        return place

    def _slot(self, name: bytes) -> int:
        """The slot that a name has, or would have."""
        slots, names, width, last = self._slots, self._names, self._width, len(self._slots) - 1
        slot = hash(name) & last
        while (place := slots[slot]) >= 0 and names[place * width : (place + 1) * width] != name:
            slot = (slot + 1) & last
        return slot

    def _widen(self) -> None:
        """At least half of the slots are free; a power of two of them."""
        self._few = {}
        self._slots = array("i", [-1]) * (4 * FEW if not self._slots else 2 * len(self._slots))
        for place, name in enumerate(self):
            self._slots[self._slot(name)] = place
