"""Files that are too large to be held decoded: each value is decoded when it is looked at, and nothing else changes."""

import json
import re
import shutil
from pathlib import Path

import pytest

from core.domain.blob import blob_hash
from core.domain.errors import Unavailable
from core.domain.events import decode_event
from core.formats import json_items, registry, source
from core.formats.json_items import FilePieces, JsonItems, parse_large
from core.formats.json_text import Parsed, clean, loads, parse
from core.formats.records import records
from core.formats.rows import canonical, canonical_parts
from core.formats.source import Source

HERE = Path(__file__).parent
SAMPLES = sorted(p for folder in ("foreign", "files") for p in (HERE / folder).glob("*") if p.is_file())


def same(session):
    """All that a session says, without the time of its import."""
    events = [decode_event(body) for body in session.bodies]
    return ([(e.id, e.fact) for e in events], dict(session.blobs), session.title, session.warnings, session.is_named)


@pytest.fixture
def everything_is_large(monkeypatch):
    for module in (source, json_items):
        monkeypatch.setattr(module, "LARGE", 20)


@pytest.mark.parametrize("path", SAMPLES, ids=[p.name for p in SAMPLES])
def test_a_large_file_gives_what_a_small_one_does(path, monkeypatch) -> None:
    before = list(registry.read(path))
    for module in (source, json_items):
        monkeypatch.setattr(module, "LARGE", 20)
    assert [same(one) for one in registry.read(path)] == [same(one) for one in before]


def large_value(folder: Path, data: bytes) -> Parsed:
    """The value of a file that is large."""
    path = folder / "large.json"
    path.write_bytes(data)
    return parse_large(FilePieces(path))


def test_a_long_list_is_decoded_item_by_item(everything_is_large, tmp_path) -> None:
    data = json.dumps({"name": "x", "steps": [{"n": n} for n in range(9)] + [1, None]}).encode()
    value = large_value(tmp_path, data).value
    steps = value["steps"]
    assert isinstance(steps, JsonItems)
    assert (len(steps), bool(steps), steps[-1], steps[2], steps[1:3][1]) == (11, True, None, {"n": 2}, {"n": 2})
    assert list(reversed(steps))[:2] == [None, 1]
    assert [*steps.objects()] == [{"n": n} for n in range(9)]
    assert steps[0] is not steps[0]


def test_a_long_list_is_named_by_what_is_in_it(everything_is_large, tmp_path) -> None:
    value = {"b": [{"n": n, "é": "ü"} for n in range(9)], "a": 1}
    whole = json.dumps(value, sort_keys=True).encode()
    large = large_value(tmp_path, whole).value
    assert isinstance(large["b"], JsonItems)
    assert (canonical(large), canonical(large["b"]), canonical(iter(value["b"]))) == (
        whole, json.dumps(value["b"], sort_keys=True).encode(), json.dumps(value["b"], sort_keys=True).encode())
    assert canonical(large["b"][:0]) == b"[]"
    assert blob_hash(canonical_parts(large)) == blob_hash(whole)
    assert max(map(len, canonical_parts(large))) < len(whole) / 4  # one item is held at a time


@pytest.mark.parametrize("text", ['[{"a": NaN}, 1, 2, 3]', '[1, {"a": "\\ud800"}, 3, 4]',
                                  '[1, 2, 99999999999999999999999]', "[" * 300 + "]" * 300,
                                  '{"a": [1, 2, 3, 4, 5, 6, 7, 8, 9', '["\xff\xfe", 2, 3, 4]'])
def test_what_is_not_plain_is_read_as_in_a_small_file(text, everything_is_large, tmp_path) -> None:
    data = text.encode("latin-1")
    large, small = large_value(tmp_path, data), parse(data)
    assert (json.dumps(large.value), large.problem) == (json.dumps(small.value), small.problem)


@pytest.mark.parametrize("text", ['{"a": 1e999}', "[99999999999999999999]", '["\\ud800"]', "[1, 2.5, true]",
                                  "[" * 450 + "]" * 450])
def test_the_quick_way_gives_what_the_careful_one_does(text) -> None:
    assert loads(text) == clean(json.loads(text))


@pytest.mark.parametrize("text", ["[1, 2", '"a\tb"', "01"])
def test_what_is_no_json_is_refused_in_the_same_words(text) -> None:
    with pytest.raises(json.JSONDecodeError) as careful:
        json.loads(text)
    with pytest.raises(json.JSONDecodeError, match=re.escape(str(careful.value))):
        loads(text)


def test_a_file_that_is_written_over_meanwhile_is_named(tmp_path, everything_is_large, monkeypatch) -> None:
    monkeypatch.setattr(json_items, "_BLOCK", 1)
    path = tmp_path / "codex.jsonl"
    shutil.copy(HERE / "foreign" / "codex.jsonl", path)
    found = records(Source(path))
    assert found.items[0]["type"] == "session_meta"
    path.write_text("")
    with pytest.raises(Unavailable, match="is being written now"):
        found.items[1]
