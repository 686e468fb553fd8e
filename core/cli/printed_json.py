"""The JSON that commands print, as documented in docs/cli.md. Fields are only ever added. null means unknown."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from core.domain.context import MessageRef
from core.domain.events import ScoreGiven
from core.domain.gain import gain_of
from core.domain.message import decode_message
from core.domain.session import SessionRow
from core.domain.step import Action, Observation, Usage, decode_body
from core.domain.trajectory import StepEntry, Trajectory


class PrintedObject(msgspec.Struct, frozen=True, kw_only=True):
    """One printed object."""


class SessionLine(PrintedObject, frozen=True, kw_only=True):
    """`sessions`: one per session."""

    session: str
    title: str
    task: str | None
    model: str | None
    origin: str
    state: str
    reason: str | None
    steps: int
    errors: int
    score: float | None
    tokens: int | None
    cost_usd: float | None
    guidance_waiting: int
    queue_place: int
    attention: tuple[str, ...]
    created_at: datetime | None
    updated_at: datetime | None


class FollowedLine(PrintedObject, frozen=True, kw_only=True):
    """`import --follow`: a session of a file that grows; `state` is running, or how it ended."""

    session: str
    path: str
    state: str
    steps: int


class SearchLine(PrintedObject, frozen=True, kw_only=True):
    """`search`: one per hit."""

    session: str
    step: int | None
    where: str
    snippet: str


class ShownUsage(PrintedObject, frozen=True, kw_only=True):
    """What a step's completion used."""

    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None


class ShownAction(PrintedObject, frozen=True, kw_only=True):
    """One request of the agent."""

    call_id: str
    tool: str
    family: str
    arguments: dict[str, Any]
    malformed: str | None


class ShownObservation(PrintedObject, frozen=True, kw_only=True):
    """What came back."""

    call_id: str
    status: str
    exit_code: int | None
    is_error: bool
    error: dict[str, str] | None
    text: str
    truncated: bool
    total_chars: int
    job: str | None
    data: dict[str, Any]
    started_at: datetime | None
    ended_at: datetime | None


class ShownVerdict(PrintedObject, frozen=True, kw_only=True):
    """What was decided, keep, mask, partly or undecided, with the opinions that it comes from. `masked_actions` are
    those masked one by one; an opinion on one names its `action`."""

    final: str
    masked_actions: tuple[int, ...]
    opinions: tuple[dict[str, str | int], ...]


class ShownMessage(PrintedObject, frozen=True, kw_only=True):
    """One message of a context."""

    role: str
    content: str
    tool_calls: tuple[dict[str, str], ...]
    tool_call_id: str | None
    tokens: int
    estimated: bool
    source: str | None


class ShownStep(PrintedObject, frozen=True, kw_only=True, omit_defaults=False):
    """One step. `context` is there with --context only."""

    number: int
    title: str
    author: str | None
    thought: str
    actions: tuple[ShownAction, ...]
    observations: tuple[ShownObservation, ...]
    status: str
    is_error: bool
    started_at: datetime | None
    ended_at: datetime | None
    usage: ShownUsage
    verdict: ShownVerdict
    notes: tuple[str, ...]
    tags: tuple[str, ...]
    context: tuple[ShownMessage, ...] | msgspec.UnsetType = msgspec.UNSET


class ShownGuidance(PrintedObject, frozen=True, kw_only=True):
    """One guidance text and its fate."""

    guidance: str
    text: str
    author: str
    by_person: bool
    mode: str
    state: str
    queued_at: datetime | None
    delivered_step: int | None
    answered_step: int | None


class ShownSession(PrintedObject, frozen=True, kw_only=True):
    """`show`: one object."""

    session: str
    row: SessionLine
    description: str
    steps: tuple[ShownStep, ...]
    guidance: tuple[ShownGuidance, ...]
    summaries: tuple[dict[str, Any], ...]
    scores: tuple[dict[str, Any], ...]


def session_line(row: SessionRow) -> SessionLine:
    """A session's line; what the log does not say is null."""
    return SessionLine(
        session=row.session, title=row.title, task=row.task or None, model=row.model or None, origin=row.origin,
        state=row.state, reason=row.reason or None, steps=row.steps, errors=row.errors, score=row.score,
        tokens=row.tokens, cost_usd=row.cost_usd, guidance_waiting=max(0, row.guidance_waiting),
        queue_place=row.queue_place, attention=row.attention, created_at=row.created_at, updated_at=row.updated_at,
    )


def shown_session(
    trajectory: Trajectory, blob: Callable[[str], bytes], only: int | None = None, with_context: bool = False
) -> ShownSession:
    """A session with all its steps, or with one. Raises NotFound where it has no such step."""
    entries = trajectory.steps if only is None else [trajectory.step(only)]
    return ShownSession(
        session=trajectory.session,
        row=session_line(trajectory.row),
        description=trajectory.created.task.description if trajectory.created else "",
        steps=tuple(_step(trajectory, e, blob, with_context) for e in entries),
        guidance=tuple(
            ShownGuidance(guidance=g.id, text=g.text, author=g.author, by_person=g.by_person, mode=g.mode,
                          state=g.state, queued_at=g.queued_at, delivered_step=g.delivered_step,
                          answered_step=g.answered_step)
            for g in trajectory.guidance.values()),
        summaries=tuple({"first": s.first, "last": s.last, "text": s.text} for s in trajectory.summaries.values()),
        scores=tuple(_score(trajectory, s) for s in trajectory.scores),
    )


def _score(trajectory: Trajectory, score: ScoreGiven) -> dict[str, Any]:
    """A score with its gain over the best known solution, where the task knows one."""
    gain = gain_of(trajectory.created.task if trajectory.created else None, score)
    return {"ordinal": score.ordinal, "step": score.step, "total": score.total, "metric": score.metric,
            "gain": gain.gain if gain else None, "gain_ratio": gain.ratio if gain else None, "message": score.message,
            "failed": score.failed,
            "rescored": [{"evaluator": one.evaluator, "version": one.version, "total": one.total, "failed": one.failed,
                          "message": one.message} for one in trajectory.rescored if one.ordinal == score.ordinal]}


def _step(trajectory: Trajectory, entry: StepEntry, blob: Callable[[str], bytes], with_context: bool) -> ShownStep:
    body, head = decode_body(blob(entry.body)), entry.head
    context = tuple(_message(r, blob) for r in trajectory.context(head.number)) if with_context else msgspec.UNSET
    return ShownStep(
        number=head.number, title=head.title, author=head.author or None, thought=body.thought,
        actions=tuple(map(_action, body.actions)),
        observations=tuple(map(_observation, body.observations)), status=head.status, is_error=head.is_error,
        started_at=head.started_at, ended_at=head.ended_at, usage=_usage(head.usage), verdict=_verdict(entry),
        notes=tuple(note.text for note in entry.notes), tags=tuple(sorted(entry.tags)), context=context,
    )


def _action(action: Action) -> ShownAction:
    return ShownAction(call_id=action.call_id, tool=action.tool, family=action.family, arguments=action.arguments,
                       malformed=action.malformed or None)


def _observation(seen: Observation) -> ShownObservation:
    error = {"kind": seen.error.kind, "message": seen.error.message} if seen.error else None
    return ShownObservation(
        call_id=seen.call_id, status=seen.status, exit_code=seen.exit_code, is_error=seen.is_error, error=error,
        text=seen.output.text, truncated=seen.output.truncated, total_chars=seen.output.total_chars,
        job=seen.job or None, data=seen.data, started_at=seen.started_at, ended_at=seen.ended_at,
    )


def _usage(usage: Usage) -> ShownUsage:
    return ShownUsage(input_tokens=usage.input_tokens, output_tokens=usage.output_tokens,
                      cached_tokens=usage.cached_tokens, cost_usd=usage.cost_usd)


def _verdict(entry: StepEntry) -> ShownVerdict:
    opinions: tuple[dict[str, str | int], ...] = tuple(
                     {"author": v.author.name, "kind": v.author.kind, "version": v.author.version, "value": v.value,
                      "reason": v.reason} | ({"action": v.action} if v.action else {})
                     for v in entry.verdicts.values())
    return ShownVerdict(final=entry.outcome, masked_actions=entry.masked_actions, opinions=opinions)


def _message(ref: MessageRef, blob: Callable[[str], bytes]) -> ShownMessage:
    message = decode_message(blob(ref.hash))
    calls = tuple({"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls)
    return ShownMessage(role=message.role, content=message.content, tool_calls=calls,
                        tool_call_id=message.tool_call_id or None, tokens=ref.tokens, estimated=ref.estimated,
                        source=ref.source or None)
