"""opencode: what `opencode export` prints (`{info, messages: [{info, parts}]}`), the messages alone as a list or lines
(as its server gives them), or its database `opencode.db`.

The parts between a step-start and a step-finish are a step (an answer of older versions holds several); a tool part has
the call and its result. A later message of a person is guidance. The summary of a compaction takes the place of what
stood before it. A session with a `parentID` is a subagent's; the database says which step called it. The system prompt
is in neither, so contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.events import NoteAdded
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.foreign_database import ForeignDatabase, has_tables, logs_beside, opened
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.records import records
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.values import (
    as_json,
    code_of,
    dict_of,
    dicts_of,
    exit_error,
    paragraphs,
    sum_of,
    text_of,
    time_of,
    usage_of,
)

NAME = "opencode"
_TABLES = {"session": {"id", "parent_id", "title"}, "message": {"id", "session_id", "data"},
           "part": {"id", "message_id", "session_id", "data"}}


def recognises(source: Source) -> bool:
    """Whether the file is an exported session, its messages, or the database."""
    return _is_export(source.object) or _are_messages(source) or has_tables(source, _TABLES)


def _is_export(value: dict[str, Any]) -> bool:
    messages = dicts_of(value.get("messages"))[:20]
    return "id" in dict_of(value.get("info")) and bool(messages) and all(map(_is_message, messages))


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("parts"), list) and {"id", "role", "sessionID"} <= dict_of(
        value.get("info")).keys()


_are_messages = any_sample(_is_message)


def read(source: Source) -> Iterator[Imported]:
    """The session of an export, or all of a database, callers first."""
    if not source.object and not _are_messages(source):
        with opened(source.file) as base:
            yield from joined(source.path, _of_database(source, base))
        return
    info, messages, damage = _exported(source)
    made = _session(source, info, messages, {}, damage)
    if isinstance(made, str):
        raise source.without_steps("answer of the model", damage)
    yield made


def _exported(source: Source) -> tuple[dict[str, Any], Sequence[dict[str, Any]], Sequence[str]]:
    """What is said of the session, its messages, and what could not be read."""
    if not _are_messages(source):
        return dict_of(source.object.get("info")), dicts_of(source.object.get("messages")), source.damage
    found = records(source)
    messages = [m for m in found.items if _is_message(m)]
    return {"id": next((m["info"]["sessionID"] for m in messages), "")}, messages, found.warnings


def _of_database(source: Source, base: ForeignDatabase) -> Iterator[tuple[str, Imported | str]]:
    callers: dict[str, int] = {}
    order = "ORDER BY parent_id IS NOT NULL, time_created" if "time_created" in base.columns("session") else ""
    for row in list(base.rows(f"SELECT id, parent_id, title FROM session {order}")):
        info = {"id": row["id"], "parentID": row["parent_id"], "title": row["title"]}
        where = f"Session {row['id']}"
        made = _session(source, info, _stored_messages(base, row["id"]), callers, [])
        yield where, f"{where} was left out: {made}" if isinstance(made, str) else made


def _stored_messages(base: ForeignDatabase, session: object) -> list[dict[str, Any]]:
    parts: dict[object, list[dict[str, Any]]] = {}
    for row in base.rows("SELECT message_id, data FROM part WHERE session_id = ? ORDER BY id", [session]):
        parts.setdefault(row["message_id"], []).append(_stored(row["data"]))
    rows = base.rows("SELECT id, data FROM message WHERE session_id = ? ORDER BY id", [session])
    return [{"info": {"id": row["id"], **_stored(row["data"])}, "parts": parts.get(row["id"], [])} for row in rows]


def _stored(data: object) -> dict[str, Any]:
    return dict_of(parse(data.encode() if isinstance(data, str) else b"").value)


def _identity(session: str) -> bytes:
    return canonical([session])


def _session(source: Source, info: dict[str, Any], messages: Sequence[dict[str, Any]], callers: dict[str, int],
             warnings: Sequence[str]) -> Imported | str:
    """The session, or why there is none. `callers` has, and gets, the steps that called sessions."""
    name, parent = text_of(info.get("id")), text_of(info.get("parentID"))
    builder = SessionBuilder(NAME, source.name, _identity(name), warnings)
    asked = next((t for m in messages if _role(m) == "user" and (t := _words(m))), "")
    model = next((t for m in messages if (t := text_of(dict_of(m.get("info")).get("modelID")))), "")
    builder.create(asked[:400] or text_of(info.get("title")), asked, task=name, model=model, is_call=bool(parent),
                   parent=SessionBuilder(NAME, "", _identity(parent)).session if parent else "",
                   parent_step=callers.get(name, 0))
    conversation = Conversation(builder)
    for message in messages:
        _add(conversation, message, callers)
    return builder.build_without_end() if builder.steps else "it holds no answer of the model."


def _role(message: dict[str, Any]) -> str:
    return text_of(dict_of(message.get("info")).get("role"))


def _words(message: dict[str, Any]) -> str:
    """The words of a message; what the program added is left out, files are named."""
    texts = [text_of(p.get("text")) if p.get("type") == "text" else f"[file {text_of(p.get('filename')) or 'unnamed'}]"
             for p in dicts_of(message.get("parts"))
             if p.get("type") in ("text", "file") and p.get("synthetic") is not True]
    return "\n".join(filter(None, texts))


def _add(conversation: Conversation, message: dict[str, Any], callers: dict[str, int]) -> None:
    info = dict_of(message.get("info"))
    at = time_of(dict_of(info.get("time")).get("created"))
    builder = conversation.builder
    if _role(message) == "user":
        if text := _words(message):
            conversation.add_person_turn(text, at)
    elif _role(message) == "assistant" and info.get("summary") is True:
        conversation.add_summary(_words(message))
    elif _role(message) == "assistant":
        for parts in _steps(dicts_of(message.get("parts"))):
            conversation.add_step(_step(info, parts, at))
            for part in parts:
                called = text_of(dict_of(dict_of(part.get("state")).get("metadata")).get("sessionId"))
                callers.setdefault(called, builder.steps)
        if error := dict_of(info.get("error")):
            text = text_of(dict_of(error.get("data")).get("message")) or as_json(error)
            builder.fact(NoteAdded(step=builder.steps, text=f"{text_of(error.get('name'))}: {text[:20_000]}"), at=at)


def _steps(parts: Sequence[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """The parts of each answer that say something."""
    group: list[dict[str, Any]] = []
    for part in parts:
        if part.get("type") == "step-start" and any(p.get("type") in _SAYS for p in group):
            yield group
            group = []
        group.append(part)
    if any(p.get("type") in _SAYS for p in group):
        yield group


_SAYS = ("text", "reasoning", "tool")


def _step(info: dict[str, Any], parts: Sequence[dict[str, Any]], at: Any) -> ForeignStep:
    tools = [p for p in parts if p.get("type") == "tool"]
    calls = tuple(make_call(p.get("callID"), p.get("tool"), dict_of(p.get("state")).get("input") or {}, n)
                  for n, p in enumerate(tools, 1))
    results = [r for call, p in zip(calls, tools, strict=True) if (r := _result(call.id, dict_of(p.get("state"))))]
    finish = next((p for p in reversed(parts) if p.get("type") == "step-finish"), info)
    starts = [t for p in parts if (t := time_of(dict_of(p.get("time")).get("start")))]
    return ForeignStep(thought=paragraphs(*(text_of(p.get("text")) for p in parts if p.get("type") == "text")),
                       reasoning=paragraphs(*(text_of(p.get("text")) for p in parts if p.get("type") == "reasoning")),
                       calls=calls, results=results, usage=_usage(finish), started_at=min(starts, default=at),
                       ended_at=time_of(dict_of(info.get("time")).get("completed")) if finish is info else None,
                       model=text_of(info.get("modelID")), finish_reason=text_of(finish.get("reason")),
                       item=text_of(parts[0].get("id")) or text_of(info.get("id")))


def _usage(finish: dict[str, Any]) -> Usage:
    """Tokens of the cache are counted apart."""
    tokens = dict_of(finish.get("tokens"))
    cache = dict_of(tokens.get("cache"))
    given = {"input": tokens.get("input"), "read": cache.get("read"), "write": cache.get("write")}
    return usage_of(sum_of(given, "input", "read", "write"), sum_of(tokens, "output", "reasoning"), cache.get("read"),
                    finish.get("cost"))


def _result(call: str, state: dict[str, Any]) -> CallResult | None:
    status = state.get("status")
    if status not in ("completed", "error"):
        return None
    code = code_of(dict_of(state.get("metadata")).get("exit"))
    text = as_json(state.get("output", "") if status == "completed" else state.get("error", ""))
    error = exit_error(code) or (ActionError(kind="tool_error", message=text[:2000]) if status == "error" else None)
    times = dict_of(state.get("time"))
    return CallResult(text=text, call=call, exit_code=code, error=error, started_at=time_of(times.get("start")),
                      ended_at=time_of(times.get("end")))


FORMAT = Format(name=NAME, title="opencode session", recognises=recognises, read=read, companions=logs_beside)
