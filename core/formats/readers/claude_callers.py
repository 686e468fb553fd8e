"""Who called a subagent of Claude Code whose records have a file of their own.

Since version 2 the program writes each subagent of a session beside the session's file, `SESSION.jsonl`:
`SESSION/subagents/agent-ID.jsonl` (at first `agent-ID.jsonl`), those of a workflow in
`SESSION/subagents/workflows/RUN/`, each with an `agent-ID.meta.json` that names the call, and the subagent that made it
where the session itself did not. The file of whoever called has the call, and its result the subagent's id or the
workflow's run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from core.formats.blocks import blocks_of
from core.formats.readers.claude_items import OUTLINED, ClaudeOutline, Gathering, outline_of
from core.formats.records import Records, records
from core.formats.source import Source
from core.formats.subagent_files import PREFIX, calling_step, is_name, note_of
from core.formats.values import dict_of, text_of


class Caller(NamedTuple):
    """A step that called a subagent; `agent` is that of the subagent whose step it is, "" of the session's own."""

    agent: str
    step: int


def names_in_call(content: Any) -> Iterator[str]:
    """What a subagent that an answer calls can be known by: the words that it is given, and the call's id."""
    for block in blocks_of(content):
        if prompt := text_of(dict_of(block.get("input")).get("prompt")):
            yield from filter(None, (prompt, text_of(block.get("id"))))


def names_in_result(result: Mapping[str, Any]) -> Iterator[str]:
    """The same of a result's own fields: the subagent's id, or the run of a workflow."""
    return (name for key in ("agentId", "runId") if (name := text_of(result.get(key))))


def caller_of(path: Path, session: str, agent: str, prompt: str) -> Caller:
    """Who called the subagent whose records the file holds, with these words first; step 0 where no file says it."""
    meta = note_of(path)
    names = [n for n in (text_of(meta.get("toolUseId")), agent, path.parent.name, prompt) if n]
    above = text_of(meta.get("parentAgentId"))
    file = path.with_name(f"{PREFIX}{above}.jsonl") if is_name(above) else _main_file(path, session)
    return Caller(above if is_name(above) else "", calling_step([file], _steps_of, *names))


def _main_file(path: Path, session: str) -> Path:
    """The file of the session itself. What names it is foreign text: no path, and it lies in a folder above."""
    name = f"{session}.jsonl"
    folder = next((p.parent for p in path.parents if p.name == session), path.parent)
    return folder / name if is_name(session) else path


def _steps_of(path: Path) -> Mapping[str, int]:
    """The steps that called something, by each name of what they called."""
    found = records(Source(path), outline_of, OUTLINED)
    own: Sequence[ClaudeOutline] = found.outlines
    if any(o.kind == "assistant" and not o.is_sidechain for o in own):
        own = [o for o in own if not o.is_sidechain]
    gathering = Gathering()
    gathering.go_on(own, found.items)
    steps: dict[str, int] = {}
    for number, item in enumerate((i for i in gathering.items if i.kind == "step"), 1):
        for name in (*_called(found, item.parts), *_resulted(found, item.results)):
            steps.setdefault(name, number)
    return steps


def _called(found: Records, parts: Sequence[int]) -> Iterator[str]:
    for place in parts:
        yield from names_in_call(dict_of(found.items[place].get("message")).get("content"))


def _resulted(found: Records, results: Sequence[tuple[int, int]]) -> Iterator[str]:
    for place, _ in results:
        yield from names_in_result(dict_of(found.items[place].get("toolUseResult")))
