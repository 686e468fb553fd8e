"""LangSmith: exported runs, as lines, a list, or a tree (`child_runs`).

A session is a thread (`metadata.session_id`, `thread_id`, `conversation_id`), else a trace. Runs of the type llm are
steps with their exact context, in LangChain's serialised messages or in those of the provider; runs of the type tool
are results. Runs of chains only group others. Feedback from 0 to 1 is kept as a score.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.message import Message
from core.domain.step import ActionError, Usage
from core.formats.chat import content_text, make_call, read_calls, role_of, tool_definitions
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
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
from core.formats.values import as_json, dict_of, dicts_of, float_of, text_of, time_of, usage_of

NAME = "langsmith"
_TYPES = ("llm", "chain", "tool", "retriever", "embedding", "prompt", "parser")
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool", "chat": "user",
          "HumanMessage": "user", "AIMessage": "assistant", "AIMessageChunk": "assistant", "SystemMessage": "system",
          "ToolMessage": "tool", "FunctionMessage": "tool", "developer": "system"}
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


class _Trace(msgspec.Struct):
    """What is gathered of a trace while its runs go by."""

    spans: list[ParkedSpan] = msgspec.field(default_factory=list)
    roots: list[_Root] = msgspec.field(default_factory=list)
    thread: str = ""


def read(source: Source) -> Iterator[Imported]:
    """A session for each thread, or trace."""
    found, spool = records(source), SpanSpool()
    traces: dict[str, _Trace] = {}
    for run in (r for one in dicts_of(source.object.get("runs")) or found.items if _is_run(one) for r in _flat(one, 0)):
        trace = traces.setdefault(text_of(run.get("trace_id")), _Trace())
        if (span := _span(run)) is not None:
            trace.spans.append(spool.put(span))
        if not run.get("parent_run_id"):
            trace.roots.append(_Root(text_of(run.get("name")), dict_of(run.get("feedback_stats")),
                                     text_of(run.get("error"))))
            trace.thread = _thread(run)
    talks: dict[str, list[_Trace]] = {}
    for name, trace in traces.items():
        talks.setdefault(trace.thread or name, []).append(trace)
    yield from joined(source.path, ((f"Trace {name}", _session(source, name, spool, held, found.warnings))
                                    for name, held in talks.items()))


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
    builder = SessionBuilder(NAME, source.path.name, canonical([name]), warnings)
    asked = first_request(spool, spans)
    builder.create(asked[:400] or (roots[0].name if roots else "") or name, asked, task=name,
                   model=first_model(spool, spans))
    add_spans(builder, spool, spans)
    for what, held in (pair for root in roots for pair in root.feedback.items()):
        builder.reward(float_of(dict_of(held).get("avg")), what)
    failed = next((r.error for r in roots if r.error), "")
    builder.end("failed" if failed else "finished", "error" if failed else "end_not_recorded", failed[:2000])
    return builder.build()


def _span(run: dict[str, Any]) -> Span | None:
    at, ended = time_of(run.get("start_time")), time_of(run.get("end_time"))
    inputs, outputs, failed = dict_of(run.get("inputs")), dict_of(run.get("outputs")), text_of(run.get("error"))
    if run.get("run_type") == "tool":
        text, call = _tool_output(outputs)
        return ToolSpan(name=text_of(run.get("name")), text=text, failure=failed, at=at, ended_at=ended, call=call,
                        arguments=inputs,
                        error=ActionError(kind="tool_error", message=failed[:2000]) if failed else None)
    if run.get("run_type") != "llm":
        return None
    extra = dict_of(run.get("extra"))
    asked, metadata = dict_of(extra.get("invocation_params")), dict_of(extra.get("metadata"))
    answer, used = _answer(outputs)
    tools = tool_definitions(asked.get("tools") or inputs.get("tools"))
    names = (asked.get("model"), asked.get("model_name"), metadata.get("ls_model_name"))
    return ModelSpan(messages=_messages(inputs), answer=answer, at=at, ended_at=ended, usage=_usage(run, used),
                     error=failed, model=next((t for v in names if (t := text_of(v))), ""),
                     tools=canonical(tools) if tools else b"", item=text_of(run.get("id")))


def _tool_output(outputs: dict[str, Any]) -> tuple[str, str]:
    """The text of a tool's output, and the call that it answers where it says so."""
    output = outputs.get("output", outputs)
    held = _fields(output) if isinstance(output, dict) else {}
    if "content" in held:
        return content_text(held.get("content")), text_of(held.get("tool_call_id"))
    return as_json(output) if output else "", ""


def _messages(inputs: dict[str, Any]) -> list[Message]:
    """A prompt: messages (LangChain has a list of lists), prompts, or words."""
    given = inputs.get("messages", inputs.get("input", inputs.get("prompts", inputs.get("prompt"))))
    while isinstance(given, list) and given and isinstance(given[0], list):
        given = given[0]
    if isinstance(given, list):
        return [_message(m) if isinstance(m, dict) else Message(role="user", content=content_text(m)) for m in given]
    return [Message(role="user", content=content_text(given if given is not None else inputs))] if inputs else []


def _fields(message: dict[str, Any]) -> dict[str, Any]:
    """A message's fields, which LangChain's serialisation has in `kwargs` or `data`."""
    inner = dict_of(message.get("kwargs")) or dict_of(message.get("data"))
    if not inner:
        return message
    names = message.get("id") if isinstance(message.get("id"), list) else []
    kind = text_of(inner.get("type")) or text_of(message.get("type")).removesuffix("constructor")
    return {**inner, "type": kind or (text_of(names[-1]) if names else "")}


def _message(message: dict[str, Any]) -> Message:
    held = _fields(message)
    role = role_of(held.get("role")) or role_of(_ROLES.get(text_of(held.get("type")), "")) or "user"
    added = dict_of(held.get("additional_kwargs"))
    calls = tuple(make_call(c.get("id"), c.get("name"), c.get("args", c.get("arguments", {})), n)
                  for n, c in enumerate(dicts_of(held.get("tool_calls")), 1) if "function" not in c) or read_calls(
                      held if held.get("tool_calls") else added)
    return Message(role=role, content=_words(held.get("content")), tool_calls=calls if role == "assistant" else (),
                   tool_call_id=text_of(held.get("tool_call_id")), reasoning=text_of(added.get("reasoning_content")))


def _words(content: Any) -> str:
    """The words of a content; of blocks, calls stand apart from them."""
    if isinstance(content, list):
        content = [p for p in content if dict_of(p).get("type") not in ("tool_use", "function_call")]
    return content_text(content)


def _answer(outputs: dict[str, Any]) -> tuple[Message, dict[str, Any]]:
    """The answer of a run, and what it says was used."""
    found = outputs.get("generations")
    while isinstance(found, list) and found:
        found = found[0]
    generation = dict_of(found)
    choices, messages = dicts_of(outputs.get("choices")), dicts_of(outputs.get("messages"))
    message = dict_of(generation.get("message")) or (dict_of(choices[0].get("message")) if choices else {}) or dict_of(
        outputs.get("message")) or (messages[-1] if messages else {}) or dict_of(outputs.get("output"))
    if not message and {"content", "tool_calls"} & outputs.keys():
        message = outputs
    if message:
        made = _message({"role": "assistant", **message} if "kwargs" not in message else message)
        used = dict_of(_fields(message).get("usage_metadata")) or dict_of(outputs.get("usage_metadata")) or dict_of(
            outputs.get("usage"))
        return msgspec.structs.replace(made, role="assistant"), used
    text = generation.get("text", outputs.get("output", outputs.get("text", "")))
    return Message(role="assistant", content=content_text(text)), dict_of(outputs.get("usage_metadata"))


def _usage(run: dict[str, Any], used: dict[str, Any]) -> Usage:
    given = used.get("input_tokens", used.get("prompt_tokens", run.get("prompt_tokens")))
    made = used.get("output_tokens", used.get("completion_tokens", run.get("completion_tokens")))
    cached = dict_of(used.get("input_token_details")).get("cache_read")
    cost = run.get("total_cost")
    return usage_of(given, made, cached, float(cost) if isinstance(cost, str) and _is_number(cost) else cost)


def _is_number(text: str) -> bool:
    return len(text) < 40 and text.replace(".", "", 1).isdecimal()


FORMAT = Format(name=NAME, title="LangSmith runs", recognises=recognises, read=read)
