"""Traces of programs: spans in which a model was asked with its whole prompt, and spans in which a tool worked.

Each model span is a step with its exact context. A call's result is the tool span that bears its id, or its name before
the next model span; else what the next prompt says that it gave. Spans of agents and chains only group others. Where no
request to a model was recorded, each run of a tool is a step.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import msgspec

from core.domain.message import Message
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.imported import SessionBuilder

_EARLIEST = datetime.min.replace(tzinfo=UTC)


class ModelSpan(msgspec.Struct, kw_only=True):
    """One request to a model and its answer."""

    messages: Sequence[Message]
    answer: Message
    at: datetime | None = None
    ended_at: datetime | None = None
    usage: Usage = Usage()
    model: str = ""
    finish_reason: str = ""
    tools: bytes = b""
    error: str = ""
    item: str = ""


class ToolSpan(msgspec.Struct, kw_only=True):
    """One run of a tool."""

    name: str
    text: str
    call: str = ""
    arguments: Any = None
    at: datetime | None = None
    ended_at: datetime | None = None
    error: ActionError | None = None


Span = ModelSpan | ToolSpan


def first_request(spans: Sequence[Span]) -> str:
    """What a person asked first."""
    return next((m.content for s in spans if isinstance(s, ModelSpan) for m in s.messages
                 if m.role == "user" and m.content), "")


def add_spans(builder: SessionBuilder, spans: Sequence[Span]) -> None:
    """The steps of the spans, in the order in which they began."""
    ordered = sorted(spans, key=lambda span: span.at or _EARLIEST)
    models = [n for n, span in enumerate(ordered) if isinstance(span, ModelSpan)]
    conversation = Conversation(builder, "" if models else "approximate")
    for span in ordered if not models else ():
        _add_tool(conversation, span)
    named: dict[str, ToolSpan] = {}
    for span in ordered:
        if isinstance(span, ToolSpan) and span.call:
            named.setdefault(span.call, span)
    for place, after in pairwise([*models, len(ordered)]):
        span, following = ordered[place], ordered[after] if after < len(ordered) else None
        assert isinstance(span, ModelSpan)
        near = [s for s in ordered[place + 1 : after] if isinstance(s, ToolSpan)]
        results = list(_results(span, near, named, following.messages if isinstance(following, ModelSpan) else ()))
        _add(conversation, span, results)


def _add_tool(conversation: Conversation, span: Span) -> None:
    """A run of a tool whose call was not recorded."""
    if isinstance(span, ToolSpan):
        call = make_call(span.call, span.name, {} if span.arguments is None else span.arguments)
        result = CallResult(text=span.text, call=call.id, error=span.error, ended_at=span.ended_at)
        conversation.add_step(ForeignStep(calls=(call,), results=[result], started_at=span.at, ended_at=span.ended_at))


def _add(conversation: Conversation, span: ModelSpan, results: list[CallResult]) -> None:
    builder = conversation.builder
    refs = [builder.message(m) for m in span.messages]
    known = set(conversation.refs)
    if builder.steps:
        for message, ref in zip(span.messages, refs, strict=True):
            if message.role == "user" and ref not in known and len(span.messages) > 1:
                conversation.add_guidance(message.content, span.at)
    if span.error:
        error = ActionError(kind="api_error", message=span.error[:2000])
        results = [*results, CallResult(text=span.error, error=error)]
    conversation.refs = list(refs)
    conversation.add_step(ForeignStep(
        thought=span.answer.content, reasoning=span.answer.reasoning, calls=span.answer.tool_calls, results=results,
        usage=span.usage, started_at=span.at, ended_at=span.ended_at, model=span.model, context=refs,
        finish_reason=span.finish_reason, tools=builder.blob(span.tools) if span.tools else "", item=span.item))


def _results(span: ModelSpan, near: list[ToolSpan], named: Mapping[str, ToolSpan], given: Sequence[Message]
             ) -> Iterator[CallResult]:
    """`near` are the runs of tools before the next request, `named` those that bear their call's id."""
    for call in span.answer.tool_calls:
        tool = named.get(call.id) or next(
            (s for s in near if not s.call and s.name == call.name), None)
        if tool is not None:
            if tool in near:
                near.remove(tool)
            yield CallResult(text=tool.text, call=call.id, error=tool.error, started_at=tool.at, ended_at=tool.ended_at)
            continue
        answer = next((m for m in given if m.role == "tool" and m.tool_call_id == call.id), None)
        if answer is not None:
            yield CallResult(text=answer.content, call=call.id)
