"""Claude Code session files, and its `stream-json` output: JSON Lines of records joined by `uuid` and `parentUuid`.

One answer of the model stands in several lines with the same `message.id`: they are one step and their usage is
counted once. Sidechains (subagents) become sessions of their own that name the step that called them. A summary
after a compaction is a SummaryAdded; what a person typed later than the first request is guidance. The system
prompt is not in the file, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

import msgspec

from core.domain.errors import InvalidInput
from core.domain.events import NoteAdded
from core.domain.message import Message
from core.domain.step import ActionError
from core.formats.blocks import calls_of, input_tokens, results_of, text_blocks, thinking
from core.formats.conversation import Answer, Conversation, Turn
from core.formats.edits import of_claude
from core.formats.imported import Imported, SessionBuilder
from core.formats.records import records, shortened
from core.formats.rows import canonical
from core.formats.source import Source
from core.formats.values import dict_of, float_of, int_of, text_of, time_of, usage_of

NAME = "claude-code"
_KINDS = ("user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation", "progress",
          "attachment", "result")
_NOT_TYPED = ("<local-command", "Caveat: ", "<system-reminder>", "<command-message>", "<command-name>")
_COMMAND = re.compile(r"<command-name>(.*?)</command-name>", re.DOTALL)
_GIVEN = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,5})\b")


class _Item(msgspec.Struct, kw_only=True):
    """A turn being gathered, or words of a person, or a summary."""

    kind: str
    text: str = ""
    at: datetime | None = None
    message: str = ""
    content: list[dict[str, Any]] = []
    record: dict[str, Any] = {}
    answers: list[Answer] = []
    ended_at: datetime | None = None


def recognises(source: Source) -> bool:
    """Whether one of the first lines is a message record of this program."""
    return any(map(_is_record, source.samples))


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
        return False
    message = dict_of(value.get("message"))
    return message.get("role") == value["type"] and "content" in message and bool(
        value.keys() & {"uuid", "sessionId", "session_id"})


def read(source: Source) -> Iterator[Imported]:
    """The main session of a file, then one for each subagent."""
    found = records(source)
    told = [_streamed(r) for r in found.items if r.get("type") in _KINDS]
    main = [r for r in told if not r.get("isSidechain")]
    chains = _chains([r for r in told if r.get("isSidechain")])
    name = next((n for r in told if (n := text_of(r.get("sessionId")))), "")
    warnings = shortened(found.problems)
    made = 0
    steps: dict[str, int] = {}
    parent = SessionBuilder(NAME, source.path.name, _identity(name, "", main or told)).session
    if any(r.get("type") == "assistant" for r in main):
        builder = SessionBuilder(NAME, source.path.name, _identity(name, "", main))
        builder.warnings.extend(warnings)
        steps = _add(builder, main, "", 0)
        made, warnings = 1, []
        yield builder.build()
    for key, chain in chains.items():
        if any(r.get("type") == "assistant" for r in chain):
            builder = SessionBuilder(NAME, source.path.name, _identity(name, key, chain))
            builder.warnings.extend(warnings)
            first = text_blocks(dict_of(chain[0].get("message")).get("content"))
            _add(builder, chain, parent, steps.get(key) or steps.get(first, 0))
            made, warnings = made + 1, []
            yield builder.build()
    if not made:
        raise InvalidInput("no_steps", f"{source.path} holds no answer of the model. {' '.join(warnings)}".strip(),
                           path=str(source.path))


def _streamed(record: dict[str, Any]) -> dict[str, Any]:
    """A record of the program's `stream-json` output in the names that session files use."""
    if "session_id" not in record or "sessionId" in record:
        return record
    caller = text_of(record.get("parent_tool_use_id"))
    return {**record, "sessionId": record["session_id"], "isSidechain": bool(caller), "agentId": caller}


def _identity(session: str, chain: str, told: Sequence[dict[str, Any]]) -> bytes:
    return canonical([session, chain]) if session else canonical([chain, *told[:1]])


def _chains(told: Sequence[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """The records of each subagent: by its id where it has one, else by the root of its chain."""
    root: dict[str, str] = {}
    chains: dict[str, list[dict[str, Any]]] = {}
    for record in told:
        own, parent = text_of(record.get("uuid")), text_of(record.get("parentUuid"))
        key = text_of(record.get("agentId")) or root.get(parent) or own or "sidechain"
        root[own] = key
        chains.setdefault(key, []).append(record)
    return chains


def _add(builder: SessionBuilder, told: Sequence[dict[str, Any]], parent: str, parent_step: int) -> dict[str, int]:
    """One session's facts; gives the steps that called subagents, by the subagent's id and by its prompt."""
    items = _items(told, builder)
    asked = next((i.text for i in items if i.kind == "ask"), "")
    titled = next((text_of(r.get("summary")) for r in told if r.get("type") == "summary"), "")
    models = [m for i in items if (m := text_of(dict_of(i.record.get("message")).get("model"))) and m[0] != "<"]
    name = next((n for r in told if (n := text_of(r.get("sessionId")))), "")
    builder.create(titled or _typed(asked)[:400], asked, task=name, model=models[0] if models else "", parent=parent,
                   parent_step=parent_step)
    talk = Conversation(builder)
    called: dict[str, int] = {}
    for item in items:
        if item.kind == "turn":
            turn = _turn(item)
            talk.step(turn)
            _remember(called, item, builder.steps)
        elif item.kind == "ask":
            talk.ask(item.text, item.at)
        elif item.kind == "summary":
            talk.summarise(item.text)
        else:
            talk.tell(Message(role="user", content=item.text))
    _end(builder, next((r for r in reversed(told) if r.get("type") == "result"), {}))
    return called


def _typed(text: str) -> str:
    """What a person typed: a command of the program stands in tags."""
    name, given = _COMMAND.search(text), _GIVEN.search(text)
    return f"{name[1].strip()} {given[1].strip() if given else ''}".strip() if name else text


def _end(builder: SessionBuilder, result: dict[str, Any]) -> None:
    """`stream-json` ends with a result that tells the whole cost; session files have no end."""
    if (cost := float_of(result.get("total_cost_usd"))) is not None:
        builder.fact(NoteAdded(step=0, text=f"Recorded for the whole run: total_cost_usd {cost}."))
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
    for answer in item.answers:
        if agent := answer.data.get("agentId"):
            called[str(agent)] = step


def _items(told: Sequence[dict[str, Any]], builder: SessionBuilder) -> list[_Item]:
    items: list[_Item] = []
    turns: dict[str, _Item] = {}
    calls: dict[str, _Item] = {}
    for record in told:
        message = dict_of(record.get("message"))
        if record.get("type") == "assistant":
            _take_answer(record, message, items, turns, calls)
        elif record.get("type") == "user":
            _take_user(record, message, items, calls, builder)
        elif text := _queued(dict_of(record.get("attachment"))):
            items.append(_Item(kind="ask", text=text, at=time_of(record.get("timestamp"))))
    return items


def _queued(attachment: dict[str, Any]) -> str:
    """What a person typed while the agent worked."""
    return text_blocks(attachment.get("prompt")) if attachment.get("type") == "queued_command" else ""


def _take_answer(record: dict[str, Any], message: dict[str, Any], items: list[_Item], turns: dict[str, _Item],
                 calls: dict[str, _Item]) -> None:
    name = text_of(message.get("id")) or text_of(record.get("uuid"))
    at = time_of(record.get("timestamp"))
    item = turns.get(name) if name else None
    if item is None:
        item = _Item(kind="turn", message=name, at=at, content=[], answers=[])
        items.append(item)
        turns[name] = item
    content = message.get("content")
    item.content.extend([{"type": "text", "text": content}] if isinstance(content, str) else
                        [b for b in content if isinstance(b, dict)] if isinstance(content, list) else [])
    item.record, item.ended_at = record, at
    for call in calls_of(item.content):
        calls[call.id] = item


def _take_user(record: dict[str, Any], message: dict[str, Any], items: list[_Item], calls: dict[str, _Item],
               builder: SessionBuilder) -> None:
    at, content = time_of(record.get("timestamp")), message.get("content")
    for block in results_of(content):
        turn = calls.get(text_of(block.get("tool_use_id")))
        if turn is None:
            builder.warnings.append(f"The result of call {text_of(block.get('tool_use_id')) or '?'} has no call.")
            turn = next((i for i in reversed(items) if i.kind == "turn"), None)
        if turn is not None:
            turn.answers.append(_answer(block, record, at))
    text = text_blocks(content)
    if not text:
        return
    if record.get("isCompactSummary"):
        items.append(_Item(kind="summary", text=text))
    else:
        told = record.get("isMeta") or text.startswith(_NOT_TYPED)
        first = not any(i.kind == "ask" for i in items)
        items.append(_Item(kind="tell" if told and not (first and "<command-" in text) else "ask", text=text, at=at))


def _answer(block: dict[str, Any], record: dict[str, Any], at: datetime | None) -> Answer:
    text = text_blocks(block.get("content"))
    told = record.get("toolUseResult")
    result = told if isinstance(told, dict) else {}
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
    return Answer(text=text, call=text_of(block.get("tool_use_id")), error=error, exit_code=code, data=data,
                  status="killed" if result.get("interrupted") is True else "finished", ended_at=at,
                  edit=of_claude(result) if error is None else None)


def _turn(item: _Item) -> Turn:
    message = dict_of(item.record.get("message"))
    usage = dict_of(message.get("usage"))
    failed = item.record.get("isApiErrorMessage") is True
    text = text_blocks(item.content)
    if failed:
        item.answers.append(Answer(text=text, error=ActionError(kind="api_error", message=text[:500])))
    return Turn(thought=text, reasoning=thinking(item.content), calls=calls_of(item.content), answers=item.answers,
                usage=usage_of(input_tokens(usage), usage.get("output_tokens"), usage.get("cache_read_input_tokens"),
                               item.record.get("costUSD")),
                started_at=item.at, ended_at=item.ended_at, model=text_of(message.get("model")),
                finish_reason=text_of(message.get("stop_reason")))
