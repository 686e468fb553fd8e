"""OpenTelemetry spans with the GenAI conventions, as OTLP JSON: one object, or lines as the collector's file exporter.

A session is a conversation (`gen_ai.conversation.id`), else a trace. Spans that ask a model (chat, generate_content,
text_completion) are steps with their exact context; execute_tool spans are results. Messages stand in attributes
(`gen_ai.input.messages`), in the span's events (`gen_ai.user.message`, `gen_ai.choice`), or flat
(`gen_ai.prompt.0.content`, OpenLLMetry). OpenInference's conventions and those of the AI SDK are read too. Where a
program did not record contents, steps have none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any

import msgspec

from core.domain.message import Message
from core.domain.step import ActionError, Usage
from core.formats.chat import tool_definitions
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.model_messages import json_of, read_answer, read_prompt, read_result
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
    innermost,
)
from core.formats.values import as_json, dict_of, dicts_of, int_of, text_of, time_of, usage_of

NAME = "otel"
_KINDS = {"chat": "model", "generate_content": "model", "text_completion": "model", "completion": "model",
          "LLM": "model", "ai.generateText.doGenerate": "model", "ai.streamText.doStream": "model",
          "ai.generateObject.doGenerate": "model", "ai.streamObject.doStream": "model",
          "execute_tool": "tool", "TOOL": "tool", "ai.toolCall": "tool", "invoke_agent": "agent"}
_MARKS = ("gen_ai.", "openinference.", "ai.operationId")
_WRAPS = ("message", "message_content", "tool_call", "tool")
_DEEPEST = 16
_DETAILS = "gen_ai.client.inference.operation.details"
_NANO = 1_000_000_000


def recognises(source: Source) -> bool:
    """Whether the file is OTLP JSON with spans of a model."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)]
    texts = (as_json([s.get("attributes"), s.get("events")]) for v in values for s in _spans_in(v))
    return any(mark in text for text in texts for mark in _MARKS)


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
    parents: dict[str, str] = msgspec.field(default_factory=dict)


def read(source: Source) -> Iterator[Imported]:
    """The sessions of a file in the order in which they begin."""
    gathered = _Traces()
    found = records(source, gathered.take) if source.held is None else records(source)
    for record in found.items if source.held is not None else ():
        gathered.take(0, record)
    talks: dict[str, list[_Trace]] = {}
    for name, trace in gathered.traces.items():
        talks.setdefault(trace.talk or name, []).append(trace)
    yield from joined(source.path, ((f"Trace {name}", _session(source, name, gathered.spool, held, found.warnings))
                                    for name, held in talks.items()))


class _Traces:
    """The traces of a file by their names; each line is looked at once, while it goes by."""

    def __init__(self) -> None:
        self.spool = SpanSpool()
        self.traces: dict[str, _Trace] = {}

    def take(self, place: int, record: dict[str, Any]) -> None:
        """The spans of one more line."""
        for given in _spans_in(record):
            held = _attributes(given.get("attributes"))
            trace = self.traces.setdefault(text_of(given.get("traceId", given.get("trace_id"))), _Trace())
            trace.talk = trace.talk or text_of(held.get("gen_ai.conversation.id"))
            trace.agent = trace.agent or text_of(held.get("gen_ai.agent.name"))
            trace.model = trace.model or text_of(held.get("gen_ai.request.model"))
            own, above = text_of(given.get("spanId")), text_of(given.get("parentSpanId"))
            if above:
                trace.parents[own] = above
            if (span := _span(given, held)) is not None:
                trace.spans.append(self.spool.put(span, id=own))


def _session(source: Source, name: str, spool: SpanSpool, traces: Sequence[_Trace], warnings: Sequence[str]
             ) -> Imported | str:
    """Spans of agents count only where no request to the model is inside of them."""
    spans = [s for t in traces for s in innermost(t.spans, t.parents)]
    if not spans:
        return " ".join([f"Trace {name} was left out: it holds no request to a model and no run of a tool.", *warnings])
    builder = SessionBuilder(NAME, source.name, canonical([name]), warnings)
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


def _kind(held: Mapping[str, Any]) -> str:
    """What a span is of: "model", "tool", "agent", or "" for what only groups others."""
    named = (held.get("gen_ai.operation.name"), held.get("llm.request.type"), held.get("openinference.span.kind"),
             held.get("ai.operationId"))
    return next((_KINDS[n] for n in named if isinstance(n, str) and n in _KINDS), "")


def _first(held: Mapping[str, Any], *names: str) -> Any:
    """The first of some attributes that is there."""
    return next((held[name] for name in names if held.get(name) is not None), None)


def _span(span: dict[str, Any], held: dict[str, Any]) -> Span | None:
    """What a span is; one of an agent only where it holds what the model answered."""
    kind = _kind(held)
    at, ended = _moment(span.get("startTimeUnixNano")), _moment(span.get("endTimeUnixNano"))
    events = [(text_of(e.get("name")), _attributes(e.get("attributes"))) for e in dicts_of(span.get("events"))]
    if kind == "tool":
        return _tool(span, held, events, at, ended)
    if not kind or (kind == "agent" and "gen_ai.output.messages" not in held):
        return None
    for name, inner in events:
        held = {**inner, **held} if name == _DETAILS else held
    messages, answer = _messages(held, events)
    finish = held.get("gen_ai.response.finish_reasons")
    return ModelSpan(messages=messages, answer=answer, at=at, ended_at=ended, usage=_usage(held),
                     error=_failure(span, held), item=text_of(span.get("spanId")),
                     model=text_of(_first(held, "gen_ai.response.model", "gen_ai.request.model", "llm.model_name",
                                          "ai.model.id")),
                     finish_reason=text_of(finish[0]) if isinstance(finish, list) and finish else "",
                     tools=_tools(held))


def _tools(held: dict[str, Any]) -> bytes:
    """The definitions of tools that a request named, as a payload; b"" for none."""
    given = _first(held, "gen_ai.tool.definitions", "ai.prompt.tools")
    if isinstance(given, str):
        return _written_tools(given) or _defined([v.get("json_schema") for v in dicts_of(_grown(held, "llm.tools"))])
    return _defined(given or [v.get("json_schema") for v in dicts_of(_grown(held, "llm.tools"))])


@lru_cache(maxsize=8)
def _written_tools(text: str) -> bytes:
    """Of JSON text; most requests of a program name the same tools."""
    return _defined(json_of(text))


def _defined(given: Any) -> bytes:
    definitions = tool_definitions([json_of(t) for t in given] if isinstance(given, list) else [])
    return canonical(definitions) if definitions else b""


def _tool(span: dict[str, Any], held: dict[str, Any], events: Sequence[tuple[str, dict[str, Any]]],
          at: datetime | None, ended: datetime | None) -> ToolSpan:
    by_name = dict(events)
    result = _first(held, "gen_ai.tool.call.result", "gen_ai.tool.message", "tool_response", "ai.toolCall.result",
                    "output.value")
    if result is None and "gen_ai.choice" in by_name:  # Strands
        result = json_of(by_name["gen_ai.choice"].get("message"))
    given = _first(held, "gen_ai.tool.call.arguments", "tool_arguments", "ai.toolCall.args", "input.value")
    if given is None:
        given = dict_of(by_name.get("gen_ai.tool.message")).get("content")
    failed = _failure(span, held)
    text, _ = read_result({"content": result} if isinstance(result, list) else result)
    return ToolSpan(name=text_of(_first(held, "gen_ai.tool.name", "tool.name", "ai.toolCall.name")), text=text,
                    failure=failed, at=at, ended_at=ended, arguments=given,
                    call=text_of(_first(held, "gen_ai.tool.call.id", "ai.toolCall.id", "tool_call.id")),
                    error=ActionError(kind=text_of(held.get("error.type"))[:100] or "tool_error", message=failed[:2000])
                    if failed else None)


def _failure(span: dict[str, Any], held: dict[str, Any]) -> str:
    """What a span says went wrong; "" where nothing did."""
    status = dict_of(span.get("status"))
    if status.get("code") not in (2, "STATUS_CODE_ERROR", "ERROR"):
        return ""
    return text_of(status.get("message")) or text_of(held.get("error.type")) or "The span failed."


def _usage(held: Mapping[str, Any]) -> Usage:
    given = _first(held, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt",
                   "ai.usage.promptTokens")
    made = _first(held, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion",
                  "ai.usage.completionTokens")
    cached = _first(held, "gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens",
                    "llm.token_count.prompt_details.cache_read")
    return usage_of(given, made, cached, held.get("gen_ai.usage.cost"))


# ---- messages ----------------------------------------------------------------------------------------


def _messages(held: dict[str, Any], events: Sequence[tuple[str, dict[str, Any]]]) -> tuple[list[Message], Message]:
    """What the model was given, and its answer, wherever the program put them."""
    if "gen_ai.input.messages" in held or "gen_ai.output.messages" in held:
        asked = {"system": json_of(held.get("gen_ai.system_instructions")),
                 "messages": json_of(held.get("gen_ai.input.messages")) or []}
        return read_prompt(asked), read_answer(held.get("gen_ai.output.messages"))
    if any(name in ("gen_ai.choice", "gen_ai.user.message", "gen_ai.system.message") for name, _ in events):
        return _of_events(events)
    for before, after in (("gen_ai.prompt", "gen_ai.completion"), ("llm.input_messages", "llm.output_messages")):
        given, made = _grown(held, before), _grown(held, after)
        if given or made:
            return read_prompt(given), read_answer(made or held.get("output.value"))
    if "ai.prompt.messages" in held or "ai.prompt" in held:
        parts = {k: held.get(f"ai.response.{k}") for k in ("text", "toolCalls", "reasoning")}
        return read_prompt(held.get("ai.prompt.messages", held.get("ai.prompt"))), (
            read_answer(parts) if any(parts.values()) else Message(role="assistant"))
    return read_prompt(held.get("input.value")), read_answer(held.get("output.value"))


def _of_events(events: Sequence[tuple[str, dict[str, Any]]]) -> tuple[list[Message], Message]:
    """The older conventions: an event per message."""
    given, answer = [], Message(role="assistant")
    for name, held in events:
        body = {k: json_of(v) if k in ("message", "tool_calls", "content") else v for k, v in held.items()}
        body |= dict_of(json_of(held.get("gen_ai.event.content", held.get("content"))))
        if name == "gen_ai.choice":
            message = body.get("message", body)
            answer = read_answer(message if isinstance(message, dict) else {"role": "assistant", "content": message})
        elif name.startswith("gen_ai.") and name.endswith(".message"):
            given.append({"role": name.split(".")[1], **body})
    return read_prompt(given), answer


def _grown(held: Mapping[str, Any], prefix: str) -> list[Any]:
    """Messages of which each field is an attribute (`gen_ai.prompt.0.content`, OpenLLMetry;
    `llm.input_messages.0.message.content`, OpenInference)."""
    tree: dict[str, Any] = {}
    for key, value in held.items():
        if not key.startswith(prefix + "."):
            continue
        *path, last = key[len(prefix) + 1 :].split(".")[:_DEEPEST]
        node = tree
        for name in path:
            if not isinstance(node.get(name), dict):
                node[name] = {}
            node = node[name]
        node[last] = value
    found = _nested(tree)
    return found if isinstance(found, list) else []


def _nested(node: Any) -> Any:
    """A tree whose numbered members are a list, without the names that only wrap a value."""
    if not isinstance(node, dict):
        return json_of(node) if isinstance(node, str) and node.startswith("[{") else node
    held = {"content" if name == "contents" else name: _nested(value) for name, value in node.items()}
    if held and all(name.isdecimal() and len(name) < 10 for name in held):
        return [held[name] for name in sorted(held, key=int)]
    inner = next((held[name] for name in _WRAPS if len(held) == 1 and name in held), None)
    return held if inner is None else inner


FORMAT = Format(name=NAME, title="OpenTelemetry GenAI spans", recognises=recognises, read=read)
