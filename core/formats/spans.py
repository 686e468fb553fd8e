"""Traces of programs: spans in which a model was asked with its whole prompt, and spans in which a tool worked.

Each model span is a step with its exact context. A call's result is the tool span that bears its id, or its name before
the next model span; else what the next prompt says that it gave. Spans of agents and chains only group others. Where no
request to a model was recorded, each run of a tool is a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice, pairwise, takewhile
from typing import Any

import msgspec

from core.domain.blob import blob_hash
from core.domain.message import Message
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.imported import SessionBuilder
from core.formats.model_messages import json_of
from core.formats.reading_on import ItemsRead, read_on
from core.formats.spools import ByteSpool
from core.formats.values import upwards

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
_MARK = msgspec.json.Encoder(order="deterministic")
_MODEL, _TOOL = msgspec.msgpack.Decoder(ModelSpan), msgspec.msgpack.Decoder(ToolSpan)


class ParkedCall(msgspec.Struct, frozen=True):
    """What is remembered of a call, or of a run of a tool: its id, its name, and what its arguments are known by."""

    id: str
    name: str
    marks: tuple[str, ...]


class ParkedSpan(msgspec.Struct, frozen=True, kw_only=True):
    """What is remembered of a span while its trace is gathered; the span itself lies in the file of a SpanSpool.

    `calls` are those that a request was answered with, or the run that a tool's span is. `doubt` is why it may not
    count, in the words of its reader; "" where it does. `id` is the span's own.
    """

    is_model: bool
    at: datetime
    place: int
    calls: tuple[ParkedCall, ...] = ()
    doubt: str = ""
    id: str = ""


def _marks(arguments: Any) -> tuple[str, ...]:
    """What arguments are known by: all of them, and what stands in a member (a library records `{"kwargs": {…}}`)."""
    held = json_of(arguments)
    inner = [v for v in held.values() if isinstance(v, dict)] if isinstance(held, dict) else []
    return tuple(blob_hash(_MARK.encode(v))[:12] for v in (held, *inner) if v)


class SpanSpool:
    """Spans of a file in the order in which they are put."""

    def __init__(self) -> None:
        self._spool = ByteSpool()

    def put(self, span: Span, doubt: str = "", id: str = "") -> ParkedSpan:
        """Write a span down."""
        place = self._spool.put(msgspec.msgpack.encode(span))
        at = span.at or _EARLIEST
        if isinstance(span, ToolSpan):
            calls: tuple[ParkedCall, ...] = (ParkedCall(span.call, span.name, _marks(span.arguments)),)
        else:
            calls = tuple(ParkedCall(c.id, c.name, _marks(c.arguments)) for c in span.answer.tool_calls)
        return ParkedSpan(is_model=isinstance(span, ModelSpan), at=at, place=place, doubt=doubt, id=id, calls=calls)

    def model(self, parked: ParkedSpan) -> ModelSpan:
        """The request that was put."""
        return _MODEL.decode(self._spool.read(parked.place))

    def tool(self, parked: ParkedSpan) -> ToolSpan:
        """The run of a tool that was put."""
        return _TOOL.decode(self._spool.read(parked.place))


def innermost(spans: Sequence[ParkedSpan], parents: Mapping[str, str]) -> list[ParkedSpan]:
    """The spans, but of requests inside one another (an agent's, a library's, its provider's: all record the same
    answer) the inner ones; the outer, where it alone has the calls. `parents` names the parent of each span."""
    requests = {span.id: span for span in spans if span.is_model and span.id}
    inside: dict[str, list[ParkedSpan]] = {}
    for span in requests.values():
        for above in islice(upwards(span.id, lambda name: parents.get(name, "")), 1, None):
            if above in requests:
                inside.setdefault(above, []).append(span)
    dropped = set()
    for name, inner in inside.items():
        is_richer = len(inner) == 1 and requests[name].calls and not inner[0].calls
        dropped.add(inner[0].id if is_richer else name)
    return [span for span in spans if not (span.is_model and span.id in dropped)]


def first_request(spool: SpanSpool, spans: Sequence[ParkedSpan]) -> str:
    """What a person asked first."""
    return next((m.content for s in spans if s.is_model for m in spool.model(s).messages
                 if m.role == "user" and m.content), "")


def first_model(spool: SpanSpool, spans: Sequence[ParkedSpan]) -> str:
    """The model that was asked first; "" where none was."""
    return next((spool.model(s).model for s in spans if s.is_model), "")


def add_spans(builder: SessionBuilder, spool: SpanSpool, spans: Sequence[ParkedSpan]) -> bool:
    """The steps of the spans, in the order in which they began; whether any request holds contents."""
    return bool(read_spans(lambda: builder, spool, spans).named)


def read_spans(begin: Callable[[], SessionBuilder], spool: SpanSpool, spans: Sequence[ParkedSpan],
               held: dict[Any, Any] | None = None, name: object = "", begun: object = ()) -> ItemsRead:
    """The same in a builder that `begin` makes; `named` tells of contents. `held`, `name` and `begun` as in `read_on`:
    what stays are the places of spans, so of a trace that grows the spool must be the same."""
    ordered = sorted(spans, key=lambda span: span.at)
    models = [n for n, span in enumerate(ordered) if span.is_model]
    runs = _runs(ordered)
    keys = [(ordered[place].place, ordered[after].place if after < len(ordered) else -1,
             tuple([run.place if (run := runs.get((place, n))) else -1 for n in range(len(ordered[place].calls))]))
            for place, after in pairwise([*models, len(ordered)])] if models else [span.place for span in ordered]
    ahead: dict[int, ModelSpan] = {}

    def add(done: ItemsRead, number: int) -> None:
        if not models:
            _add_tool(done.conversation, spool.tool(ordered[number]))
            return
        place, after = models[number], models[number + 1] if number + 1 < len(models) else -1
        asked = ahead.pop(place, None) or spool.model(ordered[place])
        if after >= 0:
            ahead[after] = spool.model(ordered[after])
        found = [runs.get((place, n)) for n in range(len(asked.answer.tool_calls))]
        _add(done.conversation, asked, list(_results(asked, spool, found, ahead[after].messages if ahead else ())))
        if asked.messages or asked.answer.content or asked.answer.tool_calls:
            done.named["contents"] = 1

    source = "" if models else "approximate"
    return read_on(held, name, (begun, source), keys, lambda: Conversation(begin(), source), add)


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


def _results(asked: ModelSpan, spool: SpanSpool, runs: Sequence[ParkedSpan | None], given: Sequence[Message]
             ) -> Iterator[CallResult]:
    """Of a run that broke a trace has where; what the model was told of it stands in the next prompt."""
    recent, earlier = _came_back(given)
    calls = asked.answer.tool_calls
    if len(recent) == len(calls) and not {m.tool_call_id for m in recent} & {c.id for c in calls}:
        # the answer was recorded with ids of its own: what came back stands in the order of the calls
        recent = [msgspec.structs.replace(m, tool_call_id=c.id) for m, c in zip(recent, calls, strict=True)]
    for call, run in zip(asked.answer.tool_calls, runs, strict=True):
        answer = next((m for m in recent if m.tool_call_id == call.id or (not m.tool_call_id and m.name == call.name)),
                      None) or next((m for m in earlier if m.tool_call_id == call.id), None)
        if answer in recent:
            recent.remove(answer)
        if run is not None:
            tool = spool.tool(run)
            text = tool.text or (answer.content if answer is not None and tool.failure else "") or tool.failure
            yield CallResult(text=text, call=call.id, error=tool.error, started_at=tool.at, ended_at=tool.ended_at)
        elif answer is not None:
            yield CallResult(text=answer.content, call=call.id)


def _came_back(given: Sequence[Message]) -> tuple[list[Message], list[Message]]:
    """What the next prompt says that came back: since the last answer, and before it (the newest first: an id may have
    been used before)."""
    last = next((n for n in range(len(given), 0, -1) if given[n - 1].role == "assistant"), 0)
    return [m for m in given[last:] if m.role == "tool"], [m for m in reversed(given[:last]) if m.role == "tool"]


def _runs(ordered: Sequence[ParkedSpan]) -> dict[tuple[int, int], ParkedSpan]:
    """The run of each call, by the place of its request and its own in it."""
    found: dict[tuple[int, int], ParkedSpan] = {}
    open_calls = _OpenCalls()
    late: list[ParkedSpan] = []
    for place, span in enumerate(ordered):
        if span.is_model:
            for number, call in enumerate(span.calls):
                open_calls.add((place, number), call)
        elif (where := open_calls.answer(span.calls[0])) is not None:
            found[where] = span
        else:
            late.append(span)
    for span in late:  # clocks of different machines
        if span.calls[0].id and (where := open_calls.answer(span.calls[0])) is not None:
            found[where] = span
    return found


class _OpenCalls:
    """The calls that no run has answered yet, by what a run may know of them; each answers one, the oldest first."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], dict[tuple[int, int], ParkedCall]] = {}

    def add(self, where: tuple[int, int], call: ParkedCall) -> None:
        """A call was made."""
        for key in self._keys(call):
            self._known.setdefault(key, {})[where] = call

    def answer(self, run: ParkedCall) -> tuple[int, int] | None:
        """The call of a run's id; where runs have no ids, the one of its name and arguments, else that of its name in
        the newest request that has one. It is open no more."""
        keys = [("id", run.id)] if run.id else [key for key in self._keys(run) if key[0] == "marked"]
        where = next((next(iter(held)) for key in keys if (held := self._known.get(key))), None)
        if where is None and not run.id and (named := self._known.get(("name", run.name))):
            newest = next(reversed(named))[0]
            where = min(takewhile(lambda one: one[0] == newest, reversed(named)))
        if where is not None:
            self._close(where, run)
        return where

    def _close(self, where: tuple[int, int], run: ParkedCall) -> None:
        held = self._known[("id", run.id) if run.id else ("name", run.name)]
        for key in self._keys(held[where]):
            self._known[key].pop(where, None)

    @staticmethod
    def _keys(call: ParkedCall) -> list[tuple[str, ...]]:
        marked = [("marked", call.name, mark) for mark in call.marks]
        return [*([("id", call.id)] if call.id else []), ("name", call.name), *marked]
