"""An agent's own record held against its session: what is equal says nothing, what differs is named once."""

from __future__ import annotations

import msgspec

from core.domain.step import Action, ActionError, Observation, Output, StepBody, Usage
from core.formats.own_record import RecordedStep, differences, shared


def step(number: int, command: str, seen: str, **more: object) -> RecordedStep:
    action = Action(call_id=f"c{number}", tool="bash", arguments={"command": command})
    body = StepBody(number=number, thought="I look.", actions=(action,), observations=(
        Observation(call_id=f"c{number}", output=Output(text=seen), **more),))  # type: ignore[arg-type]
    return RecordedStep(number, body, Usage(input_tokens=10, output_tokens=2))


def test_an_equal_record_has_no_differences_whatever_its_numbers_and_ids() -> None:
    ours = [step(1, "ls", "a"), step(2, "cat a", "b")]
    theirs = [msgspec.structs.replace(step(n + 4, c, s), usage=Usage(input_tokens=10))
              for n, c, s in ((1, "ls", "a"), (2, "cat a", "b"))]
    assert differences(ours, theirs) == [] and shared(ours, theirs) == 2


def test_each_field_that_differs_is_named_with_both_sides() -> None:
    ours = [step(1, "ls", "a"), step(2, "cat a", "b"), step(3, "make", "x"), step(4, "ls b", "c")]
    other = msgspec.structs.replace(step(1, "ls", "A"), usage=Usage(input_tokens=11))
    failed = step(3, "make all", "x", error=ActionError(kind="tool_error", message="x"))
    theirs = [other, failed, step(4, "ls b", "c"), step(5, "pwd", "/")]
    found = [(d.step, d.other, d.what) for d in differences(ours, theirs)]
    assert found == [(1, 1, "result"), (1, 1, "tokens"), (2, 3, "arguments"), (2, 3, "result"), (2, 3, "failure"),
                     (3, 0, "step"), (0, 5, "step")]
    assert (differences(ours, theirs)[0].ours, differences(ours, theirs)[0].theirs) == ("a", "A")


def test_what_only_the_agent_knew_is_told_apart() -> None:
    ours = [step(1, "ls", "a"), step(2, "exit", "")]
    theirs = [step(1, "ls", "a", exit_code=0), step(2, "exit", "bye")]
    assert [(d.step, d.what) for d in differences(ours, theirs)] == [(1, "unsent"), (2, "unsent")]
