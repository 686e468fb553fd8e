"""A command that works on several samples: what begins anew is another conversation, and no compaction of the first.
And what is asked beside a conversation is none of its subagents."""

from __future__ import annotations

import msgspec
import pytest

from core.gateway.http_head import Head
from core.gateway.lines import AgentLines, Asked
from core.gateway.recipe import DIALECTS
from core.gateway.request import RequestReader


def asked(*links: str, identity: tuple[str, ...] = ()) -> Asked:
    """A request: a system prompt, then items that are told by letters."""
    chain = [b"system", *(link.encode() for link in links)]
    return Asked(identity=identity, tools="t", has_tools=True, chain=chain, opening=1)


def lines_of(requests: list[Asked], *, has_samples: bool) -> list[tuple[str, str]]:
    lines = AgentLines(has_samples=has_samples)
    found = []
    for count, request in enumerate(requests):
        placement = lines.place(request)
        if placement.relation == "new" and placement.line.name == "subagent":
            placement.line.name = f"subagent-{count}"  # as its session is called
        lines.advance(placement, request)
        found.append((placement.line.name, placement.relation))
    return found


def test_samples_stay_apart_by_their_first_words_and_without_the_setting_one_is_a_compaction() -> None:
    requests = [asked("a"), asked("b"), asked("a", "a1"), asked("b", "b1"), asked("b", "b1", "b2")]
    assert lines_of(requests, has_samples=True) == [
        ("main", "new"), ("subagent-1", "new"), ("main", "extends"), ("subagent-1", "extends"),
        ("subagent-1", "extends")]
    assert lines_of(requests[:2], has_samples=False) == [("main", "new"), ("main", "compacted")]


@pytest.mark.parametrize("has_samples", [True, False])
def test_roll_outs_that_a_header_names_stay_apart_though_their_words_are_the_same(has_samples: bool) -> None:
    one, other = ("s1",), ("s2",)
    requests = [asked("a", identity=one), asked("a", identity=other), asked("a", "x", identity=other)]
    assert [name for name, _ in lines_of(requests, has_samples=has_samples)] == ["main", "subagent-1", "subagent-1"]
    again = lines_of([*requests, asked("summary", identity=one)], has_samples=has_samples)
    assert again[-1] == ("main", "compacted")


@pytest.mark.parametrize(("dialect", "choice", "is_side"), [
    ("chat", "required", True), ("chat", {"type": "function", "function": {"name": "judge"}}, True),
    ("anthropic", {"type": "tool", "name": "judge"}, True), ("responses", "required", True),
    ("chat", "auto", False), ("chat", None, False)])
def test_a_question_whose_answer_is_the_one_call_that_there_is_stands_beside_the_main_line(
        dialect: str, choice: object, is_side: bool) -> None:
    """As Qwen Code asks whether a command is safe: what it is answered is no step, and nobody's subagent."""
    spoken = DIALECTS[dialect]
    path = {"chat": "/v1/chat/completions", "anthropic": "/v1/messages", "responses": "/v1/responses"}[dialect]
    reader, lines = RequestReader(), AgentLines()

    def ask(words: str, tool: str, more: dict[str, object]) -> tuple[str, str]:
        tools = [{"type": "function", "name": tool, "function": {"name": tool}, "description": "d" * 100}]
        body = {"model": "m", spoken.items: [{"role": "user", "content": words}], "tools": tools, **more}
        request = reader.read(spoken, Head(method="POST", target=path), msgspec.json.encode(body))
        placement = lines.place(request.asked)
        lines.advance(placement, request.asked)
        return placement.line.kind, placement.relation

    forced = {"tool_choice": choice} if choice else {}
    assert ask("Mend it.", "bash", {"tool_choice": "required"}) == ("main", "new"), "an agent of one tool is an agent"
    assert ask("Is ls safe?", "judge", forced) == (("side", "side") if is_side else ("subagent", "new"))
    assert ask("Mend it.", "bash", {"tool_choice": "required"}) == ("main", "retry")
