"""What a model or a person calls a tool with is taken as it is, or refused; what is taken can be stored anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from hypothesis import given
from hypothesis import strategies as st

from core.domain.message import ToolCall
from core.domain.step import Action, StepBody, decode_body, encode_body
from core.llm.call_arguments import DEEPEST, read_arguments

T = TypeVar("T")


def below(frames: int, work: Callable[[], T]) -> T:
    """The work, with so many calls above it."""
    return work() if frames == 0 else below(frames - 1, work)


@given(st.integers(0, 1_100), st.sampled_from([("[", "]"), ('{"a":', "}")]), st.integers(0, 300))
def test_what_is_taken_can_be_written_and_read_wherever_the_program_is(depth, kinds, frames):
    """Depth takes stack: what was just read at one place could not be written at another, and ended the runner."""
    text = f'{{"x":{kinds[0] * depth}{"1" if kinds[0] != "[" else ""}{kinds[1] * depth}}}' if depth else "{}"
    name, found, problem = read_arguments(ToolCall(id="c", name="t", arguments=text))
    assert bool(problem) == (depth >= DEEPEST)
    body = StepBody(number=1, thought="", actions=(Action(call_id="c", tool=name, arguments=found),), observations=())
    assert below(frames, lambda: decode_body(encode_body(body))) == body
