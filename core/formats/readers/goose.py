"""Goose: a session's lines (a head with `working_dir`, then messages), an exported session, or `sessions.db`.

A message of the assistant is a step: `toolRequest` parts are calls, `toolResponse` parts of the messages after it their
results. A later message of a person is guidance. Tokens are counted for the whole session, and since 2026 the database
has a row for each answer (`usage_ledger`), whose number must be theirs; the system prompt is not in the file, so
contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import msgspec

from core.domain.step import ActionError
from core.formats.chat import make_call
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.foreign_database import ForeignDatabase, has_tables, logs_beside, opened
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.reading_on import ItemsRead, read_on
from core.formats.records import records
from core.formats.rows import canonical, joined
from core.formats.source import Source
from core.formats.values import as_json, code_of, dict_of, dicts_of, exit_error, paragraphs, text_of, time_of, usage_of

NAME = "goose"
_TABLES = {"sessions": {"id", "working_dir"}, "messages": {"session_id", "role", "content_json"}}
_LEDGER = {"id", "session_id", "input_tokens", "output_tokens", "cache_read_tokens", "cost", "is_compaction"}
_OWN = ("toolRequest", "toolResponse", "frontendToolRequest", "contextLengthExceeded", "toolConfirmationRequest")


def recognises(source: Source) -> bool:
    """Whether the file is the lines of a session, an export of one, or the database."""
    if has_tables(source, _TABLES):
        return True
    head = next((v for v in source.samples[:1] if isinstance(v, dict)), {})
    if "working_dir" not in head:
        return False
    messages = head.get("conversation", head.get("messages")) if source.shape == "object" else None
    return _are_messages(messages) if messages is not None else "message_count" in head or _are_messages(
        list(source.samples[1:20]))


def _are_messages(value: Any) -> bool:
    found = dicts_of(value)[:20]
    return bool(found) and all("role" in m and "created" in m and isinstance(m.get("content"), list) for m in found)


def read(source: Source) -> Iterator[Imported]:
    """The session of a file, or all of a database."""
    if not source.samples:
        with opened(source.file) as base:
            yield from joined(source.path, _of_database(source, base))
        return
    found = records(source, _outline)
    head = found.items[0] if found.items else {}
    exported = dicts_of(head.get("conversation", head.get("messages")))
    outlines = [_outline(n, m) for n, m in enumerate(exported)] or found.outlines[1:]
    made = _session(source, head, text_of(head.get("id")), exported or found.items[1:], outlines, found.warnings,
                    None if exported else source.held)
    if isinstance(made, str):
        raise source.without_steps("answer of the model", found.warnings)
    yield made


class _Outline(msgspec.Struct, frozen=True):
    """What of a message decides what it is; most messages share theirs with others."""

    role: str
    is_answer: bool
    """Whether it holds what calls gave."""
    has_words: bool
    has_usage: bool


@cache
def _outline_of(role: str, is_answer: bool, has_words: bool, has_usage: bool) -> _Outline:
    return _Outline(role, is_answer, has_words, has_usage)


def _outline(_: int, message: dict[str, Any]) -> _Outline:
    role = text_of(message.get("role"))
    return _outline_of(role if role in ("assistant", "user") else "", any(
        p.get("type") == "toolResponse" for p in dicts_of(message.get("content"))), bool(_words(message)),
        "usage" in message)


def _of_database(source: Source, base: ForeignDatabase) -> Iterator[tuple[str, Imported | str]]:
    order = "id" if "id" in base.columns("messages") else "rowid"
    for row in list(base.rows("SELECT * FROM sessions ORDER BY id")):
        where = f"Session {row['id']}"
        stored = base.rows(f"SELECT * FROM messages WHERE session_id = ? ORDER BY {order}", [row["id"]])
        messages = [{"role": m["role"], "created": m.get("created_timestamp"), "id": m.get("message_id"),
                     "content": _json(m["content_json"]), "metadata": _json(m.get("metadata_json"))} for m in stored]
        _give_usage(base, row["id"], messages)
        outlines = [_outline(n, m) for n, m in enumerate(messages)]
        made = _session(source, row, str(row["id"]), messages, outlines, [])
        yield where, f"{where} was left out: {made}" if isinstance(made, str) else made


def _give_usage(base: ForeignDatabase, session: object, messages: Sequence[dict[str, Any]]) -> None:
    """Give each answer the row of the ledger that is its own, where there are as many of the one as of the other."""
    if not base.columns("usage_ledger") >= _LEDGER:
        return
    ledger = [r for r in base.rows("SELECT * FROM usage_ledger WHERE session_id = ? ORDER BY id", [session])
              if not r["is_compaction"]]
    answers = [m for m in messages if m.get("role") == "assistant"]
    for answer, row in zip(answers, ledger, strict=False) if len(answers) == len(ledger) else ():
        answer["usage"] = row


def _json(text: object) -> Any:
    return parse(text.encode()).value if isinstance(text, str) else None


def _session(source: Source, head: dict[str, Any], name: str, messages: Sequence[dict[str, Any]],
             outlines: Sequence[_Outline], warnings: Sequence[str], held: dict[Any, Any] | None = None
             ) -> Imported | str:
    """`held` as in `read_on`, of lines, which only come; what else holds a session may change its messages."""
    named = [name] if name else [head.get("working_dir"), *([m.get("id"), m.get("created")] for m in messages[:1])]
    asked = next((_words(messages[n]) for n, o in enumerate(outlines) if o.role == "user" and o.has_words), "")
    config = head.get("model_config") or _json(head.get("model_config_json"))
    model = text_of(dict_of(config).get("model_name"))
    title = text_of(head.get("description")) or text_of(head.get("name"))
    groups = _groups(outlines)

    def begin() -> Conversation:
        builder = SessionBuilder(NAME, source.name, canonical(named), warnings)
        builder.create(asked[:400] or title, asked, task=name, model=model)
        return Conversation(builder)

    def add(done: ItemsRead, place: int) -> None:
        first, *after = (messages[n] for n in range(*groups[place]))
        if first.get("role") == "assistant":
            done.conversation.add_step(_step(first, [r for m in after for r in _results(m)]))
        else:
            done.conversation.add_person_turn(_words(first), time_of(first.get("created")))

    builder = read_on(held, "read", (named, asked, title, model), groups, begin, add).conversation.builder
    if not any(o.has_usage for o in outlines):
        builder.totals({k: head.get(k) for k in ("accumulated_input_tokens", "accumulated_output_tokens")})
    return builder.build_without_end() if builder.steps else "it holds no answer of the model."


def _groups(outlines: Sequence[_Outline]) -> list[tuple[int, int]]:
    """The places (from, to) of each answer with the messages right after it that only answer its calls, and of each
    message of a person that has words."""
    found: list[tuple[int, int]] = []
    for place, outline in enumerate(outlines):
        if outline.role == "user" and outline.is_answer and found and found[-1][1] == place and (
                outlines[found[-1][0]].role == "assistant"):
            found[-1] = (found[-1][0], place + 1)
        elif outline.role == "assistant" or (outline.role == "user" and outline.has_words):
            found.append((place, place + 1))
    return found


def _words(message: dict[str, Any]) -> str:
    """The words of a message; pictures are named."""
    parts = dicts_of(message.get("content"))
    return paragraphs(*(text_of(p.get("text")) if p.get("type") == "text" else f"[{text_of(p.get('type')) or 'part'}]"
                        for p in parts if p.get("type") not in (*_OWN, "thinking", "redactedThinking", "reasoning")))


def _step(message: dict[str, Any], results: list[CallResult]) -> ForeignStep:
    parts = dicts_of(message.get("content"))
    asked = [p for p in parts if p.get("type") in ("toolRequest", "frontendToolRequest")]
    calls = []
    for number, part in enumerate(asked, 1):
        held = dict_of(part.get("toolCall"))
        call = dict_of(held.get("value")) or held
        calls.append(make_call(part.get("id"), call.get("name"), call.get("arguments") or {}, number))
    used = dict_of(message.get("usage"))
    return ForeignStep(thought=_words(message), calls=tuple(calls), results=results, item=text_of(message.get("id")),
                       model=text_of(dict_of(dict_of(message.get("metadata")).get("inference")).get("requestedModel")),
                       usage=usage_of(used.get("input_tokens"), used.get("output_tokens"),
                                      used.get("cache_read_tokens"), used.get("cost")),
                       reasoning=paragraphs(*(text_of(p.get("thinking", p.get("text"))) for p in parts
                                              if p.get("type") in ("thinking", "reasoning"))),
                       started_at=time_of(message.get("created")))


def _results(message: dict[str, Any]) -> Iterator[CallResult]:
    for part in dicts_of(message.get("content")):
        if part.get("type") != "toolResponse":
            continue
        held = dict_of(part.get("toolResult"))
        value = held.get("value")
        inner = dict_of(value)
        shown = value if isinstance(value, list) else inner.get("content")
        text = "\n".join(as_json(p.get("text", f"[{p.get('type')}]")) for p in dicts_of(shown)
                         if dict_of(p.get("annotations")).get("audience") != ["user"])
        failed = text_of(held.get("error")) if held.get("status") == "error" else ""
        code = code_of(dict_of(inner.get("structuredContent")).get("exit_code"))
        error = exit_error(code)
        if failed or inner.get("isError") is True:
            error = error or ActionError(kind="tool_error", message=(failed or text)[:2000] or "The tool failed.")
        yield CallResult(text=text or failed, call=text_of(part.get("id")), exit_code=code, error=error,
                         ended_at=time_of(message.get("created")))


FORMAT = Format(name=NAME, title="Goose session", recognises=recognises, read=read, companions=logs_beside)
