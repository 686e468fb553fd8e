"""Copilot CLI: `events.jsonl` of a session's folder, lines of `{type, data, id, timestamp, parentId}`.

An assistant.message is a step, tool.execution_complete the result of one of its calls; what it used stands in the
session.usage_record of the same answer (`apiCallId`). Messages with a `parentToolCallId` or `agentId` are a subagent's:
they become a session of its own that names the step that called it. A later user.message is guidance, but for what the
program says in the person's place (its `source` is system). Each system.message takes the place of the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.reading_on import ItemsRead, read_on
from core.formats.records import records
from core.formats.rows import canonical
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.values import as_json, code_of, dict_of, dicts_of, exit_error, text_of, time_of, usage_of

NAME = "copilot-cli"
_TYPES = ("session.start", "user.message", "assistant.message", "tool.execution_complete", "tool.execution_start",
          "assistant.turn_start", "session.resume")
_COUNTS = ("session.usage_record", "assistant.usage")
_NOTED = ("session.error", "session.warning", "session.info", "abort")
_WORDS = ("system.message", "system.notification", "user.message")
_TAKEN = (*_WORDS, "assistant.message", "session.compaction_complete", "session.shutdown",
          *_NOTED)


class _Outline(msgspec.Struct, frozen=True):
    """What of an event decides where it belongs."""

    place: int
    kind: str
    call: str
    caller: str
    answer: str
    calls: tuple[str, ...]


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _TYPES and isinstance(value.get("data"), dict) and (
        {"id", "timestamp"} <= value.keys())


def read(source: Source) -> Iterator[Imported]:
    """The session of a file, then one for each subagent."""
    found = records(source, lambda n, record: _Outline(n, text_of(record.get("type")),
                                                       *_outlined(record, dict_of(record.get("data")))))
    outlines: Sequence[_Outline] = found.outlines
    head = dict_of(next((found.items[o.place] for o in outlines if o.kind == "session.start"), {}).get("data"))
    name = text_of(head.get("sessionId"))
    reader = _SessionReader(source, found.items, outlines, name or canonical(found.items[:1]).decode())
    own = [o for o in outlines if not o.caller]
    main = reader.session(own, "", found.warnings)
    if not main.steps:
        raise source.without_steps("answer of the model", found.warnings)
    yield main.build() if any(o.kind == "session.shutdown" for o in own) else main.build_without_end()
    for caller in dict.fromkeys(o.caller for o in outlines if o.caller and o.kind == "assistant.message"):
        yield reader.session([o for o in outlines if o.caller == caller], caller, []).build_without_end()


def _is_added(data: dict[str, Any]) -> bool:
    """Whether the program says it in the person's place."""
    return data.get("source") == "system"


def _outlined(event: dict[str, Any], data: dict[str, Any]) -> tuple[str, str, str, tuple[str, ...]]:
    used = dict_of(data.get("usage"))
    return (text_of(data.get("toolCallId")), text_of(data.get("parentToolCallId")) or text_of(event.get("agentId")),
            text_of(data.get("apiCallId")) or text_of(used.get("apiCallId")),
            tuple(call.id for call in _calls(data)))


def _calls(data: dict[str, Any]) -> tuple[ToolCall, ...]:
    return tuple(make_call(c.get("toolCallId"), c.get("name"), c.get("arguments") or {}, n)
                 for n, c in enumerate(dicts_of(data.get("toolRequests")), 1))


class _SessionReader:
    """Reads sessions out of a file's events."""

    def __init__(self, source: Source, events: Sequence[dict[str, Any]], outlines: Sequence[_Outline],
                 name: str) -> None:
        self._source, self._events, self._name = source, events, name
        self._results = {o.call: o.place for o in outlines if o.kind == "tool.execution_complete" and o.call}
        self._used = {o.answer: o.place for o in outlines if o.kind in _COUNTS and o.answer}
        self._callers: dict[str, int] = {}
        self._main = ""

    def session(self, outlines: Sequence[_Outline], caller: str, warnings: Sequence[str]) -> SessionBuilder:
        """The session of some events; `caller` is the call that made a subagent."""
        outlines = [o for o in outlines if o.kind in _TAKEN]
        asked = next((t for o in outlines if o.kind == "user.message" and not _is_added(data := self._data(o.place))
                      and (t := text_of(data.get("content")))), "")
        model = next((t for o in outlines if o.kind == "assistant.message"
                      and (t := text_of(self._data(o.place).get("model")))), "")
        parent_step = self._callers.get(caller, 0)

        def begin() -> Conversation:
            builder = SessionBuilder(NAME, self._source.name, canonical([self._name, caller]), warnings)
            builder.create(asked[:400] or caller, asked, task=self._name, model=model, parent=self._main,
                           parent_step=parent_step, is_call=bool(caller))
            return Conversation(builder)

        done = read_on(self._source.held, ("read", caller), (self._name, asked, model, parent_step),
                       [self._key(o) for o in outlines], begin, lambda done, n: self._add(done, outlines[n]))
        self._callers |= done.named
        self._main = self._main or done.conversation.builder.session
        return done.conversation.builder

    def _key(self, outline: _Outline) -> tuple[object, ...]:
        """What it does rests on these events."""
        return outline.place, [self._results.get(call) for call in outline.calls], self._used.get(outline.answer)

    def _data(self, place: int) -> dict[str, Any]:
        return dict_of(self._events[place].get("data"))

    def _add(self, done: ItemsRead, outline: _Outline) -> None:
        kind, conversation, builder = outline.kind, done.conversation, done.conversation.builder
        data, at = self._data(outline.place), time_of(self._events[outline.place].get("timestamp"))
        if kind in _WORDS:
            _say(conversation, kind, data, at)
        elif kind == "assistant.message":
            conversation.add_step(self._step(data, outline, at))
            done.named |= dict.fromkeys(outline.calls, builder.steps)
        elif kind == "session.compaction_complete":
            if data.get("success") is not False:
                system = [ref for ref in conversation.refs if ref.role == "system"]
                conversation.add_summary(text_of(data.get("summaryContent")) or "The context was compacted.")
                conversation.refs = [*system, *conversation.refs]
        elif kind == "session.shutdown":
            is_failed = data.get("shutdownType") == "error"
            builder.end("failed" if is_failed else "finished", text_of(data.get("shutdownType")) or "shutdown",
                        text_of(data.get("errorReason"))[:2000])
        else:
            text = text_of(data.get("message")) or text_of(data.get("reason"))
            builder.fact(NoteAdded(step=builder.steps, text=f"{kind}: {text[:20_000]}"), at=at)

    def _step(self, data: dict[str, Any], outline: _Outline, at: Any) -> ForeignStep:
        results = [_result(self._events[place]) for c in outline.calls
                   if (place := self._results.get(c)) is not None]
        return ForeignStep(thought=text_of(data.get("content")), reasoning=text_of(data.get("reasoningText")),
                           calls=_calls(data), results=results, usage=self._usage(outline.answer, data), started_at=at,
                           model=text_of(data.get("model")), item=text_of(data.get("messageId")))

    def _usage(self, answer: str, data: dict[str, Any]) -> Usage:
        place = self._used.get(answer) if answer else None
        used = {} if place is None else self._data(place)
        used = dict_of(used.get("usage")) or used
        return usage_of(used.get("inputTokens"), used.get("outputTokens", data.get("outputTokens")),
                        used.get("cacheReadTokens"))


def _say(conversation: Conversation, kind: str, data: dict[str, Any], at: datetime | None) -> None:
    """Words enter the context; a new system prompt takes the place of the old one."""
    text = text_of(data.get("content"))
    if kind == "system.message":
        others = [ref for ref in conversation.refs if ref.role != "system"]
        conversation.refs = [conversation.add_message(Message(role="system", content=text)), *others]
    elif kind == "user.message" and not _is_added(data):
        conversation.add_person_turn(text, at)
    elif text:
        conversation.add_message(Message(role="user", content=text))


def _result(event: dict[str, Any]) -> CallResult:
    data = dict_of(event.get("data"))
    result, failed = dict_of(data.get("result")), dict_of(data.get("error"))
    code = code_of(dict_of(data.get("shellExecution")).get("exitCode"))
    text = as_json(result.get("content", "")) if result else text_of(failed.get("message"))
    error = exit_error(code)
    if data.get("success") is False:
        error = error or ActionError(kind=text_of(failed.get("code")) or "tool_error",
                                     message=(text_of(failed.get("message")) or text)[:2000] or "The tool failed.")
    return CallResult(text=text, call=text_of(data.get("toolCallId")), exit_code=code, error=error,
                      ended_at=time_of(event.get("timestamp")))


FORMAT = Format(name=NAME, title="Copilot CLI events", recognises=any_sample(_is_event), read=read, span=by_times)
