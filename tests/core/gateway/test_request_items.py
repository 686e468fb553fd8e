"""A request's conversation is read from its first new byte on, and is what a reading of the whole would be."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.gateway.chain import ChainMaker
from core.gateway.items import ItemsReader, WrittenItems, put_in
from core.gateway.recipe import DIALECTS

CHAT = DIALECTS["chat"]
TEXTS = st.text(st.sampled_from('a"\\{}[],: é\n'), max_size=12)
ITEMS = st.lists(st.builds(lambda role, text: {"role": role, "content": text},
                           st.sampled_from(["user", "assistant", "tool", "system"]), TEXTS), max_size=6)
OTHER = st.fixed_dictionaries({}, optional={"model": TEXTS, "odd": st.lists(ITEMS, max_size=1), "tools": ITEMS})
SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", " : ")])


def written(before: dict[str, Any], items: list[Any], after: dict[str, Any], separators: tuple[str, str]) -> bytes:
    return json.dumps({**before, "messages": items, **{f"{k}_": v for k, v in after.items()}},
                      separators=separators, ensure_ascii=False).encode()


def judge(raw: bytes, read: WrittenItems) -> None:
    """What a reading of the whole body finds."""
    held = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])["messages"]
    items = [bytes(one) for one in msgspec.json.decode(held, type=list[msgspec.Raw])]
    assert read.items == items and b"".join(read.pieces) == raw
    assert read.links == ChainMaker().extend([], items)
    assert [raw[end - len(item) : end] for end, item in zip(read.ends, items, strict=bool(read.ends))] == (
        items if read.ends else [])


@given(before=OTHER, after=OTHER, separators=SEPARATORS, runs=st.lists(st.tuples(st.integers(0, 6), ITEMS), max_size=5))
def test_whatever_an_agent_changes_the_reading_is_that_of_the_whole(
        before: dict[str, Any], after: dict[str, Any], separators: tuple[str, str],
        runs: list[tuple[int, list[Any]]]) -> None:
    reader, items = ItemsReader(), []
    for held, new in runs:
        items = [*items[:held], *new]
        raw = written(before, items, after, separators)
        body, read, _ = reader.read(CHAT, raw)
        judge(raw, read)
        assert {k: body.get(k) for k in body.fields if k != "messages"} == {
            k: v for k, v in json.loads(raw).items() if k != "messages"}


@pytest.mark.parametrize("trick", [
    b'{"messages":[{"a":1}],"messages":[{"a":1},{"b":2}]}', b'{"odd":{"messages":[{"a":1}]},"messages":[{"a":1}]}',
    b'{"odd":"{}","messages":[{},{}]}', b'{"messages":[]}'])
def test_a_body_that_holds_its_items_twice_is_read_as_parsers_do(trick: bytes) -> None:
    reader = ItemsReader()
    longer = trick.replace(b"}]}", b'},{"c":3}]}')
    for raw in (trick, longer, trick.replace(b'"messages":[{"a":1}', b'"messages":[{"d":4}')):
        judge(raw, reader.read(CHAT, raw)[1])


@given(before=OTHER, separators=SEPARATORS, items=ITEMS, at=st.sets(st.integers(0, 5)))
def test_a_text_enters_between_bytes_that_stay_as_they_are(before: dict[str, Any], separators: tuple[str, str],
                                                           items: list[Any], at: set[int]) -> None:
    raw = written(before, items, {}, separators)
    body, read, _ = ItemsReader().read(CHAT, raw)
    places = {place: ["Look.", "é"] for place in at if place < len(items)}
    sent = b"".join(put_in(CHAT, body, read, places))
    wanted = [one for n, item in enumerate(items) for one in (
        item, *({"role": "user", "content": text} for text in places.get(n, ())))]
    assert json.loads(sent) == {**json.loads(raw), "messages": wanted}
    if read.ends:
        assert all(item in sent for item in read.items)


def test_what_was_there_before_is_neither_parsed_nor_hashed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, items = ItemsReader(), [{"role": "user", "content": f"words {n}" * 40} for n in range(400)]
    reader.read(CHAT, written({"model": "m"}, items, {}, (",", ":")))
    parsed: list[int] = []
    inner = msgspec.json.decode
    monkeypatch.setattr(msgspec.json, "decode", lambda data, **more: (parsed.append(len(bytes(data))),
                                                                      inner(data, **more))[1])
    items += [{"role": "assistant", "content": "Yes."}, {"role": "user", "content": "On."}]
    _, read, _ = reader.read(CHAT, written({"model": "m"}, items, {}, (",", ":")))
    assert len(read.items) == 402 and sum(parsed) < 2000, parsed
