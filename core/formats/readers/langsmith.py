"""LangSmith: exported runs, as lines, a list, or a tree (`child_runs`).

A session is a thread (`metadata.session_id`, `thread_id`, `conversation_id`), else a trace. Runs of the type llm are
steps with their exact context, in LangChain's serialised messages or in those of the provider; runs of the type tool
are results. Runs of chains only group others. Feedback from 0 to 1 is kept as a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.step import ActionError, Usage
from core.formats.chat import tool_definitions
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.model_messages import fields_of, read_answer, read_prompt, read_result
from core.formats.records import records
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.spans import (
    ModelSpan,
    ParkedSpan,
    Span,
    SpanSpool,
    ToolSpan,
    first_model,
    first_request,
    read_spans,
)
from core.formats.values import dict_of, dicts_of, float_of, text_of, time_of, usage_of

NAME = "langsmith"
_TYPES = ("llm", "chain", "tool", "retriever", "embedding", "prompt", "parser")
_DEPTH = 200


def recognises(source: Source) -> bool:
    """Whether the file holds runs."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)] + dicts_of(source.object.get("runs"))[:20]
    return any(map(_is_run, values))


def _is_run(value: dict[str, Any]) -> bool:
    return value.get("run_type") in _TYPES and bool(
        {"trace_id", "dotted_order", "child_runs", "session_id"} & value.keys())


class _Root(msgspec.Struct):
    """What the first run of a trace says of the whole."""

    name: str
    feedback: dict[str, Any]
    error: str


class _Run(msgspec.Struct, frozen=True):
    """What is remembered of a run."""

    trace: str
    span: ParkedSpan | None
    root: _Root | None = None
    """Of a run that no other one called."""
    thread: str = ""


class _Trace(msgspec.Struct):
    """What is gathered of a trace while its runs go by."""

    spans: list[ParkedSpan] = msgspec.field(default_factory=list)
    roots: list[_Root] = msgspec.field(default_factory=list)
    thread: str = ""


def read(source: Source) -> Iterator[Imported]:
    """A session for each thread, or trace."""
    spool = SpanSpool() if source.held is None else source.held.setdefault("spans", SpanSpool())

    def outline(_: int, one: dict[str, Any]) -> list[_Run]:
        return [_parked(run, spool) for run in _flat(one, 0)] if _is_run(one) else []

    found = records(source, outline)
    traces: dict[str, _Trace] = {}
    for run in (r for held in [outline(0, one) for one in dicts_of(source.object.get("runs"))] or found.outlines
                for r in held):
        trace = traces.setdefault(run.trace, _Trace())
        trace.spans.extend([run.span] if run.span is not None else [])
        if run.root is not None:
            trace.roots.append(run.root)
            trace.thread = run.thread
    talks: dict[str, list[_Trace]] = {}
    for name, trace in traces.items():
        talks.setdefault(trace.thread or name, []).append(trace)
    yield from joined(source.path, ((f"Trace {name}", _session(source, name, spool, held, found.warnings))
                                    for name, held in talks.items()))


def _parked(run: dict[str, Any], spool: SpanSpool) -> _Run:
    span, trace = _span(run), text_of(run.get("trace_id"))
    parked = spool.put(span) if span is not None else None
    if run.get("parent_run_id"):
        return _Run(trace, parked)
    root = _Root(text_of(run.get("name")), dict_of(run.get("feedback_stats")), text_of(run.get("error")))
    return _Run(trace, parked, root, _thread(run))


def _flat(run: dict[str, Any], depth: int, trace: str = "") -> Iterator[dict[str, Any]]:
    trace = text_of(run.get("trace_id")) or trace or text_of(run.get("id"))
    yield {**run, "trace_id": trace}
    for child in dicts_of(run.get("child_runs")) if depth < _DEPTH else ():
        yield from _flat({"parent_run_id": run.get("id"), **child}, depth + 1, trace)


def _thread(run: dict[str, Any]) -> str:
    metadata = dict_of(dict_of(run.get("extra")).get("metadata"))
    return next((t for key in ("session_id", "thread_id", "conversation_id") if (t := text_of(metadata.get(key)))), "")


def _session(source: Source, name: str, spool: SpanSpool, traces: Sequence[_Trace], warnings: Sequence[str]
             ) -> Imported | str:
    spans, roots = [s for t in traces for s in t.spans], [r for t in traces for r in t.roots]
    if not any(s.is_model for s in spans):
        return " ".join([f"Trace {name} was left out: it holds no request to a model.", *warnings])
    asked, model = first_request(spool, spans), first_model(spool, spans)
    title = asked[:400] or (roots[0].name if roots else "") or name

    def begin() -> SessionBuilder:
        builder = SessionBuilder(NAME, source.name, canonical([name]), warnings)
        builder.create(title, asked, task=name, model=model)
        return builder

    done = read_spans(begin, spool, spans, source.held, ("read", name), (title, asked, model))
    builder = done.conversation.builder
    for what, held in (pair for root in roots for pair in root.feedback.items()):
        builder.reward(float_of(dict_of(held).get("avg")), what)
    failed = next((r.error for r in roots if r.error), "")
    builder.end("failed" if failed else "finished", "error" if failed else "end_not_recorded", failed[:2000])
    return builder.build()


def _span(run: dict[str, Any]) -> Span | None:
    at, ended = time_of(run.get("start_time")), time_of(run.get("end_time"))
    inputs, outputs, failed = dict_of(run.get("inputs")), dict_of(run.get("outputs")), text_of(run.get("error"))
    if run.get("run_type") == "tool":
        text, call = read_result(outputs.get("output", outputs or None))
        return ToolSpan(name=text_of(run.get("name")), text=text, failure=failed, at=at, ended_at=ended, call=call,
                        arguments=inputs,
                        error=ActionError(kind="tool_error", message=failed[:2000]) if failed else None)
    if run.get("run_type") != "llm":
        return None
    extra = dict_of(run.get("extra"))
    asked, metadata = dict_of(extra.get("invocation_params")), dict_of(extra.get("metadata"))
    tools = tool_definitions(asked.get("tools") or inputs.get("tools"))
    names = (asked.get("model"), asked.get("model_name"), metadata.get("ls_model_name"))
    return ModelSpan(messages=read_prompt(inputs), answer=read_answer(outputs), at=at, ended_at=ended,
                     usage=_usage(run, _used(outputs)),
                     error=failed, model=next((t for v in names if (t := text_of(v))), ""),
                     tools=canonical(tools) if tools else b"", item=text_of(run.get("id")))


def _used(outputs: dict[str, Any]) -> dict[str, Any]:
    """What a run says was used: beside the answer, or in it."""
    for one in (outputs, *(m for held in outputs.values() for m in _objects(held, 0))):
        found = dict_of(fields_of(one).get("usage_metadata")) or dict_of(one.get("usage"))
        if found:
            return found
    return {}


def _objects(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    """The objects in an answer: LangChain has the message of a generation in lists of lists."""
    for one in value if isinstance(value, list) else [value]:
        if isinstance(one, list) and depth < 4:
            yield from _objects(one, depth + 1)
        elif isinstance(one, dict):
            yield from (one, dict_of(one.get("message")))


def _usage(run: dict[str, Any], used: dict[str, Any]) -> Usage:
    given = used.get("input_tokens", used.get("prompt_tokens", run.get("prompt_tokens")))
    made = used.get("output_tokens", used.get("completion_tokens", run.get("completion_tokens")))
    cached = dict_of(used.get("input_token_details")).get("cache_read")
    cost = run.get("total_cost")
    return usage_of(given, made, cached, float(cost) if isinstance(cost, str) and _is_number(cost) else cost)


def _is_number(text: str) -> bool:
    return len(text) < 40 and text.replace(".", "", 1).isdecimal()


FORMAT = Format(name=NAME, title="LangSmith runs", recognises=recognises, read=read)
