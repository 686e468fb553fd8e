"""What a session that is being read has given so far: in memory while it is little, beyond that in files without names.

Payloads by their names, events and spans in order: one kind of file holds all of them.
"""

from __future__ import annotations

import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import IO, overload

from core.domain.blob import blob_digest
from core.formats.name_table import NameTable

NAME_BYTES = 32
"""Bytes of a payload's name (`core.domain.blob`)."""

IN_MEMORY = 1024 * 1024
"""Bytes of a spool that are held in memory; when there are more, all of them are written to the disk."""


class ByteSpool:
    """Pieces of bytes in the order in which they are put. The file goes with the last one who refers to it."""

    def __init__(self, before: ByteSpool | None = None) -> None:
        """`before`: the pieces that it has now come first; what is put there later is not in this one."""
        self._file: IO[bytes] | None = None
        self._recent = bytearray()
        """What came last, and is not in the file."""
        self._written = 0
        self._ends = array("q", [0])
        self._before, self._first = before, len(before) if before is not None else 0
        self._size_before = before.size if before is not None else 0

    def __len__(self) -> int:
        return self._first + len(self._ends) - 1

    @property
    def size(self) -> int:
        """Bytes of all pieces."""
        return self._size_before + self._ends[-1]

    def put(self, data: bytes) -> int:
        """One more piece; gives its place."""
        self._recent += data
        size = len(self._recent)
        self._ends.append(self._written + size)
        if size > IN_MEMORY:
            self._write()
        return self._first + len(self._ends) - 2

    def read(self, place: int) -> bytes:
        """The piece at a place."""
        if self._before is not None and place < self._first:
            return self._before.read(place)
        place -= self._first
        start, stop = self._ends[place], self._ends[place + 1]
        if self._file is None or start >= self._written:
            return bytes(self._recent[start - self._written : stop - self._written])
        self._file.seek(start)
        return self._file.read(stop - start)

    def shared(self, other: ByteSpool) -> int:
        """How many of its first pieces lie in the spool from which both go on."""
        return self._first if self._before is not None and self._before is other._before else 0

    def _write(self) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as we do
            weakref.finalize(self, self._file.close)
        self._file.seek(self._written)
        self._file.write(self._recent)
        self._written += len(self._recent)
        self._recent = bytearray()

    def pieces(self) -> Sequence[bytes]:
        """All pieces so far, in order: few of them as they are, many read when they are looked at."""
        held = Pieces(self, range(len(self)))
        return held if self.size > IN_MEMORY else tuple(held)


class Pieces(Sequence[bytes]):
    """Some pieces of a spool, which are read when they are looked at."""

    def __init__(self, spool: ByteSpool, places: range) -> None:
        self._spool, self._places = spool, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        if isinstance(place, slice):
            return Pieces(self._spool, self._places[place])
        return self._spool.read(self._places[place])

    def begun(self, other: Pieces) -> int:
        """How many of the first it has from the spool from which the other goes on too."""
        is_whole = not self._places or (self._places.start, self._places.step) == (0, 1)
        return min(len(self), self._spool.shared(other._spool)) if is_whole else 0


def shared_pieces(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """So many first pieces are surely the same, as both go on from one spool; none of them is read for that."""
    if not isinstance(one, Pieces) or not isinstance(other, Pieces):
        return 0
    return min(one.begun(other), other.begun(one))


class JoinedPieces(Sequence[bytes]):
    """Pieces, and those after them, which are few."""

    def __init__(self, first: Sequence[bytes], rest: Sequence[bytes]) -> None:
        self._first, self._rest = first, rest

    def __len__(self) -> int:
        return len(self._first) + len(self._rest)

    @overload
    def __getitem__(self, place: int) -> bytes: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[bytes]: ...
    def __getitem__(self, place: int | slice) -> bytes | Sequence[bytes]:
        places = range(len(self))[place]
        if isinstance(places, range):
            first, rest, begin = self._first, self._rest, len(self._first)
            return [first[n] if n < begin else rest[n - begin] for n in places]
        return self._first[places] if places < len(self._first) else self._rest[places - len(self._first)]


class BlobSpool(Mapping[str, bytes]):
    """Payloads by their names; a payload's place in its spool is the place of its name."""

    def __init__(self, before: BlobSpool | None = None) -> None:
        """`before`: the payloads that it has now are here too."""
        self.names: NameTable = NameTable(NAME_BYTES, None if before is None else before.names)
        self._spool: ByteSpool = ByteSpool(None if before is None else before._spool)

    @property
    def size(self) -> int:
        """Bytes of all payloads."""
        return self._spool.size

    def put(self, data: bytes) -> str:
        """Store a payload; gives its name."""
        name, held = blob_digest(data), len(self.names)
        if self.names.add(name) == held:
            self._spool.put(data)
        return name.hex()

    def find(self, name: object) -> int:
        """The place of a name; -1 where there is no such payload."""
        try:
            return self.names.find(bytes.fromhex(name))  # type: ignore[arg-type]
        except (TypeError, ValueError):
            return -1

    def read(self, place: int) -> bytes:
        """The payload at a place."""
        return self._spool.read(place)

    def __getitem__(self, name: str) -> bytes:
        if (place := self.find(name)) < 0:
            raise KeyError(name)
        return self.read(place)

    def __contains__(self, name: object) -> bool:
        return self.find(name) >= 0

    def __iter__(self) -> Iterator[str]:
        return (name.hex() for name in self.names)

    def __len__(self) -> int:
        return len(self.names)


class BlobSelection(Mapping[str, bytes]):
    """Some payloads of a spool, which are read when they are asked for."""

    def __init__(self, whole: BlobSpool) -> None:
        self._whole = whole
        self._wanted = bytearray()

    def want(self, names: Iterable[str]) -> None:
        """These too, as far as the spool has them."""
        wanted = self._wanted
        for name in names:
            if (place := self._whole.find(name)) >= 0:
                if place >= len(wanted):
                    wanted.extend(bytes(place + 1 - len(wanted)))
                wanted[place] = 1

    def copy(self, whole: BlobSpool) -> BlobSelection:
        """The same of a spool that goes on by itself."""
        made = BlobSelection(whole)
        made._wanted = bytearray(self._wanted)
        return made

    def __getitem__(self, name: str) -> bytes:
        if name not in self:
            raise KeyError(name)
        return self._whole[name]

    def __contains__(self, name: object) -> bool:
        place = self._whole.find(name)
        return 0 <= place < len(self._wanted) and bool(self._wanted[place])

    def __iter__(self) -> Iterator[str]:
        return (self._whole.names.name(place).hex() for place, wanted in enumerate(self._wanted) if wanted)

    def __len__(self) -> int:
        return sum(self._wanted)
