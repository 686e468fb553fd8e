"""Codex CLI rollouts: JSON Lines of `{timestamp, type, payload}`; before 0.32 the bare response items.

`response_item` lines are the conversation; `event_msg` lines repeat them and are used for token counts, ends of calls
and rollbacks only. A step is one answer of the model: its words, thoughts and calls. Where tokens are counted, a count
shows the answer's end (before 0.58 its beginning); else words after results do. A compaction replaces the context
by the history that it holds, or by what a person said and its summary; turns that a person took back leave the context,
and their steps stay (codex-rs: rollout reconstruction).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from core.domain.events import NoteAdded
from core.domain.message import Message, ToolCall
from core.domain.request import requested
from core.domain.step import Usage
from core.formats.chat import parts_text
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format
from core.formats.imported import Imported, SessionBuilder
from core.formats.readers import codex_items
from core.formats.readers.codex_items import CALLS, OUTPUTS, Line, line_of
from core.formats.records import records
from core.formats.rows import canonical, canonical_parts
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.values import dict_of, dicts_of, int_of, paragraphs, text_of, usage_of

NAME = "codex-cli"
_TYPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CONTEXT = ("<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<permissions",
            "<INSTRUCTIONS>", "<turn_aborted>", "<collaboration_mode>", "<user_shell_command>", "<skill>",
            "<subagent_notification>")
_SUMMARISED = "Another language model started to solve this problem"
"""How the program introduces the summary that stands for the steps before a compaction."""


class _OpenStep(msgspec.Struct, kw_only=True):
    """The answer being gathered."""

    texts: list[str] = []
    thought: list[str] = []
    calls: list[ToolCall] = []
    results: list[CallResult] = []
    at: Any = None
    until: Any = None
    usage: Usage = Usage()
    is_counted: bool = False
    is_answered: bool = False
    has_led: bool = False
    """Whether its count stood before it."""

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
    return value.get("record_type") == "state" or (value.get("type") in CALLS + OUTPUTS and "call_id" in value)


def read(source: Source) -> Iterator[Imported]:
    """The one session of a file."""
    found = records(source, codex_items.outline)
    lines: Sequence[Line] = found.outlines
    meta = next((line.payload for line in lines if line.kind == "session_meta"), {})
    if not any(line.is_answer for line in lines):
        raise source.without_steps("answer of the model", found.warnings)
    name = text_of(meta.get("id")) or text_of(found.items[0].get("id"))
    builder = SessionBuilder(NAME, source.path.name, canonical_parts([name] if name else found.items), found.warnings)
    asked = next((t for n, line in enumerate(lines) if line.payload.get("role") == "user"
                  and not _is_context(t := parts_text(line_of(found.items[n]).payload.get("content")))
                  and requested(t)), "")
    model = next((text_of(line.payload.get("model")) for line in lines if line.kind == "turn_context"), "")
    builder.create(asked[:4000] or name, asked, task=name, model=model, parent=_forked_from(meta, source))
    instructions = meta.get("instructions") or dict_of(meta.get("base_instructions")).get("text")
    _RolloutReader(builder, lines, found.items).read(text_of(instructions))
    yield builder.build_without_end()


def _forked_from(meta: dict[str, Any], source: Source) -> str:
    """The session that `codex fork` or `codex exec fork` began this one from; its lines are not repeated here."""
    name = text_of(meta.get("forked_from_id"))
    return SessionBuilder(NAME, source.path.name, canonical([name])).session if name else ""


def _is_context(text: str) -> bool:
    return text.lstrip().startswith(_CONTEXT)


class _RolloutReader:
    """Walks the lines and closes a step where the model is asked again. `lines` are outlines: what is needed whole is
    decoded again from its record."""

    def __init__(self, builder: SessionBuilder, lines: Sequence[Line], records: Sequence[dict[str, Any]]) -> None:
        self._lines, self._records = lines, records
        self._conversation = Conversation(builder)
        self._counts = codex_items.own_counts(lines)
        self._is_counted = bool(self._counts) or codex_items.will_count(lines)
        self._leading = codex_items.leading_counts(lines, self._counts)
        self._ends = codex_items.ends_of(lines)
        self._results: dict[str, deque[int]] = {}
        for place, line in enumerate(lines):
            if line.kind == "response_item" and line.payload.get("type") in OUTPUTS:
                self._results.setdefault(text_of(line.payload.get("call_id")), deque()).append(place)
        self._calls = Counter(text_of(x.payload.get("call_id")) for x in lines if x.payload.get("type") in CALLS)
        self._open = _OpenStep()
        self._model = ""
        self._first = 0
        """How many messages of the context no compaction and no rollback touches."""
        self._turns: list[int] = []
        self._updates: set[int] = set()
        """Where in the context a person's words stand, and what the program adds before them."""

    def read(self, instructions: str) -> None:
        """All lines in order."""
        if instructions:
            self._conversation.add_message(Message(role="system", content=instructions))
            self._first = 1
        for place, line in enumerate(self._lines):
            if line.kind == "turn_context":
                self._model = text_of(line.payload.get("model"))
            elif line.kind == "response_item":
                self._item(line, place)
            elif line.kind == "compacted":
                self._compact(self._whole(place))
            elif line.event == "thread_rolled_back":
                self._roll_back(int_of(line.payload.get("num_turns")) or 0, line.at)
            elif place in self._counts:
                self._count(place)
        self._close()
        if orphans := sum(map(len, self._results.values())):
            self._conversation.builder.warnings.append(f"{orphans} results have no call before them and were left out.")

    def _whole(self, place: int) -> dict[str, Any]:
        return line_of(self._records[place]).payload

    def _result(self, place: int) -> CallResult:
        line = line_of(self._records[place])
        return codex_items.result(line, self._ends.get(text_of(line.payload.get("call_id")), {}))

    def _item(self, line: Line, place: int) -> None:
        kind = line.payload.get("type")
        if kind in OUTPUTS:
            self._open.is_answered = True
            if not line.payload.get("call_id") and self._results.get("") and not self._open.is_empty:
                self._open.results.append(self._result(self._results[""].popleft()))
        elif line.is_answer:
            if not self._open.has_led and (self._open.is_counted if self._is_counted else self._open.is_answered):
                self._close()
            self._open.at = self._open.at or line.at
            self._open.until = line.at
            self._take(self._whole(place))
        elif kind in ("message", None):
            self._words(line, parts_text(self._whole(place).get("content")))

    def _words(self, line: Line, text: str) -> None:
        role = line.payload.get("role")
        if not text:
            return
        self._close()
        place = len(self._conversation.refs)
        if role == "user" and not _is_context(text):
            self._turns.append(place)
            self._conversation.add_pictures(line.payload.get("content"))
            self._conversation.add_person_turn(text, line.at)
        else:
            self._updates.add(place)
            self._conversation.add_message(Message(role="user" if role == "user" else "system", content=text))

    def _take(self, item: dict[str, Any]) -> None:
        if item.get("type") in ("message", None):
            self._open.texts.append(parts_text(item.get("content")))
        elif item.get("type") == "reasoning":
            parts = dicts_of(item.get("summary")) + dicts_of(item.get("content"))
            self._open.thought.extend(t for p in parts if (t := text_of(p.get("text"))))
        else:
            self._open.calls.append(codex_items.call(item, len(self._open.calls) + 1))

    def _count(self, place: int) -> None:
        """A count before its answer begins a step; one after it ends the step, and the first is the step's own."""
        used = self._counts[place]
        usage = usage_of(used.get("input_tokens"), used.get("output_tokens"), used.get("cached_input_tokens"))
        if place in self._leading:
            self._close()
            self._open.usage, self._open.has_led = usage, True
        elif not (self._open.is_empty or self._open.is_counted or self._open.has_led):
            self._open.usage, self._open.is_counted = usage, True

    def _close(self) -> None:
        step, self._open = self._open, _OpenStep(texts=[], thought=[], calls=[], results=[])
        if step.is_empty:
            return
        step.results += [result for call in step.calls for result in self._results_of(call.id)]
        self._conversation.add_step(ForeignStep(thought=paragraphs(*step.texts), reasoning=paragraphs(*step.thought),
                                                calls=tuple(step.calls), results=step.results, usage=step.usage,
                                                started_at=step.at, ended_at=step.until, model=self._model))

    def _results_of(self, call: str) -> list[CallResult]:
        """What answers a call, wherever it stands; of a name that several calls have, each takes one."""
        waiting = self._results.get(call, deque())
        self._calls[call] -= 1
        count = len(waiting) if self._calls[call] <= 0 else min(1, len(waiting))
        return [self._result(waiting.popleft()) for _ in range(count)]

    def _compact(self, payload: dict[str, Any]) -> None:
        """Later contexts hold the line's history; older versions make one of a person's words and the summary."""
        self._close()
        self._open = _OpenStep(texts=[], thought=[], calls=[], results=[])
        before, turns, updates = self._conversation.refs, self._turns, self._updates
        whole = payload.get("replacement_history")
        history = [m for item in dicts_of(whole) if (m := codex_items.message(item))]
        summary = text_of(payload.get("message")) or next(
            (m.content for m in reversed(history) if m.content.startswith(_SUMMARISED)), "")
        self._conversation.add_summary(summary or "The context was compacted; its summary is encrypted.",
                                       enters_context=False)
        self._conversation.refs, self._turns, self._updates = before[: self._first], [], set()
        if isinstance(whole, list):
            for message in history:
                self._replay(message)
            return
        opening = [n for n in sorted(updates) if n < min(turns, default=0)]
        self._updates = {self._first + n for n in range(len(opening))}
        self._turns = [self._first + len(opening) + n for n in range(len(turns))]
        self._conversation.refs += [before[n] for n in (*opening, *turns)]
        self._replay(Message(role="user", content=summary or "(no summary available)"))

    def _replay(self, message: Message) -> None:
        """A message that a compaction leaves in the context."""
        place = len(self._conversation.refs)
        if message.role == "user" and not _is_context(message.content):
            self._turns.append(place)
        elif message.role in ("user", "system"):
            self._updates.add(place)
        self._conversation.add_message(message)

    def _roll_back(self, count: int, at: Any) -> None:
        """A person took back the last turns: later contexts hold neither them nor what was added just before."""
        self._close()
        if not count or not self._turns:
            return
        cut = self._turns[max(0, len(self._turns) - count)]
        while cut > self._turns[0] and cut - 1 in self._updates:
            cut -= 1
        self._turns = [n for n in self._turns if n < cut]
        self._updates = {n for n in self._updates if n < cut}
        self._conversation.take_back(cut)
        builder = self._conversation.builder
        builder.fact(NoteAdded(step=builder.steps, text=f"A person took back the last {count} turns: later contexts do "
                               "not hold them."), at=at)


FORMAT = Format(name=NAME, title="Codex CLI rollout", recognises=recognises, read=read, span=by_times)
