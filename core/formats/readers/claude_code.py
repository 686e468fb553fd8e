"""Claude Code session files, and its `stream-json` output: JSON Lines of records joined by `uuid` and `parentUuid`.

One answer of the model stands in several lines with the same `message.id`: they are one step and their usage is
counted once. Sidechains (subagents) become sessions of their own that name the step that called them. A summary
after a compaction is a SummaryAdded; what a person typed later than the first request is guidance. Where a person went
back to an earlier place (`parentUuid`), later contexts hold nothing of what came after it. The system prompt is not in
the file, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
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
from core.formats.reading_on import ItemsRead, read_on
from core.formats.records import Records, records
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


class _Outline(msgspec.Struct, frozen=True, kw_only=True):
    """What of a record decides where it belongs; `place` is its own in the file."""

    place: int
    kind: str
    session: str
    uuid: str
    parent: str
    agent: str
    is_sidechain: bool
    summary: str


class _Item(msgspec.Struct, kw_only=True):
    """A step being gathered, or words of a person, or a summary."""

    kind: str
    text: str = ""
    at: datetime | None = None
    message: str = ""
    parts: list[int] = []
    """The places of the records that hold a step's answer, or a person's words."""
    results: list[tuple[int, int]] = []
    """The places of the records that hold its results, and which of their results it is."""
    ended_at: datetime | None = None
    back_to: _Item | None = None
    """What a person went back to before typing this."""

    place: int = 0
    """Where it stands among the items."""

    @property
    def key(self) -> tuple[object, ...]:
        """What it does to the conversation rests on this, and on records that do not change."""
        back_to = self.back_to.place if self.back_to is not None else None
        return (self.kind, self.text, self.at, self.message, tuple(self.parts), tuple(self.results), self.ended_at,
                back_to)


def _is_record(value: Any) -> bool:
    """Whether a line is a message record of this program."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
        return False
    message = dict_of(value.get("message"))
    return message.get("role") == value["type"] and "content" in message and bool(
        value.keys() & {"uuid", "sessionId", "session_id"})


def read(source: Source) -> Iterator[Imported]:
    """The main session of a file, then one for each subagent."""
    found = records(source, _outline)
    outlines = [o for o in found.outlines if o.kind in _KINDS]
    main = [o for o in outlines if not o.is_sidechain]
    chains = _chains([o for o in outlines if o.is_sidechain])
    name = next((o.session for o in outlines if o.session), "")
    warnings = found.warnings
    made = 0
    steps: dict[str, int] = {}
    parent = SessionBuilder(NAME, source.path.name, _identity(name, "", found, main or outlines)).session
    if any(o.kind == "assistant" for o in main):
        session = _session_of(source, "", found)
        done = session.read(_identity(name, "", found, main), main, warnings, "", 0)
        steps, made, warnings = done.named, 1, []
        yield done.conversation.builder.build()
    for key, chain in chains.items():
        if any(o.kind == "assistant" for o in chain):
            session = _session_of(source, key, found)
            first = text_blocks(dict_of(found.items[chain[0].place].get("message")).get("content"))
            done = session.read(_identity(name, key, found, chain), chain, warnings, parent,
                                steps.get(key) or steps.get(first, 0))
            made, warnings = made + 1, []
            yield done.conversation.builder.build()
    if not made:
        raise source.without_steps("answer of the model", warnings)


def _outline(place: int, record: dict[str, Any]) -> _Outline:
    record = _streamed(record)
    kind = text_of(record.get("type"))
    return _Outline(place=place, kind=kind, session=text_of(record.get("sessionId")), uuid=text_of(record.get("uuid")),
                    parent=text_of(record.get("parentUuid")), agent=text_of(record.get("agentId")),
                    is_sidechain=bool(record.get("isSidechain")),
                    summary=text_of(record.get("summary")) if kind == "summary" else "")


def _streamed(record: dict[str, Any]) -> dict[str, Any]:
    """A record of the program's `stream-json` output in the names that session files use."""
    if "session_id" not in record or "sessionId" in record:
        return record
    caller = text_of(record.get("parent_tool_use_id"))
    return {**record, "sessionId": record["session_id"], "isSidechain": bool(caller), "agentId": caller}


def _identity(session: str, chain: str, found: Records, outlines: Sequence[_Outline]) -> bytes:
    return canonical([session, chain] if session else [chain, *(_streamed(found.items[o.place]) for o in outlines[:1])])


def _chains(outlines: Sequence[_Outline]) -> dict[str, list[_Outline]]:
    """The records of each subagent: by its id where it has one, else by the root of its chain."""
    root: dict[str, str] = {}
    chains: dict[str, list[_Outline]] = {}
    for outline in outlines:
        key = outline.agent or root.get(outline.parent) or outline.uuid or "sidechain"
        root[outline.uuid] = key
        chains.setdefault(key, []).append(outline)
    return chains


def _end(builder: SessionBuilder, result: dict[str, Any]) -> None:
    """`stream-json` ends with a result that has the whole cost; session files have no end."""
    builder.totals({"total_cost_usd": float_of(result.get("total_cost_usd"))})
    kind = text_of(result.get("subtype"))
    if not kind:
        builder.end("finished", "end_not_recorded")
    else:
        builder.end("finished" if kind == "success" and result.get("is_error") is not True else "failed", kind)


def _session_of(source: Source, chain: str, found: Records) -> _SessionReader:
    """Who reads a session: of a file that only grew the one of the reading before, who has gathered what was there."""
    if source.held is None:
        return _SessionReader(source, chain, found.items)
    reader: _SessionReader = source.held.setdefault(("gathered", chain), _SessionReader(source, chain, found.items))
    reader.take(source, found.items)
    return reader


class _SessionReader:
    """Reads one session out of some of a file's records; each is decoded where it is needed and let go again."""

    def __init__(self, source: Source, chain: str, records: Sequence[dict[str, Any]]) -> None:
        self._chain = chain
        self._gathered: list[_Outline] = []
        self.take(source, records)
        self._begin_anew()

    def take(self, source: Source, records: Sequence[dict[str, Any]]) -> None:
        """Read this from now on."""
        self._source, self._records = source, records

    def _begin_anew(self) -> None:
        self._gathered = []
        self._items: list[_Item] = []
        self._steps: dict[str, _Item] = {}
        self._calls: dict[str, _Item] = {}
        self._places: dict[str, _Item] = {}
        self._last: dict[str, int] = {}
        """The place of the last item of each kind."""
        self._warnings: list[str] = []
        self._model = ""

    def read(self, identity: bytes, outlines: Sequence[_Outline], warnings: Sequence[str], parent: str,
             parent_step: int) -> ItemsRead:
        """All facts; `named` are the steps that called subagents, by the subagent's id and by its prompt."""
        self._gather(outlines)
        asked = next((i.text for i in self._items if i.kind == "person" and requested(i.text)), "")
        titled = next((o.summary for o in outlines if o.kind == "summary"), "")
        name = next((o.session for o in outlines if o.session), "")

        def begin() -> Conversation:
            builder = SessionBuilder(NAME, self._source.path.name, identity, [*warnings, *self._warnings])
            builder.create(titled or asked[:4000], asked, task=name, model=self._model, parent=parent,
                           parent_step=parent_step, is_call=bool(parent))
            return Conversation(builder)

        begun = (identity, titled, asked, name, self._model, parent, parent_step)
        done = read_on(self._source.held, ("read", self._chain), begun, [i.key for i in self._items], begin, self._add)
        last = next((o.place for o in reversed(outlines) if o.kind == "result"), None)
        _end(done.conversation.builder, {} if last is None else self._records[last])
        return done

    def _add(self, done: ItemsRead, place: int) -> None:
        """The conversation goes on with an item."""
        item, conversation = self._items[place], done.conversation
        if item.back_to is not None:
            conversation.take_back(done.lengths[item.back_to.place])
            conversation.builder.fact(NoteAdded(step=conversation.builder.steps, text=_WENT_BACK), at=item.at)
        if item.kind == "step":
            self._add_step(conversation, item, done.named)
        elif item.kind == "person":
            conversation.add_pictures([b for part in item.parts for b in self._typed(part)])
            conversation.add_person_turn(item.text, item.at)
        elif item.kind == "summary":
            conversation.add_summary(item.text)
        else:
            conversation.add_message(Message(role="user", content=item.text))
        done.lengths.append(len(conversation.refs))

    def _typed(self, place: int) -> list[dict[str, Any]]:
        """The blocks of a person's message, without results that came in the same record."""
        return [b for b in blocks_of(dict_of(self._records[place].get("message")).get("content"))
                if b.get("type") != "tool_result"]

    def _add_step(self, conversation: Conversation, item: _Item, called: dict[str, int]) -> None:
        held = [self._records[place] for place in item.parts]
        content = [b for record in held for b in blocks_of(dict_of(record.get("message")).get("content"))]
        results = [self._result(*where) for where in item.results]
        conversation.add_step(_step(item, held[-1], content, results))
        step = conversation.builder.steps
        for block in content:
            if prompt := text_of(dict_of(block.get("input")).get("prompt")):
                called.setdefault(prompt, step)
                called.setdefault(text_of(block.get("id")), step)
        called |= {str(agent): step for result in results if (agent := result.data.get("agentId"))}

    def _result(self, place: int, number: int) -> CallResult:
        record = self._records[place]
        block = results_of(dict_of(record.get("message")).get("content"))[number]
        return _result(block, record, time_of(record.get("timestamp")))

    # ---- gathering ---------------------------------------------------------------------------------

    def _gather(self, outlines: Sequence[_Outline]) -> None:
        """What the records are, in order: nothing of long texts is held but what people wrote."""
        if outlines[: len(self._gathered)] != self._gathered:
            self._begin_anew()
        items, places, last = self._items, self._places, self._last
        for outline in outlines[len(self._gathered) :]:
            record = self._records[outline.place]
            message, count = dict_of(record.get("message")), len(items)
            if outline.kind == "assistant":
                self._take_answer(outline, record, message)
            elif outline.kind == "user":
                self._take_user(outline, record, message)
            elif text := _queued(dict_of(record.get("attachment"))):
                items.append(_Item(kind="person", text=text, at=time_of(record.get("timestamp"))))
            if len(items) > count:
                if outline.kind == "user":
                    items[-1].back_to = _left(last, places.get(outline.parent))
                items[-1].place = last[items[-1].kind] = count
            if items:
                places.setdefault(outline.uuid, self._item_of(outline, message))
        self._gathered = list(outlines)

    def _item_of(self, outline: _Outline, message: dict[str, Any]) -> _Item:
        """The item that a record belongs to: a result to the step that it answers, others to the last."""
        answered = [step for b in results_of(message.get("content"))
                    if (step := self._calls.get(text_of(b.get("tool_use_id"))))] if outline.kind == "user" else []
        return answered[-1] if answered else self._items[-1]

    def _take_answer(self, outline: _Outline, record: dict[str, Any], message: dict[str, Any]) -> None:
        name = text_of(message.get("id")) or outline.uuid
        at = time_of(record.get("timestamp"))
        item = self._steps.get(name) if name else None
        if item is None:
            item = _Item(kind="step", message=name, at=at, parts=[], results=[])
            self._items.append(item)
            self._steps[name] = item
        model = text_of(message.get("model"))
        if not self._model and model and model[0] != "<":
            self._model = model
        item.parts.append(outline.place)
        item.ended_at = at
        for call in calls_of(message.get("content")):
            self._calls[call.id] = item

    def _take_user(self, outline: _Outline, record: dict[str, Any], message: dict[str, Any]) -> None:
        content = message.get("content")
        for number, block in enumerate(results_of(content)):
            step = self._calls.get(text_of(block.get("tool_use_id")))
            if step is None:
                name = text_of(block.get("tool_use_id")) or "?"
                self._warnings.append(f"The result of call {name} has no call.")
                step = next((i for i in reversed(self._items) if i.kind == "step"), None)
            if step is not None:
                step.results.append((outline.place, number))
        if not (text := text_blocks(content)):
            return
        is_added = record.get("isMeta") or not requested(text)
        kind = "context" if is_added or (text.startswith(_NOT_TYPED) and "<command-" not in text) else "person"
        if record.get("isCompactSummary"):
            self._items.append(_Item(kind="summary", text=text))
        else:
            self._items.append(_Item(kind=kind, text=text, at=time_of(record.get("timestamp")), parts=[outline.place]))


def _left(last: Mapping[str, int], origin: _Item | None) -> _Item | None:
    """The origin, where answers were left behind after it; a summary in between hides what the context was there.
    `last` has the place of the last item of each kind."""
    if origin is None or last.get("step", -1) <= origin.place or last.get("summary", -1) > origin.place:
        return None
    return origin


def _queued(attachment: dict[str, Any]) -> str:
    """What a person typed while the agent worked."""
    return text_blocks(attachment.get("prompt")) if attachment.get("type") == "queued_command" else ""


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


def _step(item: _Item, record: dict[str, Any], content: list[dict[str, Any]], results: list[CallResult]) -> ForeignStep:
    """The step of an item; `record` is the last that holds a part of its answer."""
    message = dict_of(record.get("message"))
    usage = dict_of(message.get("usage"))
    text = text_blocks(content)
    if record.get("isApiErrorMessage") is True:
        results.append(CallResult(text=text, error=ActionError(kind="api_error", message=text[:500])))
    used = usage_of(input_tokens(usage), usage.get("output_tokens"), usage.get("cache_read_input_tokens"),
                    record.get("costUSD"))
    return ForeignStep(thought=text, reasoning=thinking(content), calls=calls_of(content), results=results,
                       usage=used, started_at=item.at, ended_at=item.ended_at, model=text_of(message.get("model")),
                       finish_reason=text_of(message.get("stop_reason")), item=item.message)


FORMAT = Format(name=NAME, title="Claude Code session", recognises=any_sample(_is_record), read=read, span=by_times)
