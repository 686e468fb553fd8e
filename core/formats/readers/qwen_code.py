"""Qwen Code: a chat recording, lines of `{uuid, parentUuid, sessionId, type, message}` with contents of Gemini's API.

A line of type assistant is a step; lines of type tool_result answer its calls. A later line of type user is guidance.
After a compression (`chat_compression`) contexts begin with the history that it left. What a subagent did is not in the
file, but its last words as the result of the call; nor is the system prompt, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.message import Message
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
from core.formats.values import as_json, dict_of, dicts_of, exit_error, int_of, text_of, time_of, usage_of

NAME = "qwen-code"
_EXIT = re.compile(r"^Exit Code: (\d{1,10})$", re.MULTILINE)


class _Outline(msgspec.Struct, frozen=True):
    place: int
    kind: str
    session: str


def _is_record(value: Any) -> bool:
    """Whether a line is a record with a content of this program."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant", "tool_result"):
        return False
    return {"uuid", "sessionId"} <= value.keys() and isinstance(dict_of(value.get("message")).get("parts"), list)


def _outline(place: int, record: dict[str, Any]) -> _Outline:
    kind = text_of(record.get("type"))
    return _Outline(place, text_of(record.get("subtype")) if kind == "system" else kind,
                    text_of(record.get("sessionId")))


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source, _outline)
    outlines: Sequence[_Outline] = found.outlines
    name = next((o.session for o in outlines if o.session), "")
    asked = next((t for o in outlines if o.kind == "user" and (t := _words(_parts(found.items[o.place])))), "")
    answers = (found.items[o.place] for o in outlines if o.kind == "assistant")
    model = next((t for record in answers if (t := text_of(record.get("model")))), "")
    items = list(grouped([o for o in outlines if o.kind in _TAKEN],
                         lambda one, two: (one.kind, two.kind) == ("assistant", "tool_result")))

    def begin() -> Conversation:
        identity = canonical_parts([name] if name else found.items)
        builder = SessionBuilder(NAME, source.name, identity, found.warnings)
        builder.create(asked[:400], asked, task=name, model=model)
        return Conversation(builder)

    builder = read_on(source.held if name else None, "read", (name, asked, model),
                      [(first.place, len(after)) for first, after in items], begin,
                      lambda done, place: _add(done.conversation, *items[place], found.items)).conversation.builder
    if not builder.steps:
        raise source.without_steps("answer of the model", found.warnings)
    yield builder.build_without_end()


_TAKEN = ("user", "assistant", "tool_result", "chat_compression")


def _add(conversation: Conversation, first: _Outline, after: Sequence[_Outline], records: Sequence[dict[str, Any]]
         ) -> None:
    record = records[first.place]
    if first.kind == "user":
        conversation.add_person_turn(_words(_parts(record)), time_of(record.get("timestamp")))
    elif first.kind == "chat_compression":
        _compress(conversation, dict_of(record.get("systemPayload")))
    elif first.kind == "assistant":
        conversation.add_step(_step(record, [r for one in after for r in _results(records[one.place])]))


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


def _step(record: dict[str, Any], results: list[CallResult]) -> ForeignStep:
    parts = _parts(record)
    called = [c for p in parts if (c := dict_of(p.get("functionCall")))]
    calls = tuple(make_call(c.get("id"), c.get("name"), c.get("args") or {}, n) for n, c in enumerate(called, 1))
    return ForeignStep(thought=_words(parts), reasoning=_words(parts, thought=True), calls=calls, results=results,
                       usage=_usage(dict_of(record.get("usageMetadata"))), started_at=time_of(record.get("timestamp")),
                       model=text_of(record.get("model")), item=text_of(record.get("uuid")))


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


FORMAT = Format(name=NAME, title="Qwen Code chat", recognises=any_sample(_is_record), read=read, span=by_times)
