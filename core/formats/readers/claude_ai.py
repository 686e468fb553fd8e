"""Claude.ai's export (`conversations.json`): a list of conversations of `{uuid, name, chat_messages}`.

A message of the assistant is one step, or several where results of tools stand between its words. What was attached to
a person's message is a part of it. Since 2026 messages name the one that they follow: the path to the current message
is read, and what lies on other branches (a question asked otherwise, an answer made again) is counted in a note. Which
model answered, its tokens and the system prompt are not in the export.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.events import NoteAdded
from core.domain.step import ActionError
from core.formats.blocks import calls_of, text_blocks, thinking
from core.formats.conversation import OTHER_BRANCHES, CallResult, Conversation, ForeignStep
from core.formats.imported import Imported, SessionBuilder
from core.formats.rows import SourceRow, canonical, row_format
from core.formats.source import Source
from core.formats.values import dicts_of, paragraphs, text_of, time_of, upwards

NAME = "claude-ai"
_SENDERS = ("human", "assistant")
_BEFORE = "parent_message_uuid"


def _is_conversation(value: Any) -> bool:
    """Whether a row is a conversation; an empty one is passed over when it is read."""
    if not isinstance(value, dict) or "uuid" not in value or not isinstance(value.get("chat_messages"), list):
        return False
    return all(m.get("sender") in _SENDERS for m in dicts_of(value["chat_messages"])[:20])


def _read(source: Source, row: SourceRow) -> Imported | str:
    """The session of a conversation, or why there is none."""
    value = row.value
    every = dicts_of(value.get("chat_messages"))
    messages = _path(every, text_of(value.get("current_leaf_message_uuid")))
    if not any(m.get("sender") == "assistant" for m in messages):
        return "it holds no answer of the model."
    name = text_of(value.get("uuid"))
    builder = SessionBuilder(NAME, source.name, canonical([name]))
    asked = next((t for m in messages if m.get("sender") == "human" and (t := _words(m))), "")
    builder.create(text_of(value.get("name")) or asked[:400], asked, task=name, model=text_of(value.get("model")))
    conversation = Conversation(builder)
    for message in messages:
        at = time_of(message.get("created_at"))
        if message.get("sender") == "human":
            conversation.add_person_turn(_words(message), at)
        else:
            for step in _steps(message):
                conversation.add_step(step)
    if others := len(every) - len(messages):
        builder.fact(NoteAdded(step=0, text=OTHER_BRANCHES.format(others)))
    return builder.build_without_end()


def _path(messages: Sequence[dict[str, Any]], leaf: str) -> list[dict[str, Any]]:
    """The messages up to the current one, else up to the newest; all of them where none names another one of them."""
    known = {name: m for m in messages if (name := text_of(m.get("uuid")))}
    if not any(text_of(m.get(_BEFORE)) in known for m in messages):
        return list(messages)
    at = leaf if leaf in known else max(known, key=lambda name: text_of(known[name].get("created_at")))

    def above(name: str) -> str:
        before = text_of(known[name].get(_BEFORE))
        return before if before in known else ""

    return [known[name] for name in upwards(at, above)][::-1]


def _words(message: dict[str, Any]) -> str:
    """What a person wrote and attached; files whose text is not there are named."""
    attached = [paragraphs(f"[{text_of(a.get('file_name')) or 'attachment'}]", text_of(a.get("extracted_content")))
                for a in dicts_of(message.get("attachments"))]
    files = [f"[{text_of(f.get('file_name')) or 'file'}]" for f in dicts_of(message.get("files"))]
    return paragraphs(text_blocks(message.get("content")) or text_of(message.get("text")), *attached, *files)


def _steps(message: dict[str, Any]) -> Iterator[ForeignStep]:
    """The answers of a message: what comes after results of tools is another one."""
    blocks = [b for b in dicts_of(message.get("content")) if b.get("type") not in ("token_budget", "flag")]
    groups: list[list[dict[str, Any]]] = [[]]
    for block in blocks or [{"type": "text", "text": text_of(message.get("text"))}]:
        answered = groups[-1] and groups[-1][-1].get("type") == "tool_result"
        if answered and block.get("type") != "tool_result":
            groups.append([])
        groups[-1].append(block)
    for number, group in enumerate(groups, 1):
        yield _step(group, time_of(message.get("created_at")), f"{text_of(message.get('uuid'))}-{number}")


def _step(blocks: Sequence[dict[str, Any]], at: Any, item: str) -> ForeignStep:
    calls = calls_of(list(blocks))
    starts = [t for b in blocks if (t := time_of(b.get("start_timestamp")))]
    stops = [t for b in blocks if (t := time_of(b.get("stop_timestamp")))]
    results = [_result(b, calls[n].id if n < len(calls) else "")
               for n, b in enumerate(b for b in blocks if b.get("type") == "tool_result")]
    return ForeignStep(thought=text_blocks(list(blocks)), reasoning=thinking(list(blocks)), calls=calls,
                       results=results, started_at=min(starts, default=at), ended_at=max(stops, default=None),
                       item=item)


def _result(block: dict[str, Any], call: str) -> CallResult:
    content = block.get("content")
    text = paragraphs(*map(_found, content)) if isinstance(content, list) else text_blocks(content)
    error = ActionError(kind="tool_error", message=text[:2000]) if block.get("is_error") is True else None
    return CallResult(text=text, call=text_of(block.get("tool_use_id")) or call, error=error,
                      ended_at=time_of(block.get("stop_timestamp")))


def _found(part: Any) -> str:
    """A part of a result: text, or a page or document that was found."""
    if not isinstance(part, dict) or part.get("type") not in ("knowledge", "rag_reference"):
        return text_blocks([part])
    more = part.get("extras")
    title = text_of(part.get("title")) or text_of(more.get("title") if isinstance(more, dict) else "")
    return "\n".join(filter(None, (title, text_of(part.get("url")) or text_of(part.get("uri")),
                                   text_of(part.get("text")))))


FORMAT = row_format(NAME, "Claude.ai export", _is_conversation, "conversation", _read)
