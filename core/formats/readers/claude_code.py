"""Claude Code session files, and its `stream-json` output: JSON Lines of records joined by `uuid` and `parentUuid`.

One answer of the model stands in several lines with the same `message.id`: they are one step and their usage is
counted once. Sidechains (subagents), in the file, in its progress or in files beside it, become sessions of their own
that name the step that called them (`claude_callers`). A summary after a compaction is a SummaryAdded; what a person
typed later than the first request is guidance. Where a person went back to an earlier place (`parentUuid`), later
contexts hold nothing of what came after it. The system prompt is not in the file, so contexts are approximate.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from core.domain.events import NoteAdded
from core.domain.message import Message
from core.domain.request import is_request
from core.domain.step import ActionError
from core.formats.blocks import actions_of, blocks_of, calls_of, input_tokens, results_of, text_blocks, thinking
from core.formats.conversation import CallResult, Conversation, ForeignStep
from core.formats.format import Format, any_sample
from core.formats.imported import Imported, SessionBuilder
from core.formats.pictures import pictures_in
from core.formats.readers.claude_callers import Caller, caller_of, names_in_call, names_in_result
from core.formats.readers.claude_edits import file_edit
from core.formats.readers.claude_items import (
    OUTLINED,
    ClaudeItem,
    ClaudeOutline,
    Gathering,
    OwnRecords,
    chains_of,
    outline_of,
    streamed,
)
from core.formats.reading_on import ItemsRead, read_on
from core.formats.records import records
from core.formats.rows import canonical
from core.formats.session_span import by_times
from core.formats.source import Source
from core.formats.subagent_files import notes_beside
from core.formats.values import dict_of, float_of, int_of, text_of, time_of, usage_of

NAME = "claude-code"
_KINDS = ("user", "assistant", "system", "summary", "file-history-snapshot", "queue-operation", "progress",
          "attachment", "result")
_WENT_BACK = "A person went back to an earlier place: later contexts hold nothing of what came after it."
_EXIT = re.compile(r"(?:Error: )?Exit code (\d{1,5})\b")


def _is_record(value: Any) -> bool:
    """Whether a line is a message record of this program."""
    if not isinstance(value, dict) or value.get("type") not in ("user", "assistant"):
        return False
    message = dict_of(value.get("message"))
    return message.get("role") == value["type"] and "content" in message and bool(
        value.keys() & {"uuid", "sessionId", "session_id"})


def read(source: Source) -> Iterator[Imported]:
    """The main session of a file, then one for each subagent."""
    found = records(source, outline_of, OUTLINED)
    outlines = [o for o in found.outlines if o.kind in _KINDS]
    main = [o for o in outlines if not o.is_sidechain]
    left = [("", main), *chains_of([o for o in outlines if o.is_sidechain]).items()][::-1]
    name = next((o.session for o in outlines if o.session), "")
    warnings, items = found.warnings, OwnRecords(found.items)
    made = 0
    steps: dict[str, int] = {}
    is_alone, begun = not any(o.kind == "assistant" for o in main), (main or outlines)[:1]
    del found, outlines, main  # of a million small records they are half of the memory
    while left:
        key, chain = left.pop()
        if any(o.kind == "assistant" for o in chain):
            first = _first(items, chain) if key else ""
            caller = (caller_of(source.path, name, key, first) if key and is_alone
                      else Caller("", steps.get(key) or steps.get(first, 0) if key else 0))
            parent = SessionBuilder(NAME, source.name, _identity(name, caller.agent, items, begun)).session
            session, identity = _session_of(source, key, items), _identity(name, key, items, chain)
            session.gather(chain)
            del chain
            done = session.read(identity, warnings, parent if key else "", caller.step)
            steps, made, warnings = steps if key else done.named, made + 1, []
            yield done.conversation.builder.build()
    if not made:
        raise source.without_steps("answer of the model", warnings)


def _first(items: Sequence[dict[str, Any]], chain: Sequence[ClaudeOutline]) -> str:
    """The words that a subagent was called with."""
    return text_blocks(dict_of(items[chain[0].place].get("message")).get("content"))


def _identity(session: str, chain: str, items: Sequence[dict[str, Any]], outlines: Sequence[ClaudeOutline]) -> bytes:
    return canonical([session, chain] if session else [chain, *(streamed(items[o.place]) for o in outlines[:1])])


def _end(builder: SessionBuilder, result: dict[str, Any]) -> None:
    """`stream-json` ends with a result that has the whole cost; session files have no end."""
    builder.totals({"total_cost_usd": float_of(result.get("total_cost_usd"))})
    kind = text_of(result.get("subtype"))
    if not kind:
        builder.end("finished", "end_not_recorded")
    else:
        builder.end("finished" if kind == "success" and result.get("is_error") is not True else "failed", kind)


def _session_of(source: Source, chain: str, items: Sequence[dict[str, Any]]) -> _SessionReader:
    """Who reads a session: of a file that only grew the one of the reading before, who has gathered what was there."""
    if source.held is None:
        return _SessionReader(source, chain, items)
    reader: _SessionReader = source.held.setdefault(("gathered", chain), _SessionReader(source, chain, items))
    reader.take(source, items)
    return reader


def _title(outlines: Sequence[ClaudeOutline]) -> str:
    """What the program calls this session. It writes the names of earlier sessions of the folder into a file, too."""
    named = {o.parent: o.summary for o in reversed(outlines) if o.kind == "summary"}
    return next((named[o.uuid] for o in outlines if o.uuid in named), "") if named else ""


class _SessionReader:
    """Reads one session out of some of a file's records; each is decoded where it is needed and let go again."""

    def __init__(self, source: Source, chain: str, records: Sequence[dict[str, Any]]) -> None:
        self._chain = chain
        self._gathering = Gathering()
        self._titled, self._name = "", ""
        self._last: int | None = None
        """The place of the last result of the whole run."""
        self.take(source, records)

    def take(self, source: Source, records: Sequence[dict[str, Any]]) -> None:
        """Read this from now on."""
        self._source, self._records = source, records

    def gather(self, outlines: Sequence[ClaudeOutline]) -> None:
        """These are the session's records."""
        self._gathering.go_on(outlines, self._records)
        self._titled = _title(outlines)
        self._name = next((o.session for o in outlines if o.session), "")
        self._last = next((o.place for o in reversed(outlines) if o.kind == "result"), None)
        if self._source.held is None:
            self._gathering.let_go()

    def read(self, identity: bytes, warnings: Sequence[str], parent: str, parent_step: int) -> ItemsRead:
        """All facts; `named` are the steps that called subagents, by the subagent's id and by its prompt."""
        gathered = self._gathering
        asked = next((i.text for i in gathered.items if i.kind == "person" and is_request(i.text)), "")

        def begin() -> Conversation:
            builder = SessionBuilder(NAME, self._source.name, identity, [*warnings, *gathered.warnings])
            builder.create(self._titled or asked[:4000], asked, task=self._name, model=gathered.model, parent=parent,
                           parent_step=parent_step, is_call=bool(parent))
            return Conversation(builder)

        begun = (identity, self._titled, asked, self._name, gathered.model, parent, parent_step)
        keys = gathered.items if self._source.held is None else [i.key for i in gathered.items]
        done = read_on(self._source.held, ("read", self._chain), begun, keys, begin, self._add)
        _end(done.conversation.builder, {} if self._last is None else self._records[self._last])
        return done

    def _add(self, done: ItemsRead, place: int) -> None:
        """The conversation goes on with an item."""
        item, conversation = self._gathering.items[place], done.conversation
        if item.back_to is not None:
            conversation.take_back(done.lengths[item.back_to])
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
        if self._source.held is None:
            self._gathering.let_go(place)

    def _typed(self, place: int) -> list[dict[str, Any]]:
        """The blocks of a person's message, without results that came in the same record."""
        return [b for b in blocks_of(dict_of(self._records[place].get("message")).get("content"))
                if b.get("type") != "tool_result"]

    def _add_step(self, conversation: Conversation, item: ClaudeItem, called: dict[str, int]) -> None:
        held = [self._records[place] for place in item.parts]
        content = [b for record in held for b in blocks_of(dict_of(record.get("message")).get("content"))]
        results = [self._result(*where) for where in item.results]
        conversation.add_step(_step(item, held[-1], content, results))
        step = conversation.builder.steps
        for name in names_in_call(content):
            called.setdefault(name, step)
        called |= {name: step for result in results for name in names_in_result(result.data)}

    def _result(self, place: int, number: int) -> CallResult:
        record = self._records[place]
        block = results_of(dict_of(record.get("message")).get("content"))[number]
        return _result(block, record, time_of(record.get("timestamp")))

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
        k: v for k, v in result.items()
        if isinstance(v, str | int | float | bool) and len(str(v)) <= 200 and not _is_known(k, v, text)}
    return CallResult(text=text, call=text_of(block.get("tool_use_id")), error=error, exit_code=code, data=data,
                      status="killed" if result.get("interrupted") is True else "finished", ended_at=at,
                      edit=file_edit(result) if error is None else None, pictures=pictures_in(block.get("content")))


def _is_known(key: str, value: object, output: str) -> bool:
    """Whether a field of a result says nothing beside call, output and error: a switch that is off, no text or one
    that is all of the output, what the output has of stdout, an interruption (which is the error), the path that the
    call names, that a text was read or a file written."""
    text = value.strip() if isinstance(value, str) else value
    return not text or key in ("stdout", "interrupted", "filePath", "type") or text == output.strip()


def _step(item: ClaudeItem, record: dict[str, Any], content: list[dict[str, Any]], results: list[CallResult]
          ) -> ForeignStep:
    """The step of an item; `record` is the last that holds a part of its answer."""
    message = dict_of(record.get("message"))
    usage = dict_of(message.get("usage"))
    text = text_blocks(content)
    if record.get("isApiErrorMessage") is True:
        results.append(CallResult(text=text, error=ActionError(kind="api_error", message=text[:500])))
    used = usage_of(input_tokens(usage), usage.get("output_tokens"), usage.get("cache_read_input_tokens"),
                    record.get("costUSD"))
    calls = calls_of(content)
    return ForeignStep(thought=text, reasoning=thinking(content), calls=calls, results=results,
                       actions=actions_of(content, calls),
                       usage=used, started_at=item.at, ended_at=item.ended_at, model=text_of(message.get("model")),
                       finish_reason=text_of(message.get("stop_reason")), item=item.message)


FORMAT = Format(name=NAME, title="Claude Code session", recognises=any_sample(_is_record), read=read, span=by_times,
                companions=notes_beside)
