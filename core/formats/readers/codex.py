"""Codex CLI rollouts: JSON Lines of `{timestamp, type, payload}`; before 0.32 the bare response items.

`response_item` lines are the conversation; `event_msg` lines repeat them and are used for token counts only. A step
is one answer of the model: its words, thoughts and calls up to the next `token_count`, or to words after results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.message import Message, ToolCall
from core.domain.step import ActionError, Usage
from core.formats.chat import make_call, parts_text
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.records import records
from core.formats.rows import canonical
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.values import as_json, code_of, dict_of, dicts_of, exit_error, float_of, text_of, time_of, usage_of

NAME = "codex-cli"
_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_OUTPUTS = ("function_call_output", "custom_tool_call_output")
_EXIT = re.compile(r"(?:Process exited with code|Exit code:|exit code:?) (-?\d{1,10})\b")
_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions",
            "<INSTRUCTIONS>", "<turn_aborted>", "<collaboration_mode>")


class _OpenStep(msgspec.Struct, kw_only=True):
    """The turn being gathered."""

    texts: list[str] = []
    thought: list[str] = []
    calls: list[ToolCall] = []
    results: list[CallResult] = []
    at: Any = None
    until: Any = None
    usage: Usage = Usage()
    is_counted: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing of the model is in it yet."""
        return not (self.texts or self.thought or self.calls)


def recognises(source: Source) -> bool:
    """Whether the first lines are records of a rollout."""
    return any(map(_is_record, source.samples[:8]))


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in _TYPES and isinstance(value.get("payload"), dict):
        return True
    return "record_type" in value or (value.get("type") in _CALLS + _OUTPUTS and "call_id" in value)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source)
    items = [_flat(r) for r in found.items]
    meta = next((p for kind, p, _ in items if kind == "session_meta"), {})
    if not any(p.get("type") in _CALLS or p.get("role") == "assistant" for _, p, _ in items):
        raise source.without_steps("answer of the model", found.warnings)
    name = text_of(meta.get("id")) or text_of(found.items[0].get("id"))
    builder = SessionBuilder(NAME, source.path.name, canonical([name] if name else found.items), found.warnings)
    asked = next((t for _, p, _ in items
                  if p.get("role") == "user" and not _is_context(t := parts_text(p.get("content")))), "")
    model = next((text_of(p.get("model")) for kind, p, _ in items if kind == "turn_context"), "")
    builder.create(asked[:400] or name, asked, task=name, model=model, parent=_forked_from(meta, source))
    instructions = meta.get("instructions") or dict_of(meta.get("base_instructions")).get("text")
    _RolloutReader(builder, any(map(_usage_in, items))).read(items, text_of(instructions))
    yield builder.build_without_end()


def _forked_from(meta: dict[str, Any], source: Source) -> str:
    """The session that `codex fork` or `codex exec fork` began this one from; its lines are not repeated here."""
    name = text_of(meta.get("forked_from_id"))
    return SessionBuilder(NAME, source.path.name, canonical([name])).session if name else ""


def _flat(record: dict[str, Any]) -> tuple[str, dict[str, Any], Any]:
    """The kind, the payload and the time of a line, in the old form too."""
    if isinstance(record.get("payload"), dict):
        return text_of(record.get("type")), record["payload"], time_of(record.get("timestamp"))
    kind = "response_item" if "type" in record else "session_meta"
    return kind, record, time_of(record.get("timestamp"))


def _usage_in(item: tuple[str, dict[str, Any], Any]) -> dict[str, Any]:
    """What the last answer used, in a line that counts tokens."""
    kind, payload, _ = item
    counts = kind == "event_msg" and payload.get("type") == "token_count"
    return dict_of(dict_of(payload.get("info")).get("last_token_usage")) if counts else {}


def _is_context(text: str) -> bool:
    return text.lstrip().startswith(_CONTEXT)


class _RolloutReader:
    """Walks the lines and closes a turn where the model is asked again."""

    def __init__(self, builder: SessionBuilder, counted: bool) -> None:
        """`counted`: token counts are there and show where an answer ended; otherwise its results do."""
        self._counted = counted
        self._conversation = Conversation(builder)
        self._open = _OpenStep()
        self._model = ""

    def read(self, items: Sequence[tuple[str, dict[str, Any], Any]], instructions: str) -> None:
        """All lines in order."""
        if instructions:
            self._conversation.add_message(Message(role="system", content=instructions))
        for kind, payload, at in items:
            if kind == "turn_context":
                self._model = text_of(payload.get("model"))
            elif kind == "response_item":
                self._item(payload, at)
            elif kind == "compacted":
                self._close()
                self._conversation.add_summary(text_of(payload.get("message")) or "The context was compacted.")
            elif used := _usage_in((kind, payload, at)):
                self._count(used)
        self._close()

    def _item(self, item: dict[str, Any], at: Any) -> None:
        kind = item.get("type")
        if kind in _OUTPUTS:
            self._open.results.append(_result(item, at))
        elif kind in ("message", None) and item.get("role") != "assistant":
            self._words(item, at)
        elif kind in (*_CALLS, "reasoning", "message"):
            if self._open.is_counted if self._counted else self._open.results:
                self._close()
            self._open.at = self._open.at or at
            self._open.until = at
            self._take(item)

    def _words(self, item: dict[str, Any], at: Any) -> None:
        text, role = parts_text(item.get("content")), item.get("role")
        if not text:
            return
        self._close()
        if role == "user" and not _is_context(text):
            self._conversation.add_person_turn(text, at)
        else:
            self._conversation.add_message(Message(role="user" if role == "user" else "system", content=text))

    def _take(self, item: dict[str, Any]) -> None:
        if item.get("type") == "message":
            self._open.texts.append(parts_text(item.get("content")))
        elif item.get("type") == "reasoning":
            parts = dicts_of(item.get("summary")) + dicts_of(item.get("content"))
            self._open.thought.extend(t for p in parts if (t := text_of(p.get("text"))))
        else:
            self._open.calls.append(_call(item, len(self._open.calls) + 1))

    def _count(self, used: dict[str, Any]) -> None:
        if not self._open.is_empty and used:
            self._open.is_counted = True
            self._open.usage = usage_of(used.get("input_tokens"), used.get("output_tokens"),
                                        used.get("cached_input_tokens"))

    def _close(self) -> None:
        step, self._open = self._open, _OpenStep(texts=[], thought=[], calls=[], results=[])
        if not step.is_empty:
            self._conversation.add_step(ForeignStep(thought="\n\n".join(step.texts),
                                                    reasoning="\n\n".join(step.thought), calls=tuple(step.calls),
                                                    results=step.results, usage=step.usage, started_at=step.at,
                                                    ended_at=step.until, model=self._model))
        elif step.results:
            self._conversation.builder.warnings.append(
                f"{len(step.results)} results have no call before them and were left out.")


def _call(item: dict[str, Any], place: int) -> ToolCall:
    kind = item.get("type")
    name = text_of(item.get("name")) or text_of(kind).removesuffix("_call")
    arguments = item.get("arguments", item.get("input", item.get("action", {})))
    if kind == "custom_tool_call" and isinstance(arguments, str):
        arguments = json.dumps({"input": arguments})
    return make_call(text_of(item.get("call_id")) or text_of(item.get("id")), name, arguments, place)


def _result(item: dict[str, Any], at: Any) -> CallResult:
    """The output is text, or JSON text of `{output, metadata: {exit_code, duration_seconds}}`, or an object."""
    output: Any = item.get("output")
    if isinstance(output, str) and output.startswith("{"):
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            output = item.get("output")
    if isinstance(output, dict) and ("output" in output or "content" in output):
        text, success = as_json(output.get("output", output.get("content"))), output.get("success")
        meta = dict_of(output.get("metadata"))
    else:
        text = parts_text(output) if isinstance(output, list) else as_json(item.get("output", ""))
        meta, success = {}, None
    code = code_of(meta.get("exit_code"))
    if code is None and (match := _EXIT.match(text)):
        code = int(match[1])
    error = exit_error(code) or (ActionError(kind="tool_error", message=text[:500]) if success is False else None)
    seconds = float_of(meta.get("duration_seconds"))
    return CallResult(text=text, call=text_of(item.get("call_id")), exit_code=code, error=error, ended_at=at,
                      data={} if seconds is None else {"duration_s": seconds})


FORMAT = Format(name=NAME, title="Codex CLI rollout", recognises=recognises, read=read, span=by_times)
