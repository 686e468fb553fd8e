"""Kimi CLI: `wire.jsonl` (lines of `{timestamp, message: {type, payload}}`), or `context.jsonl` (messages alone).

On the wire a step goes from StepBegin to the next one: words and thoughts come in pieces, calls with their results, a
StatusUpdate counts its tokens. What a person types while the agent works (SteerInput) and later turns are guidance;
events of subagents (SubagentEvent) are sessions of their own. A context has no times; a marker of usage has only a
total. Exit codes and failures of a context stand in the program's own words (`<system>ERROR: …`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
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
from core.formats.values import dict_of, dicts_of, exit_error, paragraphs, sum_of, text_of, time_of, usage_of

NAME = "kimi-cli"
_EVENTS = ("TurnBegin", "TurnEnd", "StepBegin", "StepInterrupted", "ContentPart", "ToolCall", "ToolResult",
           "StatusUpdate", "CompactionBegin", "CompactionEnd", "SteerInput")
_BORDERS = ("TurnBegin", "SteerInput", "StepBegin", "TurnEnd", "CompactionBegin", "StepInterrupted")
_SUBAGENT = "SubagentEvent"
_MARKS = ("_system_prompt", "_checkpoint", "_usage")
_WIRE = "wire.jsonl"
_HEAD = 50
"""Among so many events a person's first words are sought."""
_EXIT = re.compile(r"Command failed with exit code: (-?\d{1,9})\.")
_RAN = "Command executed successfully."
_NOTE = re.compile(r"\s*<system>(ERROR: )?(.*?)</system>", re.DOTALL)


def recognises(source: Source) -> bool:
    """Whether the file is a wire or a context of this program."""
    values = [v for v in source.samples[:20] if isinstance(v, dict)]
    return source.shape == "lines" and (any(map(_event, values)) or any(v.get("role") in _MARKS for v in values))


def _event(record: dict[str, Any]) -> str:
    """The kind of event that a line of a wire is; "" for none."""
    kind = text_of(dict_of(record.get("message")).get("type"))
    return kind if kind in (*_EVENTS, _SUBAGENT) and "timestamp" in record else ""


def _payload(record: dict[str, Any]) -> dict[str, Any]:
    return dict_of(dict_of(record.get("message")).get("payload"))


def _caller(record: dict[str, Any]) -> str:
    """The call whose subagent an event is of; "" for the session's own."""
    held = _payload(record) if _event(record) == _SUBAGENT else {}
    return text_of(held.get("parent_tool_call_id")) or text_of(held.get("task_tool_call_id"))


def read(source: Source) -> Iterator[Imported]:
    """The session of a file, then one for each subagent."""
    found = records(source, lambda _, record: (_event(record), _caller(record)))
    is_wire = any(kind for kind, _ in found.outlines)
    # the program names a session's folder by its id
    first = next(iter(found.items), {}) if not is_wire else next(r for r in found.items if _event(r))
    builder = SessionBuilder(NAME, source.path.name, canonical([is_wire, first]), found.warnings)
    if not is_wire:
        _add_context(builder, found.items)
    places: dict[str, list[int]] = {}
    for place, (kind, caller) in enumerate(found.outlines):
        if kind and bool(caller) == (kind == _SUBAGENT):
            places.setdefault(caller, []).append(place)
    main = _Wire(builder)
    main.add(found.items[place] for place in places.pop("", []))
    if not builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    yield builder.build_without_end()
    for caller, own in places.items():
        inner = SessionBuilder(NAME, source.path.name, canonical([first, caller]))
        _Wire(inner, builder.session, main.callers.get(caller, 0)).add(_inner(found.items[place]) for place in own)
        if inner.steps:
            yield inner.build_without_end()


def _inner(record: dict[str, Any]) -> dict[str, Any]:
    """The event that one of a subagent brings."""
    return {"timestamp": record.get("timestamp"), "message": _payload(record).get("event")}


def companions(files: Sequence[Path]) -> Iterable[Path]:
    """Beside a wire: the same session as messages, and what its subagents wrote."""
    if any(path.name == _WIRE for path in files):
        yield from (p for p in files if p.name.startswith("context") and p.suffix == ".jsonl")
        yield from (path.parent / "subagents" for path in files if path.name == _WIRE)


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

    words: list[str] = msgspec.field(default_factory=list)
    thoughts: list[str] = msgspec.field(default_factory=list)
    calls: list[ToolCall] = msgspec.field(default_factory=list)
    results: list[CallResult] = msgspec.field(default_factory=list)
    usage: Usage = Usage()
    at: Any = None


class _Wire:
    """Gathers the events of one session; `callers` are the steps of its calls."""

    def __init__(self, builder: SessionBuilder, parent: str = "", parent_step: int = 0) -> None:
        self._builder, self._conversation = builder, Conversation(builder)
        self._parent, self._parent_step = parent, parent_step
        self._step = _Open()
        self.callers: dict[str, int] = {}

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        """All events in order. The first words of a person are the task."""
        left = iter(records)
        first = list(islice(left, _HEAD))
        asked = next((t for r in first if (t := _text(_payload(r).get("user_input")))), "")
        self._builder.create(asked[:400], asked, parent=self._parent, parent_step=self._parent_step,
                             is_call=bool(self._parent))
        for record in chain(first, left):
            if kind := _event(record):
                self._add(kind, _payload(record), time_of(record.get("timestamp")))
        self._close()

    def _add(self, kind: str, payload: dict[str, Any], at: Any) -> None:
        if kind in _BORDERS:
            self._close()
        if kind in ("TurnBegin", "SteerInput"):
            self._conversation.add_person_turn(_text(payload.get("user_input")), at)
        elif kind == "CompactionEnd":
            self._conversation.add_summary("The context was compacted.", enters_context=False)
        elif kind == "StepInterrupted":
            self._builder.fact(NoteAdded(step=self._builder.steps, text="A person interrupted the step."), at=at)
        else:
            self._step.at = self._step.at or at
            _take(self._step, kind, payload, at)

    def _close(self) -> None:
        step, self._step = self._step, _Open()
        if step.words or any(step.thoughts) or step.calls:
            self._conversation.add_step(ForeignStep(
                thought="".join(step.words), reasoning="".join(step.thoughts), calls=tuple(step.calls),
                results=step.results, usage=step.usage, started_at=step.at))
            self.callers.update((call.id, self._builder.steps) for call in step.calls)


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
    note = text_of(value.get("message"))
    text = paragraphs(_text(value.get("output")), note)
    code, error = _outcome(note, value.get("is_error") is True)
    return CallResult(text=text, call=text_of(payload.get("tool_call_id")), exit_code=code, error=error, ended_at=at)


def _outcome(note: str, failed: bool) -> tuple[int | None, ActionError | None]:
    """The exit code that the program's words on a call name, and what failed."""
    code = int(found[1]) if (found := _EXIT.match(note)) else 0 if note.startswith(_RAN) and not failed else None
    error = ActionError(kind="tool_error", message=note[:2000] or "The tool failed.") if failed else None
    return code, exit_error(code) or error


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
            results = [_shown_result(m) for m in after]
            conversation.add_step(ForeignStep(thought=text, reasoning=_think(message.get("content")),
                                              calls=read_calls(message), results=results))
        elif _is_person(message):
            conversation.add_person_turn(text)
        else:
            role = "system" if message.get("role") in ("system", "_system_prompt") else "user"
            conversation.add_message(Message(role=role, content=text))  # type: ignore[arg-type]


def _shown_result(message: dict[str, Any]) -> CallResult:
    text = _text(message.get("content"))
    note = found[2] if (found := _NOTE.match(text)) else ""
    code, error = _outcome(note, bool(found and found[1]))
    return CallResult(text=text, call=text_of(message.get("tool_call_id")), exit_code=code, error=error)


def _is_person(message: dict[str, Any]) -> bool:
    """Whether a person wrote it: the program puts its own words in tags."""
    return message.get("role") == "user" and not _text(message.get("content")).lstrip().startswith("<system")


FORMAT = Format(name=NAME, title="Kimi CLI session", recognises=recognises, read=read, companions=companions)
