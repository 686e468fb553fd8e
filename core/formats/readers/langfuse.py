"""Langfuse: a trace with its observations (`GET /api/public/traces/ID`, the window's download), a list or lines of
such, or exported observations alone.

A GENERATION is a step with its exact context; TOOL observations (of older versions: spans of the name of a call) are
results. Traces of one `sessionId` are one session. Scores from 0 to 1 are kept as scores, others as notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.message import Message
from core.domain.step import ActionError, Usage
from core.formats.chat import content_text, is_chat, read_message, tool_definitions
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.records import records
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.spans import ModelSpan, ParkedSpan, SpanSpool, ToolSpan, add_spans, first_model, first_request
from core.formats.values import as_json, dict_of, dicts_of, float_of, int_of, sum_of, text_of, time_of, usage_of

NAME = "langfuse"
_TYPES = ("GENERATION", "SPAN", "EVENT", "AGENT", "TOOL", "CHAIN", "RETRIEVER", "EVALUATOR", "EMBEDDING", "GUARDRAIL")


def recognises(source: Source) -> bool:
    """Whether the file holds traces with observations, or observations."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)]
    return any(map(_is_trace, values)) or any(map(_is_observation, values)) or any(
        map(_is_observation, dicts_of(source.object.get("data"))[:20]))


def _is_observation(value: dict[str, Any]) -> bool:
    return value.get("type") in _TYPES and "traceId" in value and bool(
        {"startTime", "parentObservationId"} & value.keys())


def _is_trace(value: dict[str, Any]) -> bool:
    found = (dicts_of(value.get("observations")) or dicts_of(dict_of(value.get("trace")).get("observations")))[:20]
    return bool(found) and all(o.get("type") in _TYPES and "startTime" in o for o in found)


class _Talk(msgspec.Struct):
    """What is gathered of a session while its observations go by."""

    spans: list[ParkedSpan] = msgspec.field(default_factory=list)
    scores: list[dict[str, Any]] = msgspec.field(default_factory=list)
    title: str = ""


def read(source: Source) -> Iterator[Imported]:
    """A session for each `sessionId`, or trace."""
    found, spool = records(source), SpanSpool()
    talks: dict[str, _Talk] = {}
    for row in dicts_of(source.object.get("data")) or found.items:
        for trace in _traces(row):
            talk = talks.setdefault(text_of(trace.get("sessionId")) or text_of(trace.get("id")), _Talk())
            talk.spans += _spans(dicts_of(trace.get("observations")), spool)
            talk.scores += dicts_of(trace.get("scores"))
            talk.title = talk.title or text_of(trace.get("name"))
    yield from joined(source.path, ((f"Trace {name}", _session(source, name, spool, talk, found.warnings))
                                    for name, talk in talks.items()))


def _traces(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The trace that a row is; an observation alone is a part of one."""
    if _is_observation(row):
        yield {"id": row.get("traceId"), "sessionId": row.get("sessionId"), "observations": [row]}
    elif _is_trace(row):
        inner = dict_of(row.get("trace"))
        yield {**inner, "observations": row.get("observations", inner.get("observations"))} if inner else row


def _session(source: Source, name: str, spool: SpanSpool, talk: _Talk, warnings: Sequence[str]) -> Imported | str:
    called = {name for span in talk.spans for name in span.called}
    spans = [s for s in talk.spans if not s.doubt or s.name in called]
    if not any(s.is_model for s in spans):
        return " ".join([f"Trace {name} was left out: it holds no request to a model.", *warnings])
    builder = SessionBuilder(NAME, source.path.name, canonical([name]), warnings)
    asked = first_request(spool, spans)
    builder.create(talk.title or asked[:400] or name, asked, task=name, model=first_model(spool, spans))
    add_spans(builder, spool, spans)
    for score in talk.scores:
        _add_score(builder, score)
    return builder.build_without_end()


def _add_score(builder: SessionBuilder, score: dict[str, Any]) -> None:
    value, what = score.get("value"), text_of(score.get("name")) or "score"
    number = float_of(value)
    if number is not None and 0 <= number <= 1:
        builder.reward(number, what)
    else:
        text = text_of(score.get("stringValue")) or as_json(value)
        builder.fact(NoteAdded(step=0, text=f"{what}: {text}. {text_of(score.get('comment'))}".strip()[:20_000]))


def _spans(observations: Sequence[dict[str, Any]], spool: SpanSpool) -> Iterator[ParkedSpan]:
    """Older versions know no tools: a span may be one, where it bears the name of a call."""
    for one in observations:
        match one.get("type"):
            case "GENERATION":
                yield spool.put(_model(one))
            case "TOOL":
                yield spool.put(_tool(one))
            case "SPAN":
                yield spool.put(_tool(one), doubt="a span of older versions")


def _tool(one: dict[str, Any]) -> ToolSpan:
    output = one.get("output")
    failed = _failure(one)
    text = as_json("" if output is None else output)
    return ToolSpan(name=text_of(one.get("name")), text=text, failure=failed, at=time_of(one.get("startTime")),
                    ended_at=time_of(one.get("endTime")), arguments=one.get("input"),
                    call=text_of(dict_of(one.get("metadata")).get("tool_call_id")),
                    error=ActionError(kind="tool_error", message=failed[:2000]) if failed else None)


def _failure(one: dict[str, Any]) -> str:
    return text_of(one.get("statusMessage")) or "The observation failed." if one.get("level") == "ERROR" else ""


def _model(one: dict[str, Any]) -> ModelSpan:
    given = _json(one.get("input"))
    tools = tool_definitions(given.get("tools")) if isinstance(given, dict) else []
    return ModelSpan(messages=_messages(given), answer=_answer(_json(one.get("output"))),
                     at=time_of(one.get("startTime")), ended_at=time_of(one.get("endTime")), usage=_usage(one),
                     error=_failure(one),
                     model=text_of(one.get("model")) or text_of(one.get("providedModelName")),
                     tools=canonical(tools) if tools else b"", item=text_of(one.get("id")))


def _json(value: Any) -> Any:
    """A value that the download has as JSON text, or the value itself."""
    parsed = parse(value.encode("utf-8", "replace")) if isinstance(value, str) and value[:1] in ("{", "[") else None
    return parsed.value if parsed and not parsed.problem else value


def _messages(given: Any) -> list[Message]:
    """A prompt: messages, an object that holds them, or words."""
    held = given.get("messages", given.get("prompt")) if isinstance(given, dict) else given
    if isinstance(held, list) and is_chat(held):
        return [read_message(m) for m in held]
    if given in (None, "", {}, []):
        return []
    return [Message(role="user", content=content_text(held if isinstance(held, str) else given))]


def _answer(made: Any) -> Message:
    """An answer: a message, a list of which the last is one, an object that holds one, or words."""
    if isinstance(made, list) and made and is_chat(made):
        return read_message({**made[-1], "role": "assistant"})
    if isinstance(made, dict):
        choices = dicts_of(made.get("choices"))
        inner = dict_of(choices[0].get("message")) if choices else dict_of(made.get("message")) or made
        if {"content", "tool_calls"} & inner.keys():
            return read_message({**inner, "role": "assistant"})
        words = made.get("completion", made.get("text"))
        return Message(role="assistant", content=words if isinstance(words, str) else as_json(made))
    return Message(role="assistant", content="" if made is None else content_text(made))


def _usage(one: dict[str, Any]) -> Usage:
    """The details of what was used, of newer versions; else the three counts. Tokens of the cache are counted apart."""
    details = dict_of(one.get("usageDetails"))
    cached = next((n for k, v in details.items() if ("cache" in k and "read" in k) or k == "input_cached_tokens"
                   if (n := int_of(v)) is not None), None)
    parts = [k for k in details if k.startswith("input_") and k != "input"]
    counts = dict_of(one.get("usage"))
    given = sum_of(details, "input", *parts) if details else counts.get("input", one.get("promptTokens"))
    made = details.get("output") if details else counts.get("output", one.get("completionTokens"))
    cost = one.get("calculatedTotalCost", one.get("totalCost", dict_of(one.get("costDetails")).get("total")))
    return usage_of(given, made, cached, cost)


FORMAT = Format(name=NAME, title="Langfuse traces", recognises=recognises, read=read)
