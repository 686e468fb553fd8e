"""The JSON Schema of the protocol is the types', and every golden message and real event is valid by it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.logs import Maker

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging"))

import protocol_schema  # noqa: E402

SCHEMA = json.loads((ROOT / "docs" / "protocol.schema.json").read_text())
GOLDEN = sorted((ROOT / "tests" / "wire" / "golden").glob("*.json"))


def faults(part: str, value: object) -> list[str]:
    """What is wrong with a value that should be one of a part of the schema."""
    schema = {**SCHEMA["properties"][part], "$defs": SCHEMA["$defs"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(value)]


def test_it_is_what_the_types_say() -> None:
    assert json.loads(protocol_schema.text()) == SCHEMA, "run packaging/protocol_schema.py"


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden_messages_are_valid(path: Path) -> None:
    value = json.loads(path.read_text())
    assert not faults("to_server", value) or not faults("from_server", value)
    assert "op" not in value or not faults("operation", value["op"])


def test_events_are_valid_and_others_are_not() -> None:
    maker = Maker(1, "a session")
    maker.add_step()
    events = [json.loads(body) for body in maker.bodies]
    assert events and [faults("event", event) for event in events] == [[]] * len(events)
    assert faults("event", {**events[0], "fact": {"type": "no such fact"}})
    assert faults("to_server", {"type": "hello", "protocol": -1, "client": "c"})
