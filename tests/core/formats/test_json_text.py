"""Damaged JSON gives what stands before the damage, and never anything that was not in it."""

import json

from hypothesis import given
from hypothesis import strategies as st

from core.formats.json_text import Parsed, objects_in, parse

LEAVES = st.none() | st.integers(-99, 99) | st.text(max_size=8)
VALUES = st.recursive(LEAVES, lambda v: st.lists(v, max_size=3) | st.dictionaries(st.text(max_size=4), v, max_size=3))


@given(st.lists(VALUES, max_size=6), st.integers(0, 400))
def test_every_cut_of_a_list_gives_whole_items_in_order(items, at) -> None:
    data = json.dumps({"items": items}, ensure_ascii=False).encode()
    parsed = parse(data[:at])
    if at >= len(data):
        assert parsed.value == {"items": items}
        assert parsed.problem == ""
        return
    assert parsed.problem
    found = (parsed.value or {}).get("items", [])
    assert found == items[: len(found)] or found[:-1] == items[: len(found) - 1]


def test_the_place_of_the_damage_is_counted_in_bytes() -> None:
    parsed = parse('{"a": "文件",\n "b": }'.encode())
    assert parsed.value == {"a": "文件"}
    assert "line 2, byte 22" in parsed.problem


def test_bytes_that_are_no_text_are_named() -> None:
    parsed = parse(b'{"a": "x\xffy"}')
    assert parsed.value == {"a": "x\ufffdy"}
    assert "byte 8 is not UTF-8" in parsed.problem


def test_depth_and_large_numbers_do_no_harm() -> None:
    assert parse(b"[" * 200_000).value is None
    assert parse(b"[" + b"9" * 6000 + b"]") == Parsed(["9" * 6000]), "as each number beyond 64 bits"


def test_objects_behind_one_another_are_found_with_their_places_and_nothing_else_is_taken_apart() -> None:
    data = '{"a": "件}{"} {"b": 1}{}'.encode()
    assert [part.decode() for _, part in objects_in(data)] == ['{"a": "件}{"}', '{"b": 1}', "{}"]
    assert [data[at : at + len(part)] for at, part in objects_in(data)] == [part for _, part in objects_in(data)]
    for other in (b'{"a": 1} {"b": ', b'{"a": 1} 2', b"1 2", b'{"a": "\xff"}{}', b"{}" + b'{"a":' * 9_000):
        assert objects_in(other) == []
