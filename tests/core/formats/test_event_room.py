"""A foreign file whose step or task would not fit into an event: shortened where that loses no meaning, else refused by
name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.imported import trajectory

from core.domain.bounds import event_text
from core.domain.errors import InvalidInput
from core.formats import registry
from core.formats.imported import SessionBuilder
from core.protocol.codec import MAX_EVENT

ASKED = {"role": "user", "content": "Do it."}


def calling(count: int, name: str, arguments: str = "{}") -> list[dict[str, Any]]:
    """A conversation whose one answer calls so many tools; `#` in the arguments is the call's number."""
    return [ASKED, {"role": "assistant", "content": "", "tool_calls": [{"id": f"c{n}", "type": "function", "function": {
        "name": name, "arguments": arguments.replace("#", str(n))}} for n in range(count)]}]


@pytest.mark.parametrize(("messages", "tools"), [
    (calling(6_000, "\x01" * 500), 6_000),
    (calling(6_000, "bash", '{"computer_ip": "%s#"}' % ("h" * 400)), 6_000),
    ([{"role": "user", "content": "\x01" * 3_000_000}, {"role": "assistant", "content": "Yes."}], 0),
], ids=["names of tools", "names of hosts", "a task of control characters"])
def test_a_step_of_any_size_has_room_in_its_event(tmp_path: Path, messages: list[Any], tools: int) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"messages": messages}))
    (session,) = registry.read(file)
    assert max(map(len, session.bodies)) <= MAX_EVENT
    (step,) = trajectory(session).steps
    assert len(step.head.tools) == tools


def test_what_no_event_can_hold_is_refused_with_the_files_name(monkeypatch) -> None:
    monkeypatch.setattr("core.protocol.codec.MAX_EVENT", 2_000)
    builder = SessionBuilder("openai-chat", "a.json", b"")
    with pytest.raises(InvalidInput, match=r"a\.json tells what no session can hold: An event of") as caught:
        builder.create("T", "x" * 3_000)
    assert caught.value.code == "event_too_large"


def test_a_text_keeps_what_an_event_has_room_for() -> None:
    assert event_text("a" * 400_000) == "a" * 400_000 and event_text("b" * 900_000) == "b" * 400_000
    for hostile in ("\x01", "\U0001f600", "\ud800", '"', "\x7f"):
        assert len(json.dumps(event_text(hostile * 900_000), ensure_ascii=False).encode("utf-8", "replace")) < MAX_EVENT
