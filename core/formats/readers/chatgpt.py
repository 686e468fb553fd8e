"""ChatGPT's export (`conversations.json`): a list of conversations, each a tree of messages (`mapping`).

The path to `current_node` is read; what lies on other branches (answers made again) is counted in a note. An answer
with the thoughts before it is a step; a message to another recipient than `all` is a call of that tool, and messages of
the role tool after it are its results. Exports since 2025 have an answer without words before many an answer, which is
no step, a person's standing instructions, and what the code interpreter reported of each run. The rest of the hidden
context is not in the export: contexts are approximate.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from core.domain.events import NoteAdded
from core.domain.message import Message
from core.domain.step import ActionError
from core.formats.chat import make_call
from core.formats.conversation import OTHER_BRANCHES, CallResult, Conversation, ForeignStep
from core.formats.imported import Imported, SessionBuilder
from core.formats.json_text import parse
from core.formats.rows import SourceRow, canonical, row_format
from core.formats.source import Source
from core.formats.values import dict_of, dicts_of, paragraphs, text_of, time_of, upwards

NAME = "chatgpt"
_DEEPEST = 100_000
_RECAP = "reasoning_recap"
"""The program's line on how long the model thought, which the model did not write."""
_INSTRUCTIONS = ("user_profile", "user_instructions")
"""Members of a message that gives the model a person's standing instructions."""
_FAILED = ("system_error", "execution_error")


def _is_conversation(value: Any) -> bool:
    """Whether a row is a conversation with a tree of messages."""
    if not isinstance(value, dict) or not isinstance(value.get("mapping"), dict):
        return False
    nodes = list(value["mapping"].values())[:5]
    return bool(nodes) and all(
        isinstance(n, dict) and {"parent", "children"} & n.keys() and "message" in n for n in nodes)


def _read(source: Source, row: SourceRow) -> Imported | str:
    """The session of a conversation, or why there is none."""
    value = row.value
    name = text_of(value.get("conversation_id")) or text_of(value.get("id"))
    messages = list(_path(value))
    if not any(_role(m) == "assistant" for m in messages):
        return "it holds no answer of the model."
    builder = SessionBuilder(NAME, source.name, canonical([name]) if name else row.data)
    asked = next((t for m in messages if _role(m) == "user" and (t := _words(m))), "")
    model = next((t for m in messages if (t := text_of(dict_of(m.get("metadata")).get("model_slug")))), "")
    builder.create(text_of(value.get("title")) or asked[:400], asked, task=name, model=model)
    _add(Conversation(builder), messages)
    others = sum(isinstance(dict_of(n).get("message"), dict) for n in value["mapping"].values()) - len(messages)
    if others > 0:
        builder.fact(NoteAdded(step=0, text=OTHER_BRANCHES.format(others)))
    return builder.build_without_end()


def _path(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The messages from the root to the current node; where none is named, to the newest one."""
    mapping = {key: node for key, node in value["mapping"].items() if isinstance(node, dict)}
    at = value.get("current_node")
    if not isinstance(at, str) or at not in mapping:
        at = max(reversed(mapping), key=lambda key: _made_at(mapping[key]), default="")

    def above(key: str) -> str:
        parent = text_of(mapping[key].get("parent"))
        return parent if parent in mapping else ""

    way = list(islice(upwards(at, above), _DEEPEST))
    return (m for key in reversed(way) if (m := dict_of(mapping[key].get("message"))))


def _made_at(node: dict[str, Any]) -> float:
    at = dict_of(node.get("message")).get("create_time")
    return at if isinstance(at, int | float) else 0


def _role(message: dict[str, Any]) -> str:
    return text_of(dict_of(message.get("author")).get("role"))


def _kind(message: dict[str, Any]) -> str:
    return text_of(dict_of(message.get("content")).get("content_type"))


def _words(message: dict[str, Any]) -> str:
    """The words of a message; pictures and files are named in brackets."""
    content = dict_of(message.get("content"))
    parts = content.get("parts")
    if isinstance(parts, list):
        return "\n".join(filter(None, (p if isinstance(p, str) else _part(dict_of(p)) for p in parts)))
    thoughts = [paragraphs(text_of(t.get("summary")), text_of(t.get("content")))
                for t in dicts_of(content.get("thoughts"))]
    return paragraphs(*thoughts) or next(filter(None, (text_of(content.get(n)) for n in ("text", "result", "content"))),
                                         paragraphs(*(text_of(content.get(name)) for name in _INSTRUCTIONS)))


def _part(part: dict[str, Any]) -> str:
    return text_of(part.get("text")) or (f"[{text_of(part.get('content_type')) or 'part'}]" if part else "")


def _add(conversation: Conversation, messages: Sequence[dict[str, Any]]) -> None:
    thoughts: list[str] = []
    held: list[dict[str, Any]] = []
    results: list[CallResult] = []

    def close() -> None:
        if held or thoughts or results:
            conversation.add_step(_step(held, list(thoughts), list(results)))
        thoughts.clear()
        held.clear()
        results.clear()

    for message in messages:
        role, text = _role(message), "" if _kind(message) == _RECAP else _words(message)
        if role == "tool":
            results.append(_result(message, len(held)))
        elif role == "assistant" and (text or _is_call(message)):
            if results or (held and (_is_call(held[-1]) != _is_call(message) or not _is_call(message))):
                close()
            (thoughts.append(text) if _kind(message) == "thoughts" else held.append(message))
        elif text:
            close()
            if role == "user" and _kind(message) != "user_editable_context":
                conversation.add_person_turn(text, time_of(message.get("create_time")))
            else:
                conversation.add_message(Message(role="system", content=text))
    close()


def _is_call(message: dict[str, Any]) -> bool:
    return text_of(message.get("recipient")) not in ("", "all") or _kind(message) == "code"


def _step(held: Sequence[dict[str, Any]], thoughts: Sequence[str], results: list[CallResult]) -> ForeignStep:
    called = [m for m in held if _is_call(m)]
    calls = tuple(make_call("", text_of(m.get("recipient")).replace("all", "python", m.get("recipient") == "all"),
                            _arguments(m), n) for n, m in enumerate(called, 1))
    first = held[0] if held else {}
    metadata = dict_of(first.get("metadata"))
    return ForeignStep(thought=paragraphs(*(_words(m) for m in held if not _is_call(m))),
                       reasoning=paragraphs(*thoughts), calls=calls, results=results,
                       started_at=time_of(first.get("create_time")),
                       ended_at=time_of(held[-1].get("create_time")) if held else None, item=text_of(first.get("id")),
                       model=text_of(metadata.get("model_slug")),
                       finish_reason=text_of(dict_of(metadata.get("finish_details")).get("type")))


def _arguments(message: dict[str, Any]) -> Any:
    """The object that the words of a call are, or its code."""
    text = _words(message)
    value = parse(text.encode("utf-8", "replace")) if text.lstrip().startswith("{") else None
    return value.value if value and not value.problem and isinstance(value.value, dict) else {"code": text}


def _result(message: dict[str, Any], calls: int) -> CallResult:
    run = dict_of(dict_of(message.get("metadata")).get("aggregate_result"))
    text = _words(message)
    return CallResult(text=text, call=str(max(1, calls)), error=_error(_kind(message), run, text),
                      ended_at=time_of(run.get("end_time") or message.get("create_time")))


def _error(kind: str, run: dict[str, Any], text: str) -> ActionError | None:
    """What went wrong in a call, by its result's kind or by the code interpreter's report of its run."""
    fault = dict_of(run.get("in_kernel_exception")) or dict_of(run.get("system_exception"))
    if fault:
        return ActionError(kind=text_of(fault.get("name")) or "exception", message=text[:2000])
    if run.get("timeout_triggered"):
        return ActionError(kind="timeout", message=text[:2000])
    return ActionError(kind=kind, message=text[:2000]) if kind in _FAILED else None


FORMAT = row_format(NAME, "ChatGPT export", _is_conversation, "conversation", _read)
