"""Kimi CLI: `wire.jsonl` (lines of `{timestamp, message: {type, payload}}`), or `context.jsonl` (messages alone).

On the wire a step goes from StepBegin to the next one: words and thoughts come in pieces, calls with their results, a
StatusUpdate counts its tokens. What a person types while the agent works (SteerInput) and later turns are guidance;
events of subagents are left to the results of their calls. A context has no times; a marker of usage has only a total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call, read_calls
from core.formats.conversation import CallResult, Conversation, ForeignStep, grouped
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.records import records
from core.formats.rows import canonical
from core.formats.source import Source
from core.formats.values import dict_of, dicts_of, paragraphs, sum_of, text_of, time_of, usage_of

NAME = "kimi-cli"
_EVENTS = ("TurnBegin", "TurnEnd", "StepBegin", "StepInterrupted", "ContentPart", "ToolCall", "ToolResult",
           "StatusUpdate", "CompactionBegin", "CompactionEnd", "SteerInput")
_MARKS = ("_system_prompt", "_checkpoint", "_usage")


def recognises(source: Source) -> bool:
    """Whether the file is a wire or a context of this program."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)]
    return source.shape == "lines" and (any(map(_event, values)) or any(v.get("role") in _MARKS for v in values))


def _event(record: dict[str, Any]) -> str:
    """The kind of event that a line of a wire is; "" for none."""
    kind = text_of(dict_of(record.get("message")).get("type"))
    return kind if kind in _EVENTS and "timestamp" in record else ""


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source, lambda record: (_event(record), text_of(record.get("role"))))
    is_wire = any(kind for kind, _ in found.outlines)
    # the program names a session's folder by its id
    first = next(iter(found.items), {}) if not is_wire else next(r for r in found.items if _event(r))
    builder = SessionBuilder(NAME, source.path.name, canonical([is_wire, first]), found.warnings)
    (_add_wire if is_wire else _add_context)(builder, found.items)
    if not builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    yield builder.build_without_end()


def _text(content: Any) -> str:
    """The words of a content; pictures and sounds are named."""
    if isinstance(content, str):
        return content
    return "\n".join(text_of(p.get("text")) or f"[{text_of(p.get('type')) or 'part'}]" for p in dicts_of(content)
                     if p.get("type") != "think")


def _think(content: Any) -> str:
    return "".join(text_of(p.get("think")) for p in dicts_of(content) if p.get("type") == "think")


# ---- the wire ----------------------------------------------------------------------------------------


class _Open(msgspec.Struct):
    """The step being gathered."""

    words: list[str] = []
    thoughts: list[str] = []
    calls: list[ToolCall] = []
    results: list[CallResult] = []
    usage: Usage = Usage()
    at: Any = None


def _add_wire(builder: SessionBuilder, records: Sequence[dict[str, Any]]) -> None:
    asked = next((t for r in records if _event(r) == "TurnBegin" and (t := _text(_payload(r).get("user_input")))), "")
    builder.create(asked[:400], asked)
    conversation, step = Conversation(builder), _Open([], [], [], [])
    for record in records:
        kind, payload, at = _event(record), _payload(record), time_of(record.get("timestamp"))
        if kind in ("TurnBegin", "SteerInput", "StepBegin", "TurnEnd", "CompactionBegin", "StepInterrupted"):
            _close(conversation, step)
            step = _Open([], [], [], [])
        if kind in ("TurnBegin", "SteerInput"):
            conversation.add_person_turn(_text(payload.get("user_input")), at)
        elif kind == "CompactionEnd":
            conversation.add_summary("The context was compacted.", enters_context=False)
        elif kind == "StepInterrupted":
            builder.fact(NoteAdded(step=builder.steps, text="A person interrupted the step."), at=at)
        elif kind:
            step.at = step.at or at
            _take(step, kind, payload, at)
    _close(conversation, step)


def _payload(record: dict[str, Any]) -> dict[str, Any]:
    return dict_of(dict_of(record.get("message")).get("payload"))


def _take(step: _Open, kind: str, payload: dict[str, Any], at: Any) -> None:
    if kind == "ContentPart":
        step.thoughts.append(text_of(payload.get("think")))
        if payload.get("type") != "think":
            step.words.append(_text([payload]))
    elif kind == "ToolCall":
        function = dict_of(payload.get("function"))
        step.calls.append(make_call(payload.get("id"), function.get("name"), function.get("arguments") or "{}",
                                    len(step.calls) + 1))
    elif kind == "ToolResult":
        step.results.append(_result(payload, at))
    elif kind == "StatusUpdate" and (used := dict_of(payload.get("token_usage"))):
        given = sum_of(used, "input_other", "input_cache_read", "input_cache_creation")
        step.usage = usage_of(given, used.get("output"), used.get("input_cache_read"))


def _result(payload: dict[str, Any], at: Any) -> CallResult:
    value = dict_of(payload.get("return_value")) or dict_of(payload.get("result"))
    text = paragraphs(_text(value.get("output")), text_of(value.get("message")))
    failed = value.get("is_error") is True
    error = ActionError(kind="tool_error", message=text[:2000] or "The tool failed.") if failed else None
    return CallResult(text=text, call=text_of(payload.get("tool_call_id")), error=error, ended_at=at)


def _close(conversation: Conversation, step: _Open) -> None:
    if step.words or any(step.thoughts) or step.calls:
        conversation.add_step(ForeignStep(thought="".join(step.words), reasoning="".join(step.thoughts),
                                          calls=tuple(step.calls), results=step.results, usage=step.usage,
                                          started_at=step.at))


# ---- the context -------------------------------------------------------------------------------------


def _add_context(builder: SessionBuilder, records: Sequence[dict[str, Any]]) -> None:
    messages = [r for r in records if text_of(r.get("role")) and r.get("role") not in _MARKS[1:]]
    asked = next((_text(m.get("content")) for m in messages if _is_person(m)), "")
    builder.create(asked[:400], asked)
    conversation = Conversation(builder)
    for message, after in grouped(messages, lambda one, two: one.get("role") == "assistant" and (
            two.get("role") == "tool")):
        text = _text(message.get("content"))
        if message.get("role") == "assistant":
            results = [CallResult(text=_text(m.get("content")), call=text_of(m.get("tool_call_id"))) for m in after]
            conversation.add_step(ForeignStep(thought=text, reasoning=_think(message.get("content")),
                                              calls=read_calls(message), results=results))
        elif _is_person(message):
            conversation.add_person_turn(text)
        else:
            role = "system" if message.get("role") in ("system", "_system_prompt") else "user"
            conversation.add_message(Message(role=role, content=text))  # type: ignore[arg-type]


def _is_person(message: dict[str, Any]) -> bool:
    """Whether a person wrote it: the program puts its own words in tags."""
    return message.get("role") == "user" and not _text(message.get("content")).lstrip().startswith("<system")


FORMAT = Format(name=NAME, title="Kimi CLI session", recognises=recognises, read=read)
