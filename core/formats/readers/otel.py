"""OpenTelemetry spans with the GenAI conventions, as OTLP JSON: one object, or lines as the collector's file exporter.

A session is a conversation (`gen_ai.conversation.id`), else a trace. Spans that ask a model (chat, generate_content,
text_completion) are steps with their exact context; execute_tool spans are results. Messages stand in attributes
(`gen_ai.input.messages`), in the span's events (`gen_ai.user.message`, `gen_ai.choice`), or flat
(`gen_ai.prompt.0.content`, OpenLLMetry). Where a program did not record contents, steps have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

from core.domain.message import Message, Role, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import content_text, make_call, read_calls, role_of, tool_definitions
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.records import records
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.spans import (
    ModelSpan,
    ParkedSpan,
    Span,
    SpanSpool,
    ToolSpan,
    add_spans,
    first_model,
    first_request,
)
from core.formats.values import as_json, dict_of, dicts_of, int_of, paragraphs, text_of, time_of, usage_of

NAME = "otel"
_ASKS = ("chat", "generate_content", "text_completion", "completion")
_AGENT = "invoke_agent"
_DETAILS = "gen_ai.client.inference.operation.details"
_NANO = 1_000_000_000


def recognises(source: Source) -> bool:
    """Whether the file is OTLP JSON with spans of a model."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)]
    return any("gen_ai." in as_json([s.get("attributes"), s.get("events")]) for v in values for s in _spans_in(v))


def _spans_in(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in dicts_of(value.get("resourceSpans", value.get("resource_spans"))):
        scopes = resource.get("scopeSpans", resource.get("scope_spans", resource.get("instrumentationLibrarySpans")))
        for scope in dicts_of(scopes):
            yield from dicts_of(scope.get("spans"))


class _Trace(msgspec.Struct):
    """What is gathered of a trace while its spans go by."""

    spans: list[ParkedSpan] = msgspec.field(default_factory=list)
    talk: str = ""
    agent: str = ""
    model: str = ""
    is_asked: bool = False


def read(source: Source) -> Iterator[Imported]:
    """The sessions of a file in the order in which they begin."""
    found, spool = records(source), SpanSpool()
    traces: dict[str, _Trace] = {}
    for given in (s for record in found.items for s in _spans_in(record)):
        held = _attributes(given.get("attributes"))
        trace = traces.setdefault(text_of(given.get("traceId", given.get("trace_id"))), _Trace())
        trace.talk = trace.talk or text_of(held.get("gen_ai.conversation.id"))
        trace.agent = trace.agent or text_of(held.get("gen_ai.agent.name"))
        trace.model = trace.model or text_of(held.get("gen_ai.request.model"))
        trace.is_asked = trace.is_asked or _operation(held) in _ASKS
        if (span := _span(given, held)) is not None:
            trace.spans.append(spool.put(span, doubt=_operation(held) if _operation(held) == _AGENT else ""))
    talks: dict[str, list[_Trace]] = {}
    for name, trace in traces.items():
        talks.setdefault(trace.talk or name, []).append(trace)
    yield from joined(source.path, ((f"Trace {name}", _session(source, name, spool, held, found.warnings))
                                    for name, held in talks.items()))


def _session(source: Source, name: str, spool: SpanSpool, traces: Sequence[_Trace], warnings: Sequence[str]
             ) -> Imported | str:
    """Spans of agents count only where requests to the model have none of their own."""
    is_asked = any(t.is_asked for t in traces)
    spans = [s for t in traces for s in t.spans if not (s.doubt and is_asked)]
    if not spans:
        return " ".join([f"Trace {name} was left out: it holds no request to a model and no run of a tool.", *warnings])
    builder = SessionBuilder(NAME, source.path.name, canonical([name]), warnings)
    agent, model = (next(filter(None, found), "") for found in ((t.agent for t in traces), (t.model for t in traces)))
    asked, is_model = first_request(spool, spans), any(s.is_model for s in spans)
    builder.create(asked[:400] or agent or name, asked, task=name,
                   model=first_model(spool, spans) if is_model else model)
    if not add_spans(builder, spool, spans) and is_model:
        builder.warnings.append("The program recorded no contents: the steps have times, models and tokens only.")
    return builder.build_without_end()


def _attributes(given: Any) -> dict[str, Any]:
    """Attributes by their keys; those of a mapping as they are."""
    if isinstance(given, dict):
        return given
    return {text_of(one.get("key")): _value(one.get("value")) for one in dicts_of(given)}


def _value(value: Any) -> Any:
    """A value of OTLP's JSON, where whole numbers are text."""
    held = dict_of(value)
    if "arrayValue" in held:
        return [_value(v) for v in dicts_of(dict_of(held["arrayValue"]).get("values"))]
    if "kvlistValue" in held:
        return _attributes(dict_of(held["kvlistValue"]).get("values"))
    if "intValue" in held:
        number = held["intValue"]
        is_text = isinstance(number, str) and number.lstrip("-").isdecimal() and len(number) < 19
        return int(number) if is_text else number
    return next(iter(held.values()), None) if held else value if not isinstance(value, dict) else None


def _moment(nanoseconds: Any) -> datetime | None:
    if isinstance(nanoseconds, str) and nanoseconds.isdecimal() and len(nanoseconds) < 20:
        nanoseconds = int(nanoseconds)
    return time_of(nanoseconds / _NANO) if int_of(nanoseconds) else None


def _operation(held: dict[str, Any]) -> str:
    return text_of(held.get("gen_ai.operation.name")) or text_of(held.get("llm.request.type"))


def _span(span: dict[str, Any], held: dict[str, Any]) -> Span | None:
    """What a span is; one of an agent only where it holds what the model answered."""
    operation = _operation(held)
    at, ended = _moment(span.get("startTimeUnixNano")), _moment(span.get("endTimeUnixNano"))
    if operation == "execute_tool":
        return _tool(span, held, at, ended)
    is_agent = operation == _AGENT and "gen_ai.output.messages" in held
    if operation not in _ASKS and not is_agent:
        return None
    events = [(text_of(e.get("name")), _attributes(e.get("attributes"))) for e in dicts_of(span.get("events"))]
    for name, inner in events:
        held = {**inner, **held} if name == _DETAILS else held
    messages, answer = _messages(held, events)
    definitions = tool_definitions(_json(held.get("gen_ai.tool.definitions")))
    finish = held.get("gen_ai.response.finish_reasons")
    return ModelSpan(messages=messages, answer=answer, at=at, ended_at=ended, usage=_usage(held),
                     error=_failure(span, held), item=text_of(span.get("spanId")),
                     model=text_of(held.get("gen_ai.response.model")) or text_of(held.get("gen_ai.request.model")),
                     finish_reason=text_of(finish[0]) if isinstance(finish, list) and finish else "",
                     tools=canonical(definitions) if definitions else b"")


def _tool(span: dict[str, Any], held: dict[str, Any], at: datetime | None, ended: datetime | None) -> ToolSpan:
    result, failed = held.get("gen_ai.tool.call.result", held.get("gen_ai.tool.message")), _failure(span, held)
    text = as_json("" if result is None else result)
    return ToolSpan(name=text_of(held.get("gen_ai.tool.name")), text=text, failure=failed, at=at, ended_at=ended,
                    call=text_of(held.get("gen_ai.tool.call.id")), arguments=held.get("gen_ai.tool.call.arguments"),
                    error=ActionError(kind=text_of(held.get("error.type"))[:100] or "tool_error", message=failed[:2000])
                    if failed else None)


def _failure(span: dict[str, Any], held: dict[str, Any]) -> str:
    """What a span says went wrong; "" where nothing did."""
    status = dict_of(span.get("status"))
    if status.get("code") not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return ""
    return text_of(status.get("message")) or text_of(held.get("error.type")) or "The span failed."


def _usage(held: Mapping[str, Any]) -> Usage:
    given = held.get("gen_ai.usage.input_tokens", held.get("gen_ai.usage.prompt_tokens"))
    made = held.get("gen_ai.usage.output_tokens", held.get("gen_ai.usage.completion_tokens"))
    cached = held.get("gen_ai.usage.cache_read.input_tokens", held.get("gen_ai.usage.cache_read_input_tokens"))
    return usage_of(given, made, cached, held.get("gen_ai.usage.cost"))


def _json(value: Any) -> Any:
    """The value of an attribute that is JSON text, or the value itself."""
    return parse(value.encode("utf-8", "replace")).value if isinstance(value, str) else value


# ---- messages ----------------------------------------------------------------------------------------


def _messages(held: dict[str, Any], events: Sequence[tuple[str, dict[str, Any]]]) -> tuple[list[Message], Message]:
    """What the model was given, and its answer."""
    nothing = Message(role="assistant")
    if "gen_ai.input.messages" in held or "gen_ai.output.messages" in held:
        system = _text(_json(held.get("gen_ai.system_instructions")))
        given = [m for one in dicts_of(_json(held.get("gen_ai.input.messages"))) for m in _split(one)]
        made = [m for one in dicts_of(_json(held.get("gen_ai.output.messages"))) for m in _split(one)]
        return [*([Message(role="system", content=system)] if system else []), *given], made[0] if made else nothing
    if any(name in ("gen_ai.choice", "gen_ai.user.message", "gen_ai.system.message") for name, _ in events):
        return _of_events(events, nothing)
    return _flat(held, "gen_ai.prompt"), next(iter(_flat(held, "gen_ai.completion")), nothing)


def _split(message: dict[str, Any]) -> Iterator[Message]:
    """A message of the conventions, whose parts are words, reasoning, calls and results of calls."""
    parts, role = dicts_of(message.get("parts")), role_of(message.get("role")) or "user"
    answers = [p for p in parts if p.get("type") == "tool_call_response"]
    for part in answers:
        result = part.get("response", part.get("result", part.get("content")))
        yield Message(role="tool", content=as_json("" if result is None else result),
                      tool_call_id=text_of(part.get("id")))
    rest = [p for p in parts if p not in answers]
    if rest or not answers:
        calls = tuple(make_call(p.get("id"), p.get("name"), p.get("arguments") or {}, n)
                      for n, p in enumerate((p for p in rest if p.get("type") == "tool_call"), 1))
        yield Message(role=role, content=_text(rest) or text_of(message.get("content")), tool_calls=calls,
                      reasoning=paragraphs(*(text_of(p.get("content")) for p in rest if p.get("type") == "reasoning")))


def _text(parts: Any) -> str:
    """The words of parts; other parts are named in brackets."""
    if isinstance(parts, str):
        return parts
    return "\n".join(filter(None, (
        as_json(p.get("content", p.get("text", ""))) if p.get("type", "text") == "text" else
        f"[{text_of(p.get('type'))}]" for p in dicts_of(parts) if p.get("type") not in ("tool_call", "reasoning"))))


def _of_events(events: Sequence[tuple[str, dict[str, Any]]], nothing: Message) -> tuple[list[Message], Message]:
    """The older conventions: an event per message."""
    given, answer = [], nothing
    for name, held in events:
        body = {k: _json(v) if k in ("message", "tool_calls") else v for k, v in held.items()}
        inner = _json(held.get("gen_ai.event.content", held.get("content")))
        body |= inner if isinstance(inner, dict) else {}
        if name == "gen_ai.choice":
            message = dict_of(body.get("message")) or body
            answer = Message(role="assistant", content=content_text(message.get("content")),
                             tool_calls=read_calls(message))
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            role: Role = role_of(name.split(".")[1]) or "user"
            given.append(Message(role=role, content=content_text(body.get("content")), tool_calls=read_calls(body),
                                 tool_call_id=text_of(body.get("id"))))
    return given, answer


def _flat(held: Mapping[str, Any], prefix: str) -> list[Message]:
    """OpenLLMetry's attributes, one for each field of each message."""
    found: list[Message] = []
    for number in range(10_000):
        here = f"{prefix}.{number}."
        role, content = held.get(f"{here}role"), held.get(f"{here}content")
        calls: list[ToolCall] = []
        while f"{here}tool_calls.{len(calls)}.name" in held:
            call = f"{here}tool_calls.{len(calls)}."
            calls.append(make_call(held.get(f"{call}id"), held[f"{call}name"], held.get(f"{call}arguments", "{}"),
                                   len(calls) + 1))
        if role is None and content is None and not calls:
            break
        words = _json(content) if isinstance(content, str) and content.startswith("[{") else content
        found.append(Message(role=role_of(role) or "assistant", content=content_text(words), tool_calls=tuple(calls),
                             tool_call_id=text_of(held.get(f"{here}tool_call_id"))))
    return found


FORMAT = Format(name=NAME, title="OpenTelemetry GenAI spans", recognises=recognises, read=read)
