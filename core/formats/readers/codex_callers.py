"""Rollouts of Codex's subagents: who called one, and where its own lines begin.

Each thread has a rollout of its own. That of a subagent names its caller in its first line, and may begin with what
its caller's thread held till then (codex-rs: `keep_forked_rollout_item`): messages, since 0.169 calls too, and events,
also the counts of the caller's tokens. Its own lines begin with its first turn. The caller's rollout names the thread
that a call began in an event or an item of the subagent's activity, or in the call's output.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from core.formats.chat import parts_text
from core.formats.readers import codex_items
from core.formats.readers.codex_gathered import Gatherer
from core.formats.readers.codex_items import OUTPUTS, Line, line_of
from core.formats.records import records
from core.formats.source import Source
from core.formats.subagent_files import calling_step, is_name
from core.formats.values import dict_of, dicts_of, int_of, text_of, time_of

_VERSION_7 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7")
"""How an id begins that is in the order of time (RFC 9562)."""

_PAYLOAD = "Payload:\n"


class Called(NamedTuple):
    """What a subagent's rollout tells of it: its caller's thread, and its own name ("" where it has none)."""

    caller: str
    name: str


def subagent_of(meta: Mapping[str, Any]) -> Called | None:
    """Whose rollout it is, by its first line; None where a person began it."""
    spawned = dict_of(dict_of(dict_of(meta.get("source")).get("subagent")).get("thread_spawn"))
    caller = text_of(spawned.get("parent_thread_id")) or (
        text_of(meta.get("parent_thread_id")) if meta.get("thread_source") == "subagent" else "")
    path = text_of(spawned.get("agent_path"))
    return Called(caller, path.rpartition("/")[2] or text_of(spawned.get("agent_nickname"))) if caller else None


def meta_of(lines: Sequence[Line]) -> Mapping[str, Any]:
    """What a rollout says of its thread; one that has what its caller's held says its own first."""
    return next((line.payload for line in lines if line.kind == "session_meta"), {})


def own_lines(lines: Sequence[Line]) -> Sequence[Line]:
    """All lines; those before a subagent's first own turn are `inherited` (what its model is given) or `passed`."""
    meta = meta_of(lines)
    began = _own_turn(lines, meta) if subagent_of(meta) else 0
    return [*map(_inherited, lines[:began]), *lines[began:]] if began else lines


def _own_turn(lines: Sequence[Line], meta: Mapping[str, Any]) -> int:
    name, at = text_of(meta.get("id")), time_of(meta.get("timestamp"))

    def is_own(turn: Mapping[str, Any]) -> bool:
        other = text_of(turn.get("turn_id"))
        if _VERSION_7.match(name) and _VERSION_7.match(other):
            return other > name
        started = int_of(turn.get("started_at"))
        return started is not None and at is not None and started >= int(at.timestamp())

    return next((place for place, line in enumerate(lines) if line.event == "task_started" and is_own(line.payload)), 0)


def _inherited(line: Line) -> Line:
    return msgspec.structs.replace(line, kind="inherited" if line.kind == "response_item" else "passed")


def asked_of(item: Mapping[str, Any]) -> str:
    """What an agent asks of another in a message: its words, as far as they can be read."""
    parts = [p for p in dicts_of(item.get("content")) if p.get("type") != "encrypted_content"]
    return parts_text(parts).partition(_PAYLOAD)[2].strip()


def step_of(path: Path, caller: str, thread: str) -> int:
    """The step of the caller's rollout that began a thread; 0 where it cannot be found beside the thread's."""
    return calling_step(_files_of(path, caller), _steps_of, thread)


def _files_of(path: Path, thread: str) -> Iterator[Path]:
    """The program sorts rollouts by the day that they began: YEAR/MONTH/DAY/rollout-TIME-THREAD.jsonl."""
    if not is_name(thread):
        return
    yield from path.parent.glob(f"*-{thread}.jsonl")
    if all(folder.name.isdecimal() for folder in path.parents[:3]):
        yield from path.parents[2].glob(f"*/*/*-{thread}.jsonl")


def _steps_of(path: Path) -> Mapping[str, int]:
    """The steps of a rollout by the threads that they began."""
    found = records(Source(path), codex_items.outline)
    lines = own_lines(found.outlines)
    threads = dict(_threads(line_of(record).payload for line, record in zip(lines, found.items, strict=True)
                            if line.event or line.payload.get("type") in OUTPUTS))
    steps: dict[str, int] = {}
    for number, step in enumerate((one for one in Gatherer(lines).gathered() if one.kind == "step"), 1):
        for thread in (threads[call] for call in step.calls if call in threads):
            steps.setdefault(thread, number)
    return steps


def _threads(payloads: Iterable[Mapping[str, Any]]) -> Iterator[tuple[str, str]]:
    """Each call that began a thread, with the thread."""
    for payload in payloads:
        item = dict_of(payload.get("item"))
        kind = payload.get("type")
        if item.get("type") == "SubAgentActivity" and item.get("kind") == "started":
            yield text_of(item.get("id")), text_of(item.get("agent_thread_id"))
        elif kind == "sub_agent_activity" and payload.get("kind") == "started":
            yield text_of(payload.get("event_id")), text_of(payload.get("agent_thread_id"))
        elif kind == "collab_agent_spawn_end":
            yield text_of(payload.get("call_id")), text_of(payload.get("new_thread_id"))
        elif kind in OUTPUTS and (thread := _named_thread(payload.get("output"))):
            yield text_of(payload.get("call_id")), thread


def _named_thread(output: Any) -> str:
    with suppress(msgspec.DecodeError):
        return text_of(dict_of(msgspec.json.decode(output)).get("agent_id")) if isinstance(output, str) else ""
    return ""
