"""A command that works on several samples: what begins anew is another conversation, and no compaction of the first."""

from __future__ import annotations

import pytest

from core.gateway.lines import AgentLines, Asked


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
