"""Names of very many payloads, beside a dict of the same names."""

import hashlib
import random

import pytest

from core.formats import name_table
from core.formats.name_table import NameTable
from core.formats.spools import BlobSelection, BlobSpool, Joined


@pytest.mark.parametrize("width", [8, 32])
def test_a_table_gives_the_places_that_a_dict_gives_however_many_names_there_are(width, monkeypatch):
    monkeypatch.setattr(name_table, "FEW", 64)
    chance, table, known = random.Random(1), NameTable(width), {}
    names = [hashlib.blake2b(bytes([n % 251, n // 251]), digest_size=width).digest() for n in range(3000)]
    for name in chance.choices(names, k=6000):
        assert table.find(name) == known.get(name, -1)
        assert table.add(name) == known.setdefault(name, len(known))
        if len(known) in (63, 64, 65, 500):
            other = NameTable(width, table)
            other.add(b"x" * width)
            assert table.find(b"x" * width) == -1 and other.find(b"x" * width) == len(known)
    assert list(table) == list(known) and len(table) == len(known)
    assert table.find(b"short") == -1


def test_a_selection_has_what_was_wanted_of_a_spool_and_nothing_else():
    spool = BlobSpool()
    names = [spool.put(f"payload {n}".encode()) for n in range(20)]
    assert spool.put(b"payload 3") == names[3] and len(spool) == 20
    wanted = BlobSelection(spool)
    wanted.want([names[11], names[3], "0" * 64, names[3]])
    assert list(wanted) == [names[3], names[11]] and len(wanted) == 2
    assert wanted[names[11]] == b"payload 11" and names[4] not in wanted and 7 not in wanted and "no name" not in spool
    with pytest.raises(KeyError):
        wanted[names[4]]
    later = BlobSpool(spool)
    other = wanted.copy(later)
    other.want([later.put(b"new")])
    assert other[later.put(b"new")] == b"new" and len(wanted) == 2 and len(spool) == 20


def test_pieces_with_others_behind_them_read_as_one_list():
    pieces = Joined((b"a", b"b"), [b"c", b"d"])
    assert list(pieces) == [b"a", b"b", b"c", b"d"] and pieces[-1] == b"d" and pieces[1:3] == [b"b", b"c"]
    with pytest.raises(IndexError):
        pieces[4]
