"""The pieces of one answer, its thought and each of its calls, where some of its actions are masked and others kept.

Loss falls on the calls of the kept actions alone. The thought decided on all of them, so it carries loss only where no
action is masked. What stands between two calls goes with the later one, what closes the answer, its stop token too,
with the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

import msgspec

from core.domain.errors import InvalidInput
from core.domain.message import Message
from core.export.spans import check_calls
from core.export.template import TextFrame
from core.llm.text_actions import block_places

Pair = tuple[int, int]


class Masked(msgspec.Struct, frozen=True):
    """Which `calls` of an answer carry no loss, counted from 1; `places` are the characters of its content at which its
    calls begin, where they are written as text."""

    calls: tuple[int, ...]
    places: tuple[int, ...] = ()


def call_count(message: Message) -> int:
    """How many calls an answer holds, be they written as text."""
    return len(message.tool_calls) or len(block_places(message.content))


def holes(masked: Masked, starts: Sequence[int], size: int) -> tuple[Pair, ...]:
    """The characters of an answer without loss. `starts` are where its calls begin, `size` is the end of its stop."""
    edges = [*starts, size]
    thought = [(0, starts[0])] if starts[0] else []
    return (*thought, *((edges[call - 1], edges[call]) for call in masked.calls))


def starts_in_text(message: Message, places: Sequence[int], completion: str) -> list[int]:
    """Where calls that are written as text begin in a rendered answer. Raises InvalidInput (calls_not_split)."""
    content = message.content
    front = completion.find(content.strip())
    if front < 0 or not places:
        raise _not_split("the template does not render the answer as it was written")
    front -= len(content) - len(content.lstrip())
    return [front + len(content[:place].rstrip()) for place in places]


def starts_of_calls(message: Message, completion: str, shorter: Sequence[Sequence[str]], control: Sequence[str],
                    beside: TextFrame) -> list[int]:
    """Where the calls begin in a rendered answer. `shorter` holds, for the first call, the first two, … (not all), the
    answer with these alone as the template renders it in its several ways: what it has in common with the whole is what
    belongs to those calls. Raises InvalidInput (calls_not_split)."""
    starts = [_after_thought(message, completion, beside)]
    for ways in shorter:
        common = max((_common(way, completion, control) for way in ways), default=0)
        starts.append(len(completion[:common].rstrip()))
    for call, start, end in zip(message.tool_calls, starts, [*starts[1:], len(completion)], strict=True):
        if start >= end:
            raise _not_split("the template does not render one call behind the other")
        check_calls(msgspec.structs.replace(message, tool_calls=(call,)), completion[start:end])
    return starts


def _after_thought(message: Message, completion: str, beside: TextFrame) -> int:
    content = message.content.strip()
    if not content:
        return 0
    front = len(completion) - len(completion.lstrip())
    if completion.startswith(beside.before, front):
        front += len(beside.before)
    at = completion.find(content, front)
    if at < 0 or completion[front:at].strip():
        raise _not_split("the template does not render the text beside the calls as it was written")
    return at + len(content)


def _common(shorter: str, completion: str, control: Sequence[str]) -> int:
    """How far two answers are the same; a control token that only begins the same is not."""
    end = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(shorter, completion, strict=False)))
    for text in (shorter, completion):
        for token in control:
            at = text.rfind(token, 0, end + len(token) - 1)
            if at >= 0 and at < end < at + len(token):
                end = at
    return end


def _not_split(why: str) -> InvalidInput:
    return InvalidInput("calls_not_split", f"Where one call ends and the next begins cannot be told: {why}.")
