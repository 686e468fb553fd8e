"""Langfuse: a trace with its observations (`GET /api/public/traces/ID`, the window's download), a list or lines of
such, or exported observations alone.

A GENERATION is a step with its exact context, unless it only has another inside (a library's around its provider's);
TOOL observations (of older versions: spans of the name of a call) are results. What was asked and answered stands there
in the shape of whatever library asked. Traces of one `sessionId` are one session. Scores from 0 to 1 are kept as
scores, others as notes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.request import headline
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
    SpanSpool,
    ToolSpan,
    add_spans,
    first_model,
    first_request,
    innermost,
)
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
    parents: dict[str, str] = msgspec.field(default_factory=dict)
    empty: int = 0
    scores: list[dict[str, Any]] = msgspec.field(default_factory=list)
    title: str = ""


def read(source: Source) -> Iterator[Imported]:
    """A session for each `sessionId`, or trace."""
    found, spool = records(source), SpanSpool()
    talks: dict[str, _Talk] = {}
    for row in dicts_of(source.object.get("data")) or found.items:
        for trace in _traces(row):
            talk = talks.setdefault(text_of(trace.get("sessionId")) or text_of(trace.get("id")), _Talk())
            _gather(talk, dicts_of(trace.get("observations")), spool)
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
    called = {call.name for span in talk.spans if span.is_model for call in span.calls}
    spans = innermost([s for s in talk.spans if not s.doubt or s.calls[0].name in called], talk.parents)
    if not any(s.is_model for s in spans):
        return " ".join([f"Trace {name} was left out: it holds no request to a model.", *warnings])
    builder = SessionBuilder(NAME, source.name, canonical([name]), warnings)
    asked = first_request(spool, spans)
    title = ": ".join(filter(None, (talk.title, headline(asked)[:400])))
    builder.create(title or name, asked, task=name, model=first_model(spool, spans))
    add_spans(builder, spool, spans)
    if talk.empty:
        builder.warnings.append(f"{talk.empty} requests were left out: nothing stands in them.")
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


def _gather(talk: _Talk, observations: Sequence[dict[str, Any]], spool: SpanSpool) -> None:
    """Older versions know no tools: a span may be one, where it bears the name of a call."""
    for one in observations:
        name, kind = text_of(one.get("id")), one.get("type")
        if above := text_of(one.get("parentObservationId")):
            talk.parents[name] = above
        if kind == "GENERATION" and _is_empty(one):
            talk.empty += 1
        elif kind == "GENERATION":
            talk.spans.append(spool.put(_model(one), id=name))
        elif kind in ("TOOL", "SPAN"):
            talk.spans.append(spool.put(_tool(one), doubt="a span of older versions" * (kind == "SPAN"), id=name))


def _is_empty(one: dict[str, Any]) -> bool:
    """Whether an observation tells nothing: some programs make one of each event of an answer."""
    return not any(one.get(k) for k in ("input", "output", "usage", "usageDetails", "promptTokens", "completionTokens")
                   ) and not _failure(one)


def _attributes(one: dict[str, Any]) -> dict[str, Any]:
    """What the program itself said of an observation."""
    metadata = dict_of(json_of(one.get("metadata")))
    return {**metadata, **dict_of(json_of(metadata.get("attributes")))}


def _tool(one: dict[str, Any]) -> ToolSpan:
    held, failed = _attributes(one), _failure(one)
    text, call = read_result(one.get("output"))
    names = [held.get(k) for k in ("gen_ai.tool.call.id", "ai.toolCall.id", "tool_call_id")]
    titles = [held.get(k) for k in ("gen_ai.tool.name", "ai.toolCall.name", "tool.name")]
    return ToolSpan(name=next(filter(None, map(text_of, (*titles, one.get("name")))), ""), text=text, failure=failed,
                    at=time_of(one.get("startTime")), ended_at=time_of(one.get("endTime")), arguments=one.get("input"),
                    call=next(filter(None, map(text_of, names)), call),
                    error=ActionError(kind="tool_error", message=failed[:2000]) if failed else None)


def _failure(one: dict[str, Any]) -> str:
    return text_of(one.get("statusMessage")) or "The observation failed." if one.get("level") == "ERROR" else ""


def _model(one: dict[str, Any]) -> ModelSpan:
    given = json_of(one.get("input"))
    offered = given.get("tools") if isinstance(given, dict) else []
    if isinstance(given, list):  # LangChain's recorder puts the definitions among the messages
        offered = [d for m in given if (d := _definition(m))]
        given = [m for m in given if not _definition(m)] if offered else given
    tools = tool_definitions(offered)
    return ModelSpan(messages=read_prompt(given), answer=read_answer(one.get("output")),
                     at=time_of(one.get("startTime")), ended_at=time_of(one.get("endTime")), usage=_usage(one),
                     error=_failure(one),
                     model=text_of(one.get("model")) or text_of(one.get("providedModelName")),
                     tools=canonical(tools) if tools else b"", item=text_of(one.get("id")))


def _definition(message: Any) -> dict[str, Any]:
    held = dict_of(dict_of(message).get("content"))
    return held if held.get("type") == "function" and "name" in dict_of(held.get("function")) else {}


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
