"""Blanks the parts of ICU's data that Qt asks nothing of: a third of it is names of languages, regions, currencies and
units, rules to break Thai and to write numbers out in words. The library stays as large and packs to half.

The data is one object of libicudata: a head, then a table of names and places. A blanked item is no longer one by its
first bytes, so that ICU says "not there" and whoever asked takes the next best.
"""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path

BLANKED = ("brkitr", "curr", "lang", "rbnf", "region", "translit", "unit")
"""Folders of the data. Qt orders texts (coll), reads encodings (cnv) and knows time zones (zone) by it; it breaks texts
and formats numbers itself."""

_KIND = b"CmnD"
_KIND_AT = 12
_HEAD = struct.Struct("<H")
_COUNT = struct.Struct("<I")
_ENTRY = struct.Struct("<II")


def blank(library: Path) -> None:
    """Blank them in a library. Raises SystemExit where it holds no such data, or not all of these folders."""
    data = bytearray(library.read_bytes())
    seen = set()
    items = _items(data, library)
    for (name, start), (_, end) in pairwise(items):
        parts = name.split("/")
        if len(parts) > 2 and parts[1] in BLANKED:
            data[start:end] = bytes(end - start)
            seen.add(parts[1])
    if seen != set(BLANKED):
        raise SystemExit(f"{library.name} has no {', '.join(sorted(set(BLANKED) - seen))} of ICU's data")
    library.write_bytes(data)


def _items(data: bytearray, library: Path) -> list[tuple[str, int]]:
    """Name and place of each item, in the order of the places."""
    head = data.find(_KIND) - _KIND_AT
    if head < 0:
        raise SystemExit(f"{library.name} holds no data of ICU")
    table = head + _HEAD.unpack_from(data, head)[0]
    entries = (_ENTRY.unpack_from(data, table + _COUNT.size + _ENTRY.size * number)
               for number in range(_COUNT.unpack_from(data, table)[0]))
    return sorted(((data[table + name:data.index(0, table + name)].decode("ascii"), table + place)
                   for name, place in entries), key=lambda item: item[1])
