"""Traces of programs: spans in which a model was asked with its whole prompt, and spans in which a tool worked.

Each model span is a step with its exact context. A call's result is the tool span that bears its id, or its name before
the next model span; else what the next prompt says that it gave. Spans of agents and chains only group others. Where no
request to a model was recorded, each run of a tool is a step.
"""

from __future__ import annotations

import tempfile
import weakref
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
_IN_MEMORY = 1024 * 1024
"""Bytes of spans that are held in memory; what comes later is written to the disk."""


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
    """One run of a tool. `failure` are the trace's words where it broke and gave nothing back."""

    name: str
    text: str
    failure: str = ""
    call: str = ""
    arguments: Any = None
    at: datetime | None = None
    ended_at: datetime | None = None
    error: ActionError | None = None


Span = ModelSpan | ToolSpan
_MODEL, _TOOL = msgspec.msgpack.Decoder(ModelSpan), msgspec.msgpack.Decoder(ToolSpan)


class ParkedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of a span while its trace is gathered; the span itself lies in the file of a SpanSpool.

    `doubt` is why it may not count, in the words of its reader; "" where it does.
    """

    is_model: bool
    at: datetime
    place: int
    size: int
    call: str = ""
    name: str = ""
    called: tuple[str, ...] = ()
    doubt: str = ""


class SpanSpool:
    """Spans of a file in the order in which they are put; few in memory, beyond that in a file without a name."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 - it lives as long as we do
        weakref.finalize(self, self._file.close)
        self._end = 0

    def put(self, span: Span, doubt: str = "") -> ParkedSpan:
        """Write a span down."""
        data = msgspec.msgpack.encode(span)
        self._file.seek(self._end)
        self._file.write(data)
        place, self._end = self._end, self._end + len(data)
        at = span.at or _EARLIEST
        if isinstance(span, ToolSpan):
            return ParkedSpan(is_model=False, at=at, place=place, size=len(data), call=span.call, name=span.name,
                              doubt=doubt)
        return ParkedSpan(is_model=True, at=at, place=place, size=len(data), doubt=doubt,
                          called=tuple(call.name for call in span.answer.tool_calls))

    def model(self, parked: ParkedSpan) -> ModelSpan:
        """The request that was put."""
        return _MODEL.decode(self._read(parked))

    def tool(self, parked: ParkedSpan) -> ToolSpan:
        """The run of a tool that was put."""
        return _TOOL.decode(self._read(parked))

    def _read(self, parked: ParkedSpan) -> bytes:
        self._file.seek(parked.place)
        return self._file.read(parked.size)


def first_request(spool: SpanSpool, spans: Sequence[ParkedSpan]) -> str:
    """What a person asked first."""
    return next((m.content for s in spans if s.is_model for m in spool.model(s).messages
                 if m.role == "user" and m.content), "")


def first_model(spool: SpanSpool, spans: Sequence[ParkedSpan]) -> str:
    """The model that was asked first; "" where none was."""
    return next((spool.model(s).model for s in spans if s.is_model), "")


def add_spans(builder: SessionBuilder, spool: SpanSpool, spans: Sequence[ParkedSpan]) -> bool:
    """The steps of the spans, in the order in which they began; whether any request holds contents."""
    ordered = sorted(spans, key=lambda span: span.at)
    models = [n for n, span in enumerate(ordered) if span.is_model]
    conversation = Conversation(builder, "" if models else "approximate")
    for span in ordered if not models else ():
        _add_tool(conversation, spool.tool(span))
    named: dict[str, ParkedSpan] = {}
    for span in ordered:
        if span.call:
            named.setdefault(span.call, span)
    holds, following = False, spool.model(ordered[models[0]]) if models else None
    for place, after in pairwise([*models, len(ordered)]):
        assert following is not None
        asked, following = following, spool.model(ordered[after]) if after < len(ordered) else None
        near = [s for s in ordered[place + 1 : after] if not s.is_model]
        results = list(_results(asked, spool, near, named, following.messages if following else ()))
        _add(conversation, asked, results)
        holds = holds or bool(asked.messages or asked.answer.content or asked.answer.tool_calls)
    return holds


def _add_tool(conversation: Conversation, span: ToolSpan) -> None:
    """A run of a tool whose call was not recorded."""
    call = make_call(span.call, span.name, {} if span.arguments is None else span.arguments)
    result = CallResult(text=span.text or span.failure, call=call.id, error=span.error, ended_at=span.ended_at)
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


def _results(asked: ModelSpan, spool: SpanSpool, near: list[ParkedSpan], named: Mapping[str, ParkedSpan],
             given: Sequence[Message]) -> Iterator[CallResult]:
    """`near` are the runs of tools before the next request, `named` those that bear their call's id. Of one that broke
    a trace has where; what the model was told of it stands in the next prompt."""
    for call in asked.answer.tool_calls:
        found = named.get(call.id) or next((s for s in near if not s.call and s.name == call.name), None)
        answer = next((m for m in given if m.role == "tool" and m.tool_call_id == call.id), None)
        if found is not None:
            if found in near:
                near.remove(found)
            tool = spool.tool(found)
            text = tool.text or (answer.content if answer is not None and tool.failure else "") or tool.failure
            yield CallResult(text=text, call=call.id, error=tool.error, started_at=tool.at, ended_at=tool.ended_at)
        elif answer is not None:
            yield CallResult(text=answer.content, call=call.id)
