"""Claude Code session files, and its `stream-json` output: JSON Lines of records joined by `uuid` and `parentUuid`.

One answer of the model stands in several lines with the same `message.id`: they are one step and their usage is
counted once. Sidechains (subagents) become sessions of their own that name the step that called them. A summary
after a compaction is a SummaryAdded; what a person typed later than the first request is guidance. Where a person went
back to an earlier place (`parentUuid`), later contexts hold nothing of what came after it. The system prompt is not in
the file, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.message import Message
from core.domain.request import requested
from core.domain.step import ActionError
from core.formats.blocks import blocks_of, calls_of, input_tokens, results_of, text_blocks, thinking
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.pictures import pictures_in
from core.formats.readers.claude_edits import file_edit
from core.formats.records import records
from core.formats.rows import canonical
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.values import dict_of, float_of, int_of, text_of, time_of, usage_of

NAME = "claude-code"
_KINDS = ("user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation", "progress",
          "attachment", "result")
_NOT_TYPED = ("<local-command", "Caveat: ", "<system-reminder>")
_WENT_BACK = "A person went back to an earlier place: later contexts hold nothing of what came after it."
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,5})\b")


class _Item(msgspec.Struct, kw_only=True):
    """A step being gathered, or words of a person, or a summary."""

    kind: str
    text: str = ""
    at: datetime | None = None
    message: str = ""
    content: list[dict[str, Any]] = []
    record: dict[str, Any] = {}
    results: list[CallResult] = []
    ended_at: datetime | None = None
    back_to: _Item | None = None
    """What a person went back to before typing this."""

    length: int = 0
    """How many messages the context held after it."""


def _is_record(value: Any) -> bool:
    """Whether a line is a message record of this program."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
        return False
    message = dict_of(value.get("message"))
    return message.get("role") == value["type"] and "content" in message and bool(
        value.keys() & {"uuid", "sessionId", "session_id"})


def read(source: Source) -> Iterator[Imported]:
    """The main session of a file, then one for each subagent."""
    found = records(source)
    lines = [_streamed(r) for r in found.items if r.get("type") in _KINDS]
    main = [r for r in lines if not r.get("isSidechain")]
    chains = _chains([r for r in lines if r.get("isSidechain")])
    name = next((n for r in lines if (n := text_of(r.get("sessionId")))), "")
    warnings = found.warnings
    made = 0
    steps: dict[str, int] = {}
    parent = SessionBuilder(NAME, source.path.name, _identity(name, "", main or lines)).session
    if any(r.get("type") == "assistant" for r in main):
        builder = SessionBuilder(NAME, source.path.name, _identity(name, "", main), warnings)
        steps = _add(builder, main, "", 0)
        made, warnings = 1, []
        yield builder.build()
    for key, chain in chains.items():
        if any(r.get("type") == "assistant" for r in chain):
            builder = SessionBuilder(NAME, source.path.name, _identity(name, key, chain), warnings)
            first = text_blocks(dict_of(chain[0].get("message")).get("content"))
            _add(builder, chain, parent, steps.get(key) or steps.get(first, 0))
            made, warnings = made + 1, []
            yield builder.build()
    if not made:
        raise source.without_steps("answer of the model", warnings)


def _streamed(record: dict[str, Any]) -> dict[str, Any]:
    """A record of the program's `stream-json` output in the names that session files use."""
    if "session_id" not in record or "sessionId" in record:
        return record
    caller = text_of(record.get("parent_tool_use_id"))
    return {**record, "sessionId": record["session_id"], "isSidechain": bool(caller), "agentId": caller}


def _identity(session: str, chain: str, lines: Sequence[dict[str, Any]]) -> bytes:
    return canonical([session, chain]) if session else canonical([chain, *lines[:1]])


def _chains(lines: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The records of each subagent: by its id where it has one, else by the root of its chain."""
    root: dict[str, str] = {}
    chains: dict[str, list[dict[str, Any]]] = {}
    for record in lines:
        own, parent = text_of(record.get("uuid")), text_of(record.get("parentUuid"))
        key = text_of(record.get("agentId")) or root.get(parent) or own or "sidechain"
        root[own] = key
        chains.setdefault(key, []).append(record)
    return chains


def _add(builder: SessionBuilder, lines: Sequence[dict[str, Any]], parent: str, parent_step: int) -> dict[str, int]:
    """One session's facts; gives the steps that called subagents, by the subagent's id and by its prompt."""
    items = _items(lines, builder)
    asked = next((i.text for i in items if i.kind == "person" and requested(i.text)), "")
    titled = next((text_of(r.get("summary")) for r in lines if r.get("type") == "summary"), "")
    models = [m for i in items if (m := text_of(dict_of(i.record.get("message")).get("model"))) and m[0] != "<"]
    name = next((n for r in lines if (n := text_of(r.get("sessionId")))), "")
    builder.create(titled or asked[:4000], asked, task=name, model=models[0] if models else "", parent=parent,
                   parent_step=parent_step, is_call=bool(parent))
    conversation = Conversation(builder)
    called: dict[str, int] = {}
    for item in items:
        if item.back_to is not None:
            conversation.take_back(item.back_to.length)
            builder.fact(NoteAdded(step=builder.steps, text=_WENT_BACK), at=item.at)
        if item.kind == "step":
            conversation.add_step(_step(item))
            _remember(called, item, builder.steps)
        elif item.kind == "person":
            conversation.add_pictures(item.content)
            conversation.add_person_turn(item.text, item.at)
        elif item.kind == "summary":
            conversation.add_summary(item.text)
        else:
            conversation.add_message(Message(role="user", content=item.text))
        item.length = len(conversation.refs)
    _end(builder, next((r for r in reversed(lines) if r.get("type") == "result"), {}))
    return called


def _end(builder: SessionBuilder, result: dict[str, Any]) -> None:
    """`stream-json` ends with a result that has the whole cost; session files have no end."""
    builder.totals({"total_cost_usd": float_of(result.get("total_cost_usd"))})
    kind = text_of(result.get("subtype"))
    if not kind:
        builder.end("finished", "end_not_recorded")
    else:
        builder.end("finished" if kind == "success" and result.get("is_error") is not True else "failed", kind)


def _remember(called: dict[str, int], item: _Item, step: int) -> None:
    for block in item.content:
        if prompt := text_of(dict_of(block.get("input")).get("prompt")):
            called.setdefault(prompt, step)
            called.setdefault(text_of(block.get("id")), step)
    for result in item.results:
        if agent := result.data.get("agentId"):
            called[str(agent)] = step


def _items(lines: Sequence[dict[str, Any]], builder: SessionBuilder) -> list[_Item]:
    items: list[_Item] = []
    steps: dict[str, _Item] = {}
    calls: dict[str, _Item] = {}
    places: dict[str, _Item] = {}
    for record in lines:
        message, count = dict_of(record.get("message")), len(items)
        if record.get("type") == "assistant":
            _take_answer(record, message, items, steps, calls)
        elif record.get("type") == "user":
            _take_user(record, message, items, calls, builder)
        elif text := _queued(dict_of(record.get("attachment"))):
            items.append(_Item(kind="person", text=text, at=time_of(record.get("timestamp"))))
        if len(items) > count and record.get("type") == "user":
            items[-1].back_to = _left(items[:-1], places.get(text_of(record.get("parentUuid"))))
        if items:
            places.setdefault(text_of(record.get("uuid")), _item_of(record, message, items, calls))
    return items


def _item_of(record: dict[str, Any], message: dict[str, Any], items: Sequence[_Item],
             calls: dict[str, _Item]) -> _Item:
    """The item that a record belongs to: a result to the step that it answers, others to the last."""
    answered = [step for b in results_of(message.get("content")) if (step := calls.get(text_of(b.get("tool_use_id"))))]
    return answered[-1] if answered and record.get("type") == "user" else items[-1]


def _left(items: Sequence[_Item], origin: _Item | None) -> _Item | None:
    """The origin, where answers were left behind after it; a summary in between hides what the context was there."""
    place = next((n for n, item in enumerate(items) if item is origin), len(items))
    kinds = {item.kind for item in items[place + 1 :]}
    return origin if "step" in kinds and "summary" not in kinds else None


def _queued(attachment: dict[str, Any]) -> str:
    """What a person typed while the agent worked."""
    return text_blocks(attachment.get("prompt")) if attachment.get("type") == "queued_command" else ""


def _take_answer(record: dict[str, Any], message: dict[str, Any], items: list[_Item], steps: dict[str, _Item],
                 calls: dict[str, _Item]) -> None:
    name = text_of(message.get("id")) or text_of(record.get("uuid"))
    at = time_of(record.get("timestamp"))
    item = steps.get(name) if name else None
    if item is None:
        item = _Item(kind="step", message=name, at=at, content=[], results=[])
        items.append(item)
        steps[name] = item
    item.content.extend(blocks_of(message.get("content")))
    item.record, item.ended_at = record, at
    for call in calls_of(item.content):
        calls[call.id] = item


def _take_user(record: dict[str, Any], message: dict[str, Any], items: list[_Item], calls: dict[str, _Item],
               builder: SessionBuilder) -> None:
    at, content = time_of(record.get("timestamp")), message.get("content")
    results = results_of(content)
    for block in results:
        step = calls.get(text_of(block.get("tool_use_id")))
        if step is None:
            builder.warnings.append(f"The result of call {text_of(block.get('tool_use_id')) or '?'} has no call.")
            step = next((i for i in reversed(items) if i.kind == "step"), None)
        if step is not None:
            step.results.append(_result(block, record, at))
    text = text_blocks(content)
    if not text:
        return
    if record.get("isCompactSummary"):
        items.append(_Item(kind="summary", text=text))
    else:
        is_added = record.get("isMeta") or not requested(text)
        kind = "context" if is_added or (text.startswith(_NOT_TYPED) and "<command-" not in text) else "person"
        items.append(_Item(kind=kind, text=text, at=at, content=[b for b in blocks_of(content) if b not in results]))


def _result(block: dict[str, Any], record: dict[str, Any], at: datetime | None) -> CallResult:
    text = text_blocks(block.get("content"))
    result = dict_of(record.get("toolUseResult"))
    code = int_of(result.get("exitCode"))
    error: ActionError | None = None
    if block.get("is_error") is True:
        if code is None and (match := _EXIT.match(text)):
            code = int(match[1])
        error = ActionError(kind="exit_code" if code else "tool_error", message=text[:500])
    if result.get("interrupted") is True:
        error = ActionError(kind="interrupted", message="A person interrupted the action.")
    data: dict[str, object] = {
        k: v for k, v in result.items() if isinstance(v, str | int | float | bool) and len(str(v)) <= 200}
    return CallResult(text=text, call=text_of(block.get("tool_use_id")), error=error, exit_code=code, data=data,
                      status="killed" if result.get("interrupted") is True else "finished", ended_at=at,
                      edit=file_edit(result) if error is None else None, pictures=pictures_in(block.get("content")))


def _step(item: _Item) -> ForeignStep:
    message = dict_of(item.record.get("message"))
    usage = dict_of(message.get("usage"))
    text = text_blocks(item.content)
    if item.record.get("isApiErrorMessage") is True:
        item.results.append(CallResult(text=text, error=ActionError(kind="api_error", message=text[:500])))
    used = usage_of(input_tokens(usage), usage.get("output_tokens"), usage.get("cache_read_input_tokens"),
                    item.record.get("costUSD"))
    return ForeignStep(thought=text, reasoning=thinking(item.content), calls=calls_of(item.content),
                       results=item.results, usage=used, started_at=item.at, ended_at=item.ended_at,
                       model=text_of(message.get("model")), finish_reason=text_of(message.get("stop_reason")),
                       item=item.message)


FORMAT = Format(name=NAME, title="Claude Code session", recognises=any_sample(_is_record), read=read,
                span=by_times)
