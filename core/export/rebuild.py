"""Contexts of sessions whose log does not say what the model was given (most imported ones).

Built from what the log does hold and nothing else: the task's description as the first user message, each
step's thought and calls as the assistant's message, each observation's text as the tool's, delivered guidance
as `<real_user>`, the turns of a user who may be no person as they are, and a summary's text in place of the steps it
stands for. No system prompt is made up.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from core.domain.message import Message, ToolCall
from core.domain.step import Action, StepBody
from core.domain.trajectory import Trajectory
from core.export.sample import SamplePart

BodyOf = Callable[[str], StepBody | None]
"""The body of a hash, or None where it is not held."""


def step_message(body: StepBody) -> Message:
    """A step's thought and actions as one assistant message."""
    return Message(role="assistant", content=body.thought, tool_calls=tuple(_call(a) for a in body.actions))


def _call(action: Action) -> ToolCall:
    arguments = msgspec.json.encode(action.arguments).decode()
    if action.malformed and set(action.arguments) == {"text"}:
        arguments = str(action.arguments["text"])
    return ToolCall(id=action.call_id, name=action.tool, arguments=arguments)


def rebuilt_context(trajectory: Trajectory, upto: int, body_of: BodyOf) -> list[SamplePart]:
    """The messages up to and with the action of the step at index `upto`. Steps without a body are left out."""
    summary = next((s for s in reversed(trajectory.summaries.values()) if _before(trajectory, s.last, upto)), None)
    parts = _opening(trajectory)
    if summary is not None:
        parts.append(SamplePart(message=Message(role="user", content=summary.text)))
    skip = summary.last if summary is not None else 0
    for entry in trajectory.steps[: upto + 1]:
        body = body_of(entry.body) if entry.head.number > skip else None
        if body is None:
            continue
        parts += _guidance(trajectory, body.number)
        parts.append(SamplePart(message=step_message(body), state="kept", step=body.number))
        parts += _observations(body)
    return parts[: max((i for i, p in enumerate(parts) if p.step is not None), default=-1) + 1]


def _before(trajectory: Trajectory, last: int, upto: int) -> bool:
    return last < trajectory.steps[upto].head.number


def _opening(trajectory: Trajectory) -> list[SamplePart]:
    description = trajectory.created.task.description if trajectory.created else ""
    return [SamplePart(message=Message(role="user", content=description))] if description else []


def _guidance(trajectory: Trajectory, step: int) -> list[SamplePart]:
    texts = [f"<real_user>{g.text}</real_user>" if g.by_person else g.text
             for g in trajectory.guidance.values() if g.delivered_step == step]
    return [SamplePart(message=Message(role="user", content=text)) for text in texts]


def _observations(body: StepBody) -> list[SamplePart]:
    names = {a.call_id: a.tool for a in body.actions}
    return [
        SamplePart(message=Message(role="tool", content=o.output.text or (o.error.message if o.error else ""),
                                   tool_call_id=o.call_id, name=names.get(o.call_id, "")))
        for o in body.observations
    ]
