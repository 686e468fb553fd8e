"""What holds very much in little memory: names of payloads, pieces, items that are decoded when they are looked at."""

import hashlib
import json
import random
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.formats import conversation, json_items, name_table
from core.formats.json_items import FileItems, FilePieces, JsonItems, only, parse_large, parse_some
from core.formats.json_text import parse
from core.formats.name_table import NameTable
from core.formats.readers.claude_items import OUTLINED, outline_of
from core.formats.spools import BlobSelection, BlobSpool, JoinedPieces
from core.formats.values import dicts_of

FOREIGN = Path(__file__).parent / "foreign"
CHANGES = st.lists(st.tuples(st.integers(0, 200), st.sampled_from([*b'09eE+-.,:[]{}"\\untr \xff\x01']), st.booleans()),
                   max_size=3)


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
    pieces = JoinedPieces((b"a", b"b"), [b"c", b"d"])
    assert list(pieces) == [b"a", b"b", b"c", b"d"] and pieces[-1] == b"d" and pieces[1:3] == [b"b", b"c"]
    with pytest.raises(IndexError):
        pieces[4]


ROWS = [{"kind": "a", "text": "x" * 50, "n": 1}, {"text": "no kind"}, {"kind": None, "n": [1, {"deep": 2}]},
        {"kind": "b", "n": 2**63 - 1}, 7, {"kind": "é\ud7ff", "extra": {"kind": "inner"}}]


def test_a_look_at_some_members_gives_what_a_look_at_all_gives(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS))
    whole = parse_large(FilePieces(path)).value
    items = dicts_of(whole)
    assert isinstance(items, JsonItems) and list(items) == [r for r in ROWS if isinstance(r, dict)]
    expected = [{k: r[k] for k in ("kind", "n") if k in r} for r in items]
    assert list(only(items, "kind", "n")) == expected
    assert list(only(items[1:4], "kind", "n")) == expected[1:4]
    assert list(only([{"kind": 1, "other": 2}], "kind")) == [{"kind": 1, "other": 2}], "what is decoded is given whole"


def test_a_look_at_some_members_of_lines_takes_odd_ones_with_the_same_care(tmp_path):
    lines = [b'{"kind": 99999999999999999999, "n": 1}', b'  {"n": 2, "kind": "k"}', b'{"kind": "\\ud800", "n": 3}',
             b'{"kind": "\xff", "n": 4}']
    path = tmp_path / "lines"
    path.write_bytes(b"\n".join(lines))
    places, start = FileItems(FilePieces(path)), 0
    for line in lines:
        places.append(start, len(line))
        start += len(line) + 1
    items = dicts_of(places.items())
    assert len(items) == 4
    assert [m["kind"] for m in only(items, "kind")] == [m["kind"] for m in items] == [
        "99999999999999999999", "k", "\ufffd", "\ufffd"]


@pytest.mark.parametrize("held", [2, 100])
def test_what_belongs_to_an_item_comes_with_it_however_many_there_are(held, monkeypatch):
    monkeypatch.setattr(conversation, "_AT_HAND", held)
    items = [0, 1, 2, 3, 10, 11, 20, 30, 31, 32, 33, 34]
    found = [(first, list(rest)) for first, rest in conversation.grouped(items, lambda a, b: a // 10 == b // 10)]
    assert found == [(0, [1, 2, 3]), (10, [11]), (20, []), (30, [31, 32, 33, 34])]
    assert list(conversation.grouped([], lambda a, b: True)) == []


def test_a_long_list_is_not_held_while_its_items_are_looked_at(tmp_path, monkeypatch):
    monkeypatch.setattr(json_items, "LARGE", 1000)
    path = tmp_path / "rows.json"
    path.write_text(json.dumps({"first": 1, "rows": [{"n": n, "text": str(n) * 200} for n in range(5000)]}))
    tracemalloc.start()
    try:
        rows = parse_large(FilePieces(path)).value["rows"]
        assert [row["n"] for row in rows] == list(range(5000))
        assert tracemalloc.get_traced_memory()[0] < path.stat().st_size / 5
    finally:
        tracemalloc.stop()
    assert list(only(rows[4990:], "n")) == [{"n": n} for n in range(4990, 5000)]


@given(CHANGES)
def test_a_first_look_at_some_members_finds_every_damage(changes):
    """What is skipped is looked at as closely as what is taken, or a damaged line would not be named."""
    line = bytearray('{"kind": "k", "n": [1.5e3, -0.2, true, null, "x\\u00e9\\n"], "b": {"c": 12, "é": "ü"}}'.encode())
    for place, byte, is_new in changes:
        place %= len(line)
        line[place : place + (not is_new)] = bytes([byte])
    whole, some = parse(bytes(line)), parse_some(bytes(line), ("kind",))
    assert (whole.problem, type(whole.value)) == (some.problem, type(some.value))
    if isinstance(whole.value, dict):
        assert some.value.get("kind") == whole.value.get("kind")


def test_what_an_outline_rests_on_is_all_that_it_is_given(monkeypatch):
    """`OUTLINED` names every member that `outline_of` looks at: with less, an outline would be another one."""
    for path in sorted(FOREIGN.glob("claude*.jsonl")):
        for line in path.read_bytes().splitlines():
            if isinstance(record := parse(line).value, dict):
                assert outline_of(0, record) == outline_of(0, parse_some(line, OUTLINED).value)
