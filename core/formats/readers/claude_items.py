"""The records of Claude Code, in order: which answers, words of people and summaries they are parts of.

Nothing of long texts is held but what people wrote: an item names the places of its records in the file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, overload

import msgspec

from core.domain.request import requested
from core.formats.blocks import calls_of, results_of, text_blocks
from core.formats.values import dict_of, text_of, time_of

_NEVER_TYPED = ("<task-notification>", "<agent-notification>", "<bash-stdout>", "<bash-stderr>")
"""How a message begins that is the program's to its end, however long it is."""

_NOT_TYPED = ("<local-command", "Caveat: ", "<system-reminder>", "Operation stopped by hook: ")


class ClaudeOutline(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What of a record decides where it belongs; `place` is its own in the file. Of millions of small records most of
    what is held is this: texts that are the same are one. The `parent` of a summary is the record up to which it goes.
    """

    place: int
    kind: str
    session: str
    uuid: str
    parent: str
    agent: str
    is_sidechain: bool
    summary: str


class ClaudeItem(msgspec.Struct, kw_only=True, gc=False):
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
    back_to: int | None = None
    """The place of what a person went back to before typing this."""

    place: int = 0
    """Where it stands among the items."""

    @property
    def key(self) -> tuple[object, ...]:
        """What it does to the conversation rests on this, and on records that do not change."""
        return (self.kind, self.text, self.at, self.message, tuple(self.parts), tuple(self.results), self.ended_at,
                self.back_to)


_READ = ClaudeItem(kind="")


OUTLINED = ("type", "sessionId", "session_id", "uuid", "leafUuid", "parentUuid", "agentId", "isSidechain",
            "parent_tool_use_id", "parentToolUseID", "data", "summary")
"""The members of a record that its outline rests on."""


def outline_of(place: int, record: dict[str, Any]) -> ClaudeOutline:
    """What is held of a record."""
    record = streamed(own_record(record))
    kind = text_of(record.get("type"))
    return ClaudeOutline(
        place=place, kind=_one(kind), session=_one(text_of(record.get("sessionId"))),
        uuid=_one(text_of(record.get("uuid"))),
        parent=_one(text_of(record.get("leafUuid" if kind == "summary" else "parentUuid"))),
        agent=_one(text_of(record.get("agentId"))),
        is_sidechain=bool(record.get("isSidechain")),
        summary=text_of(record.get("summary")) if kind == "summary" else "")


@lru_cache(maxsize=64)
def _one(text: str) -> str:
    """The text that was there before, where it is the same: records name their session and the record before."""
    return text


class OwnRecords(Sequence[dict[str, Any]]):
    """A file's records, each as whose it is has it."""

    def __init__(self, records: Sequence[dict[str, Any]]) -> None:
        self._records = records

    def __len__(self) -> int:
        return len(self._records)

    @overload
    def __getitem__(self, place: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, place: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, place: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        return own_record(self._records[place]) if isinstance(place, int) else [*map(own_record, self._records[place])]


def own_record(record: dict[str, Any]) -> dict[str, Any]:
    """The record; where it tells the caller how far a subagent is, the subagent's own record in it."""
    data = dict_of(record.get("data"))
    if record.get("type") != "progress" or data.get("type") != "agent_progress":
        return record
    return {**dict_of(data.get("message")), "sessionId": record.get("sessionId"), "isSidechain": True,
            "agentId": data.get("agentId") or record.get("parentToolUseID")}


def streamed(record: dict[str, Any]) -> dict[str, Any]:
    """A record of the program's `stream-json` output in the names that session files use."""
    if "session_id" not in record or "sessionId" in record:
        return record
    caller = text_of(record.get("parent_tool_use_id"))
    return {**record, "sessionId": record["session_id"], "isSidechain": bool(caller), "agentId": caller}


def chains_of(outlines: Sequence[ClaudeOutline]) -> dict[str, list[ClaudeOutline]]:
    """The records of each subagent: by its id where it has one, else by the root of its chain."""
    root: dict[str, str] = {}
    chains: dict[str, list[ClaudeOutline]] = {}
    for outline in outlines:
        if outline.uuid and outline.uuid in root:
            continue  # written twice: by itself, and as the caller's progress
        key = outline.agent or root.get(outline.parent) or outline.uuid or "sidechain"
        root[outline.uuid] = key
        chains.setdefault(key, []).append(outline)
    return chains


class Gathering:
    """What the records of one session are, in order. Of a session that only grew, what was gathered stays."""

    def __init__(self) -> None:
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._taken: list[ClaudeOutline] = []
        self.items: list[ClaudeItem] = []
        self.warnings: list[str] = []
        self.model = ""
        self._steps: dict[str, ClaudeItem] = {}
        self._calls: dict[str, ClaudeItem] = {}
        self._places: dict[str, ClaudeItem] = {}
        self._queue = TypedMeanwhile()
        self._last: dict[str, int] = {}
        """The place of the last item of each kind."""

    def go_on(self, outlines: Sequence[ClaudeOutline], records: Sequence[dict[str, Any]]) -> None:
        """Take what is new of a session's records, or all of them where they are others than before."""
        if outlines[: len(self._taken)] != self._taken:
            self._begin_anew()
        items, places, last = self.items, self._places, self._last
        for outline in outlines[len(self._taken) :]:
            record = records[outline.place]
            message, count = dict_of(record.get("message")), len(items)
            if outline.kind == "assistant":
                self._take_answer(outline, record, message)
            elif outline.kind == "user":
                self._take_user(outline, record, message)
            elif text := self._queue.seen(record):
                items.append(ClaudeItem(kind=_kind(text), text=text, at=time_of(record.get("timestamp"))))
            if len(items) > count:
                if outline.kind == "user":
                    items[-1].back_to = _left(last, places.get(outline.parent))
                items[-1].place = last[items[-1].kind] = count
            if items:
                places.setdefault(outline.uuid, self._item_of(outline, message))
        self._taken = list(outlines)

    def let_go(self, place: int | None = None) -> None:
        """Hold no item's content any more, or nothing that only later records would need: there will be none."""
        if place is not None:
            self.items[place] = _READ
        else:
            self._taken, self._steps, self._calls, self._places = [], {}, {}, {}

    def _item_of(self, outline: ClaudeOutline, message: dict[str, Any]) -> ClaudeItem:
        """The item that a record belongs to: a result to the step that it answers, others to the last."""
        answered = [step for b in results_of(message.get("content"))
                    if (step := self._calls.get(text_of(b.get("tool_use_id"))))] if outline.kind == "user" else []
        return answered[-1] if answered else self.items[-1]

    def _take_answer(self, outline: ClaudeOutline, record: dict[str, Any], message: dict[str, Any]) -> None:
        name = text_of(message.get("id")) or outline.uuid
        at = time_of(record.get("timestamp"))
        item = self._steps.get(name) if name else None
        if item is None:
            item = ClaudeItem(kind="step", message=name, at=at, parts=[], results=[])
            self.items.append(item)
            self._steps[name] = item
        model = text_of(message.get("model"))
        if not self.model and model and model[0] != "<":
            self.model = model
        item.parts.append(outline.place)
        item.ended_at = at
        for call in calls_of(message.get("content")):
            self._calls[call.id] = item

    def _take_user(self, outline: ClaudeOutline, record: dict[str, Any], message: dict[str, Any]) -> None:
        content = message.get("content")
        for number, block in enumerate(results_of(content)):
            step = self._calls.get(text_of(block.get("tool_use_id")))
            if step is None:
                name = text_of(block.get("tool_use_id")) or "?"
                self.warnings.append(f"The result of call {name} has no call.")
                step = next((i for i in reversed(self.items) if i.kind == "step"), None)
            if step is not None:
                step.results.append((outline.place, number))
        if not (text := text_blocks(content)):
            return
        kind = "context" if record.get("isMeta") else _kind(text)
        if record.get("isCompactSummary"):
            self.items.append(ClaudeItem(kind="summary", text=text))
        else:
            at = time_of(record.get("timestamp"))
            self.items.append(ClaudeItem(kind=kind, text=text, at=at, parts=[outline.place]))


def _left(last: Mapping[str, int], origin: ClaudeItem | None) -> int | None:
    """The origin's place, where answers were left behind after it; a summary in between hides what the context was.
    `last` has the place of the last item of each kind."""
    if origin is None or last.get("step", -1) <= origin.place or last.get("summary", -1) > origin.place:
        return None
    return origin.place


def _kind(text: str) -> str:
    """Whose words a message in the person's name are: theirs, or what the program adds."""
    is_added = text.startswith(_NEVER_TYPED) or not requested(text) or (
        text.startswith(_NOT_TYPED) and "<command-" not in text)
    return "context" if is_added else "person"


class TypedMeanwhile:
    """What a person typed while the agent worked. It waits in a queue until the agent sees it (`remove`), it becomes a
    message of its own (`dequeue`), or the person takes it back (`popAll`). Newer versions of the program write down too
    that the agent saw it, as an attachment: once is enough."""

    def __init__(self) -> None:
        self._waiting: list[str] = []
        self._seen: list[str] = []
        """What the agent saw out of the queue, and no attachment holds so far."""

    def seen(self, record: dict[str, Any]) -> str:
        """The words that the agent sees from this record on; "" for none."""
        attachment = dict_of(record.get("attachment"))
        if attachment.get("type") == "queued_command":
            return self._attached(text_blocks(attachment.get("prompt")))
        return self._moved(text_of(record.get("operation")), record)

    def _attached(self, text: str) -> str:
        if text in self._seen:
            self._seen.remove(text)
            return ""
        if text in self._waiting:
            self._waiting[self._waiting.index(text)] = ""
        return text

    def _moved(self, operation: str, record: dict[str, Any]) -> str:
        if operation == "enqueue":
            self._waiting.append(text_blocks(record.get("content")))
        elif operation == "popAll":
            self._waiting.clear()
        elif operation in ("dequeue", "remove") and self._waiting:
            text = self._waiting.pop(0)
            self._seen += [text] if operation == "remove" else []
            return text if operation == "remove" else ""
        return ""
