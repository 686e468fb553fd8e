"""Qwen Code: a chat recording, lines of `{uuid, parentUuid, sessionId, type, message}` with contents of Gemini's API.

A line of type assistant is a step; lines of type tool_result answer its calls. A later line of type user is guidance,
where a person typed it. After a compression (`chat_compression`) contexts begin with the history that it left. What a
subagent did is in a file of its own, `subagents/SESSION/agent-ID.jsonl`, which bears the id of its caller's session,
and has an answer's calls in lines of their own. The system prompt is in none, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep, grouped
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.reading_on import read_on
from core.formats.records import records
from core.formats.rows import canonical_parts
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.subagent_files import PREFIX, calling_step, is_name, note_of, notes_beside
from core.formats.values import as_json, dict_of, dicts_of, exit_error, int_of, text_of, time_of, usage_of

NAME = "qwen-code"
_EXIT = re.compile(r"^Exit Code: (\d{1,10})$", re.MULTILINE)


class _Outline(msgspec.Struct, frozen=True):
    place: int
    kind: str
    session: str
    agent: str
    is_more: bool
    """Of an answer: whether it goes on with the one before, as the calls of a subagent's do."""


def _is_record(value: Any) -> bool:
    """Whether a line is a record with a content of this program."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant", "tool_result"):
        return False
    return {"uuid", "sessionId"} <= value.keys() and isinstance(dict_of(value.get("message")).get("parts"), list)


def _outline(place: int, record: dict[str, Any]) -> _Outline:
    kind, subtype = text_of(record.get("type")), text_of(record.get("subtype"))
    if kind == "system":
        kind = subtype
    elif kind == "user" and subtype not in _TYPED:
        kind = "program"
    agent = text_of(record.get("agentId")) if record.get("isSidechain") is True else ""
    is_more = kind == "assistant" and bool(agent) and not record.keys() & {"usageMetadata", "agentRound"}
    return _Outline(place, kind, text_of(record.get("sessionId")), agent, is_more)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source, _outline)
    outlines: Sequence[_Outline] = found.outlines
    name = next((o.session for o in outlines if o.session), "")
    agent = next((o.agent for o in outlines if o.agent), "")
    asked = next((t for o in outlines if o.kind == "user" and (t := _words(_parts(found.items[o.place])))), "")
    answers = (found.items[o.place] for o in outlines if o.kind == "assistant")
    model = next((t for record in answers if (t := text_of(record.get("model")))), "")
    items = _items(outlines)
    above, step = _caller(source.path, name, agent) if agent else ("", 0)
    parent = SessionBuilder(NAME, source.name, _identity(name, above, found.items)).session if agent else ""

    def begin() -> Conversation:
        builder = SessionBuilder(NAME, source.name, _identity(name, agent, found.items), found.warnings)
        builder.create(asked[:400], asked, task=name, model=model, parent=parent, parent_step=step, is_call=bool(agent))
        return Conversation(builder)

    builder = read_on(source.held if name else None, "read", (name, agent, asked, model, parent, step),
                      [(first.place, len(after)) for first, after in items], begin,
                      lambda done, place: _add(done.conversation, *items[place], found.items)).conversation.builder
    if not builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    yield builder.build_without_end()


_TYPED = ("", "mid_turn_user_message")
"""What a person typed; other messages of a user are the program's: notifications, what a clock or a goal asks for."""

_TAKEN = ("user", "program", "assistant", "tool_result", "chat_compression")


def _items(outlines: Sequence[_Outline]) -> list[tuple[_Outline, Sequence[_Outline]]]:
    """What is said one after the other, each with the lines that belong to it: the rest of an answer, its results."""
    return list(grouped([o for o in outlines if o.kind in _TAKEN], lambda one, two: one.kind == "assistant" and (
        two.kind == "tool_result" or two.is_more)))


def _identity(session: str, agent: str, records: Sequence[dict[str, Any]]) -> Iterator[bytes]:
    """A subagent's records bear the id of the session that called it."""
    return canonical_parts([session, *([agent] if agent else [])] if session else records)


def _caller(path: Path, session: str, agent: str) -> tuple[str, int]:
    """Which subagent of a session ("": itself) called another, and at which step; 0 where no file says it."""
    note = note_of(path)
    above = name if is_name(name := text_of(note.get("parentAgentId"))) else ""
    chat = path.parent.parent.parent / "chats" / f"{session if is_name(session) else ''}.jsonl"
    file = path.with_name(f"{PREFIX}{above}.jsonl") if above else chat
    return above, calling_step([file], _steps_of, text_of(note.get("toolUseId")))


def _steps_of(path: Path) -> Mapping[str, int]:
    """The steps by the calls that they made."""
    found = records(Source(path), _outline)
    steps = [item for item in _items(found.outlines) if item[0].kind == "assistant"]
    return {call.id: number for number, (first, after) in enumerate(steps, 1)
            for call in _calls([found.items[one.place] for one in (first, *after)])}


def _add(conversation: Conversation, first: _Outline, after: Sequence[_Outline], records: Sequence[dict[str, Any]]
         ) -> None:
    record = records[first.place]
    if first.kind == "user":
        conversation.add_person_turn(_words(_parts(record)), time_of(record.get("timestamp")))
    elif first.kind == "program":
        conversation.add_message(Message(role="user", content=_words(_parts(record))))
    elif first.kind == "chat_compression":
        _compress(conversation, dict_of(record.get("systemPayload")))
    elif first.kind == "assistant":
        lines = [record, *(records[one.place] for one in after if one.kind == "assistant")]
        results = [r for one in after if one.kind == "tool_result" for r in _results(records[one.place])]
        conversation.add_step(_step(lines, results))


def _compress(conversation: Conversation, payload: dict[str, Any]) -> None:
    """Later contexts begin with what is left."""
    history = dicts_of(payload.get("compressedHistory"))
    words = [_words(dicts_of(one.get("parts"))) for one in history]
    conversation.add_summary(words[0] if words else "The context was compressed.", enters_context=False)
    for one, text in zip(history, words, strict=True):
        conversation.add_message(Message(role="assistant" if one.get("role") == "model" else "user", content=text))


def _parts(record: dict[str, Any]) -> list[dict[str, Any]]:
    return dicts_of(dict_of(record.get("message")).get("parts"))


def _words(parts: Sequence[dict[str, Any]], thought: bool = False) -> str:
    """The words of parts, or the thoughts; what is neither word nor call is named."""
    texts = [text_of(p.get("text")) or ("" if p.keys() & {"text", "functionCall", "functionResponse"} else
                                        f"[{next(iter(p), 'part')}]")
             for p in parts if (p.get("thought") is True) == thought]
    return "\n".join(filter(None, texts))


def _calls(lines: Sequence[dict[str, Any]]) -> tuple[ToolCall, ...]:
    called = [c for line in lines for p in _parts(line) if (c := dict_of(p.get("functionCall")))]
    return tuple(make_call(c.get("id"), c.get("name"), c.get("args") or {}, n) for n, c in enumerate(called, 1))


def _step(lines: Sequence[dict[str, Any]], results: list[CallResult]) -> ForeignStep:
    """The step of an answer, which the first of the lines begins."""
    record, parts = lines[0], [part for line in lines for part in _parts(line)]
    return ForeignStep(thought=_words(parts), reasoning=_words(parts, thought=True), calls=_calls(lines),
                       results=results, usage=_usage(dict_of(record.get("usageMetadata"))),
                       started_at=time_of(record.get("timestamp")), model=text_of(record.get("model")),
                       item=text_of(record.get("uuid")))


def _usage(counts: dict[str, Any]) -> Usage:
    """What it read, and what it wrote: whether thoughts are among the candidates depends on the endpoint."""
    read, whole = int_of(counts.get("promptTokenCount")), int_of(counts.get("totalTokenCount"))
    is_known = whole is not None and read is not None and whole >= read
    written = whole - read if is_known else counts.get("candidatesTokenCount")  # type: ignore[operator]
    return usage_of(read, written, counts.get("cachedContentTokenCount"))


def _results(record: dict[str, Any]) -> Iterator[CallResult]:
    whole = dict_of(record.get("toolCallResult"))
    status = whole.get("status")
    for part in _parts(record):
        answer = dict_of(part.get("functionResponse"))
        if not answer:
            continue
        response = dict_of(answer.get("response"))
        text = as_json(response.get("output", response.get("error", response)))
        found = _EXIT.search(text) if answer.get("name") == "run_shell_command" else None
        code = int(found[1]) if found else None
        error = exit_error(code)
        if status == "error" or (error is None and "error" in response):
            error = error or ActionError(kind=text_of(whole.get("errorType")) or "tool_error", message=text[:2000])
        if status == "cancelled":
            error = ActionError(kind="cancelled", message=text[:500] or "A person cancelled the action.")
        yield CallResult(text=text, call=text_of(answer.get("id")) or text_of(whole.get("callId")), exit_code=code,
                         error=error, status="killed" if status == "cancelled" else "finished",
                         ended_at=time_of(record.get("timestamp")))


FORMAT = Format(name=NAME, title="Qwen Code chat", recognises=any_sample(_is_record), read=read, span=by_times,
                companions=notes_beside)
