"""Kimi CLI: `wire.jsonl` (lines of `{timestamp, message: {type, payload}}`), or `context.jsonl` (messages alone).

On the wire a step goes from StepBegin to the next one: words and thoughts come in pieces, calls with their results, a
StatusUpdate counts its tokens. What a person types while the agent works (SteerInput) and later turns are guidance;
events of subagents (SubagentEvent) are sessions of their own. A context has no times; a marker of usage has only a
total. Exit codes and failures of a context stand in the program's own words (`<system>ERROR: …`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
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
from core.formats.reading_on import ItemsRead, read_on
from core.formats.records import Records, records
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
    found = records(source, lambda _, record: (_event(record), _caller(record), _event(_inner(record))))
    is_wire = any(kind for kind, _, _ in found.outlines)
    if not is_wire:
        yield _context_of(source, found)
        return
    # the program names a session's folder by its id
    first = next(r for r in found.items if _event(r))
    wires: dict[str, list[tuple[int, str]]] = {}
    for place, (kind, caller, inner) in enumerate(found.outlines):
        if kind and bool(caller) == (kind == _SUBAGENT):
            wires.setdefault(caller, []).append((place, inner if caller else kind))
    reader = _Wire(source, found.items, first)
    main = reader.session(wires.pop("", []), [True, first], found.warnings)
    if not main.builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    yield main.builder.build_without_end()
    for caller, own in wires.items():
        inner = reader.session(own, [first, caller], [], caller, main.builder.session).builder
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
    """Reads sessions out of a wire's events."""

    def __init__(self, source: Source, records: Sequence[dict[str, Any]], first: dict[str, Any]) -> None:
        self._source, self._records, self._first = source, records, first
        self._callers: dict[str, int] = {}
        """The steps of the main session's calls."""

    def session(self, events: Sequence[tuple[int, str]], identity: list[Any], warnings: Sequence[str], caller: str = "",
                parent: str = "") -> Conversation:
        """The conversation of some events, each with its place and kind. The first words of a person are the task."""
        spans = list(grouped(events, lambda _, event: event[1] not in _BORDERS))
        asked = next((t for place, _ in events[:_HEAD]
                      if (t := _text(_payload(self._event_at(place, caller)).get("user_input")))), "")
        step = self._callers.get(caller, 0)

        def begin() -> Conversation:
            builder = SessionBuilder(NAME, self._source.name, canonical(identity), warnings)
            builder.create(asked[:400], asked, parent=parent, parent_step=step, is_call=bool(parent))
            return Conversation(builder)

        def add(done: ItemsRead, number: int) -> None:
            border, after = spans[number]
            self._add(done, [(self._event_at(place, caller), kind) for place, kind in (border, *after) if kind])

        done = read_on(self._source.held, ("read", caller), (identity, asked, parent, step),
                       [(border, len(after)) for border, after in spans], begin, add)
        self._callers = self._callers if caller else done.named
        return done.conversation

    def _event_at(self, place: int, caller: str) -> dict[str, Any]:
        return _inner(self._records[place]) if caller else self._records[place]

    def _add(self, done: ItemsRead, events: Iterable[tuple[dict[str, Any], str]]) -> None:
        """What goes from one border to the next: a step, or something between steps."""
        conversation, builder, step = done.conversation, done.conversation.builder, _Open()
        for record, kind in events:
            payload, at = _payload(record), time_of(record.get("timestamp"))
            if kind in ("TurnBegin", "SteerInput"):
                conversation.add_person_turn(_text(payload.get("user_input")), at)
            elif kind == "CompactionEnd":
                conversation.add_summary("The context was compacted.", enters_context=False)
            elif kind == "StepInterrupted":
                builder.fact(NoteAdded(step=builder.steps, text="A person interrupted the step."), at=at)
            else:
                step.at = step.at or at
                _take(step, kind, payload, at)
        if step.words or any(step.thoughts) or step.calls:
            conversation.add_step(ForeignStep(
                thought="".join(step.words), reasoning="".join(step.thoughts), calls=tuple(step.calls),
                results=step.results, usage=step.usage, started_at=step.at))
            done.named |= dict.fromkeys((call.id for call in step.calls), builder.steps)


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


def _context_of(source: Source, found: Records) -> Imported:
    messages = [r for r in found.items if text_of(r.get("role")) and r.get("role") not in _MARKS[1:]]
    asked = next((_text(m.get("content")) for m in messages if _is_person(m)), "")
    items = list(grouped(range(len(messages)), lambda one, two: messages[one].get("role") == "assistant" and (
        messages[two].get("role") == "tool")))
    first = next(iter(found.items), {})

    def begin() -> Conversation:
        builder = SessionBuilder(NAME, source.name, canonical([False, first]), found.warnings)
        builder.create(asked[:400], asked)
        return Conversation(builder)

    def add(done: ItemsRead, place: int) -> None:
        number, after = items[place]
        _add_message(done.conversation, messages[number], [messages[n] for n in after])

    done = read_on(source.held, "read", (first, asked), [(number, len(after)) for number, after in items], begin, add)
    if not done.conversation.builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    return done.conversation.builder.build_without_end()


def _add_message(conversation: Conversation, message: dict[str, Any], after: Sequence[dict[str, Any]]) -> None:
    """A message with the results that stand after it."""
    text = _text(message.get("content"))
    if message.get("role") == "assistant":
        conversation.add_step(ForeignStep(thought=text, reasoning=_think(message.get("content")),
                                          calls=read_calls(message), results=[_shown_result(m) for m in after]))
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
