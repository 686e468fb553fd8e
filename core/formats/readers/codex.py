"""Codex CLI rollouts: JSON Lines of `{timestamp, type, payload}`; before 0.32 the bare response items.

`response_item` lines are the conversation; `event_msg` lines repeat them and are used for token counts, ends of calls
and rollbacks only. What makes a step: `codex_gathered`. A compaction replaces the context by the history that it holds,
or by what a person said and its summary; turns that a person took back leave the context, and their steps stay:
`codex_context`. A subagent is a session below the step that called it: `codex_callers`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from core.domain.message import Message, ToolCall
from core.domain.request import requested
from core.formats.chat import parts_text
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.readers import codex_items
from core.formats.readers.codex_callers import asked_of, meta_of, own_lines, step_of, subagent_of
from core.formats.readers.codex_context import RolloutConversation
from core.formats.readers.codex_gathered import Gathered, Gatherer
from core.formats.readers.codex_items import CALLS, OUTPUTS, Line, line_of
from core.formats.reading_on import read_on
from core.formats.records import records
from core.formats.rows import canonical, canonical_parts
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.values import dict_of, int_of, paragraphs, text_of

NAME = "codex-cli"
_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")


def recognises(source: Source) -> bool:
    """Whether the first lines are records of a rollout."""
    return any(map(_is_record, source.samples[:8]))


def _is_record(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in _TYPES and isinstance(value.get("payload"), dict):
        return True
    return value.get("record_type") == "state" or (value.get("type") in CALLS + OUTPUTS and "call_id" in value)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source, codex_items.outline)
    meta, lines = meta_of(found.outlines), own_lines(found.outlines)
    if not any(line.is_answer for line in lines):
        raise source.without_steps("answer of the model", found.warnings)
    name = text_of(meta.get("id")) or text_of(found.items[0].get("id"))
    asked = next(filter(None, (_asked(line, found.items[n]) for n, line in enumerate(lines))), "")
    model = next((text_of(line.payload.get("model")) for line in lines if line.kind == "turn_context"), "")
    called = subagent_of(meta)
    parent = _session(called.caller if called else text_of(meta.get("forked_from_id")), source)
    step = step_of(source.path, called.caller, name) if called else 0
    title = asked[:4000] or (called.name if called else "") or name
    instructions = text_of(meta.get("instructions") or dict_of(meta.get("base_instructions")).get("text"))

    def begin() -> RolloutConversation:
        identity = canonical_parts([name] if name else found.items)
        builder = SessionBuilder(NAME, source.name, identity, found.warnings)
        builder.create(title, asked, task=name, model=model, parent=parent, parent_step=step,
                       is_call=called is not None)
        return RolloutConversation(builder, instructions)

    gatherer, reader = Gatherer(lines), _RolloutReader(lines, found.items)
    if source.held is None or not name:
        conversation: Conversation = begin()
        for item in gatherer.gathered():
            reader.add(conversation, item)
    else:
        items = list(gatherer.gathered())
        conversation = read_on(source.held, "read", (name, asked, model, parent, step, instructions),
                               [item.key for item in items], begin,
                               lambda done, place: reader.add(done.conversation, items[place])).conversation
    if orphans := gatherer.orphans:
        conversation.builder.warnings.append(f"{orphans} results have no call before them and were left out.")
    yield conversation.builder.build_without_end()


def _asked(line: Line, record: dict[str, Any]) -> str:
    """What a person, or another agent, asks for in a line."""
    if line.kind != "response_item" or not line.has_text:
        return ""
    if line.payload.get("type") == "agent_message":
        return asked_of(line_of(record).payload)
    text = parts_text(line_of(record).payload.get("content")) if line.payload.get("role") == "user" else ""
    return text if codex_items.is_turn("user", text) and requested(text) else ""


def _session(thread: str, source: Source) -> str:
    """The session of the thread that this one was called by, or that `codex fork` or `codex exec fork` began it from
    (whose lines are not repeated here); "" where it is of nobody's."""
    return SessionBuilder(NAME, source.name, canonical([thread])).session if thread else ""


class _RolloutReader:
    """Tells a conversation what was gathered; a line is decoded again from its record where it is needed whole."""

    def __init__(self, lines: Sequence[Line], records: Sequence[dict[str, Any]]) -> None:
        self._lines, self._records = lines, records
        self._answered = {text_of(line.payload.get("call_id")) for line in lines if line.payload.get("type") in OUTPUTS}

    def add(self, conversation: Conversation, item: Gathered) -> None:
        """The conversation goes on with an item."""
        assert isinstance(conversation, RolloutConversation)
        first = item.places[0]
        if item.kind == "step":
            conversation.add_step(self._step(item))
        elif item.kind == "words":
            conversation.add_words(self._whole(first), self._lines[first].at)
        elif item.kind == "inherited":
            self._inherit(conversation, self._whole(first))
        elif item.kind == "compacted":
            conversation.compact(self._whole(first))
        else:
            line = self._lines[first]
            conversation.roll_back(int_of(line.payload.get("num_turns")) or 0, line.at)

    def _inherit(self, conversation: RolloutConversation, item: dict[str, Any]) -> None:
        """What a subagent has from its caller. The call that began it has no result there: its model is given this."""
        if message := codex_items.message(item):
            conversation.replay(message)
        if item.get("type") in CALLS and text_of(item.get("call_id")) not in self._answered:
            conversation.replay(Message(role="tool", content="aborted", tool_call_id=text_of(item.get("call_id"))))

    def _whole(self, place: int) -> dict[str, Any]:
        return line_of(self._records[place]).payload

    def _step(self, item: Gathered) -> ForeignStep:
        texts: list[str] = []
        thought: list[str] = []
        calls: list[ToolCall] = []
        for payload in map(self._whole, item.places):
            if payload.get("type") in ("message", None):
                texts.append(parts_text(payload.get("content")))
            elif payload.get("type") == "reasoning":
                thought += codex_items.thoughts(payload)
            else:
                calls.append(codex_items.call(payload, len(calls) + 1))
        times = [self._lines[place].at for place in item.places]
        return ForeignStep(thought=paragraphs(*texts), reasoning=paragraphs(*thought), calls=tuple(calls),
                           results=[self._result(*where) for where in item.results], usage=item.usage,
                           started_at=next(filter(None, times), None), ended_at=times[-1], model=item.model)

    def _result(self, place: int, end: int | None) -> CallResult:
        return codex_items.result(line_of(self._records[place]), {} if end is None else self._lines[end].payload)


FORMAT = Format(name=NAME, title="Codex CLI rollout", recognises=recognises, read=read, span=by_times)
