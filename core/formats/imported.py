"""A session read from a file: complete event bodies and the payloads they refer to, ready for a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime

import msgspec

from core.domain import events as e
from core.domain.blob import blob_hash
from core.domain.bounds import event_text
from core.domain.changed_lines import LineCount
from core.domain.context import MOST_PARTS, ContextDelta, MessageRef, PreviousRange, delta_between
from core.domain.deed import deed_of
from core.domain.errors import InvalidInput
from core.domain.head import make_head
from core.domain.message import Message, encode_message
from core.domain.request import headline, plain_words
from core.domain.step import StepBody, Usage, encode_body
from core.domain.task import AgentSettings, ModelSettings, Task
from core.domain.tools import ToolTable
from core.domain.verdict import Author
from core.formats.call_edits import CallEdits
from core.formats.edits import FileEdit
from core.formats.name_table import NameTable
from core.formats.spools import BlobSelection, BlobSpool, ByteSpool
from core.formats.tools import table_of
from core.formats.windows import is_refused, open_file
from core.protocol.codec import check_event

_LARGEST = 16 * 1024 * 1024
"""Most characters of a file's content."""

_KEY_BYTES = 8
"""Bytes of the hash by which what a fact says is known."""

_ITEM = 100
"""A message's id of more characters is known by its hash."""


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """One session of a file. `bodies` are all its events in order; every payload they name is in `blobs`."""

    session: str
    source: str
    format: str
    title: str
    bodies: Sequence[bytes]
    blobs: Mapping[str, bytes]
    steps: int
    errors: int
    warnings: tuple[str, ...] = ()
    size: int = 0
    """Bytes of all payloads, where it is known."""
    is_named: bool = True
    """Whether the file names the session. Where only its content does, a file that grows changes its identity."""


class SessionBuilder:
    """Collects a foreign session's facts. Identities come from the content, so a second import is the same one."""

    def __init__(self, format: str, source: str, content: bytes | Iterator[bytes], warnings: Iterable[str] = (), *,
                 is_named: bool = True) -> None:
        """`content` gives the session its identity: what the format names it by, else the session's own bytes.

        A name survives the growth and the conversion of a file; bytes are the last resort.
        """
        self.format = format
        self.source = source
        self.is_named = is_named
        self.session = f"{format}-{blob_hash(content)[:24]}"
        self.author = Author(kind="import", name=format)
        self.warnings = list(warnings)
        self.blobs = BlobSpool()
        self._now = datetime.now(UTC)
        self._bodies = ByteSpool()
        self._named = BlobSelection(self.blobs)
        self._seen = NameTable(_KEY_BYTES)
        self._again: Counter[int] = Counter()
        """What facts said, and how often more than once, by its place among that."""
        self._context: Sequence[MessageRef] = ()
        self._length = 0
        self._title = ""
        self.steps = 0
        self.errors = 0
        self.changed: set[tuple[int, str]] = set()
        """The changes of files, by step and path, that the format tells of itself."""
        self._tools = table_of(format)
        self._edits = CallEdits(self._tools)

    def copy(self, refs: Sequence[MessageRef], copied: Sequence[MessageRef]) -> SessionBuilder:
        """One that goes on from here by itself; what this one gave stays. `copied` is what its owner goes on with in
        the place of `refs`, where that is the context that may only have grown."""
        made = copy(self)
        made.warnings, made.changed = list(self.warnings), set(self.changed)
        made._seen, made._again = NameTable(_KEY_BYTES, self._seen), Counter(self._again)
        made._edits = self._edits.copy()
        made._context = copied if self._context is refs else self._context
        made._bodies, made.blobs = ByteSpool(self._bodies), BlobSpool(self.blobs)
        made._named = self._named.copy(made.blobs)
        return made

    def create(self, title: str, description: str, *, task: str = "", model: str = "", parent: str = "",
               parent_step: int = 0, is_call: bool = False) -> None:
        """The first fact. What the file does not say (hosts, limits) stays empty.

        `parent` names the session, and `parent_step` its step, that this one is a continuation of, or (`is_call`) that
        called it as a subagent.
        """
        self._title = plain_words(headline(title) or title)[:200] or self.session
        if (shown := event_text(description)) != description:
            self.warnings.append(f"The task's description is shown up to its character {len(shown):,}.")
        asked = Task(id=task or self.session, title=self._title, description=shown, hosts=())
        agent = AgentSettings(model=ModelSettings(kind="unknown", name=model))
        self.fact(e.SessionCreated(task=asked, agent=agent, origin=self.format, source=self.source))
        if parent:
            self.fact(e.Branched(parent=parent, step=parent_step, is_call=is_call))

    def fact(self, fact: e.Fact, author: str = "", at: datetime | None = None) -> None:
        """One more fact, in order. `author` names who brought it about, if not the importer; `at` when it was: an event
        whose time is not in the file bears that of the import.

        It is written at once: of a long run neither the values nor their bytes are held. Its id comes from what
        it says, so that a file that has grown gives its old events their old ids.
        Raises InvalidInput where no session can hold it.
        """
        by = Author(kind="import", name=author) if author else self.author
        self._named.want(e.blobs_of(fact))
        try:
            event = e.make_event(fact, by, at=at or self._now, id=f"{self.session}-{self._key(fact)}")
            self._bodies.put(check_event(e.encode_event(event)))
        except InvalidInput as error:
            why = error.params.get("why", error.sentence)
            raise InvalidInput(error.code, f"{self.source} tells what no session can hold: {why}", path=self.source,
                               **error.params) from error

    def _key(self, fact: e.Fact) -> str:
        """What identifies a fact within its session: a step's number, or the content and how often it was there."""
        if isinstance(fact, e.StepAdded):
            return f"step-{fact.head.number}"
        if isinstance(fact, e.SessionCreated):
            return "created"
        name = blob_hash(msgspec.json.encode(fact))[: 2 * _KEY_BYTES]
        count = len(self._seen)
        if (place := self._seen.add(bytes.fromhex(name))) < count:
            self._again[place] += 1
        return f"{name}-{self._again[place] + 1}" if place < count else f"{name}-1"

    def blob(self, data: bytes) -> str:
        """Store a payload; gives its name."""
        return self.blobs.put(data)

    def message(self, message: Message, source: str = "") -> MessageRef:
        """Store a message of a context. Its length in tokens is estimated from its bytes."""
        data = encode_message(message)
        return MessageRef(hash=self.blob(data), role=message.role, tokens=max(1, len(data) // 4), source=source)

    def step(
        self, body: StepBody, context: Sequence[MessageRef] | None, completion: MessageRef | None,
        usage: Usage = Usage(), *, started_at: datetime | None = None, ended_at: datetime | None = None,
        tools: str = "", terminals: dict[str, int] | None = None, item: str = "",
    ) -> None:
        """One whole step. `context` is None where the file does not say what the model was given; `item` is the id
        that the file gives the step's message.

        A list that is given again must only have grown: then the step's delta is what is new at its end.
        """
        head = make_head(body, usage=usage, started_at=started_at, ended_at=ended_at, tools=self._tools,
                         path=open_file(body.observations),
                         refused=[o.call_id for o in body.observations if is_refused(o)])
        delta = self._delta(() if context is None else context)
        edits = [one for one in self._edits.of(body) if (body.number, one.path) not in self.changed]
        for edit in edits:
            self.change(edit, body.number)
        is_known = all(one.before or not one.is_partial for one in edits)  # else the call knows more: how many went
        if edits and is_known and len(body.actions) == 1:
            lines = LineCount.of_contents((one.before or "", one.after or "") for one in edits)
            head = msgspec.structs.replace(head, added=lines.added, removed=lines.removed)
        for query, engine in lookups(body, self._tools):
            self.fact(e.SearchMade(query=query, engine=engine, step=body.number))
        self.fact(e.StepAdded(head=head, body=self.blob(encode_body(body)), context=delta,
                              completion=completion, tools=tools,
                              terminals=terminals or {},
                              item=item if len(item) <= _ITEM else blob_hash(item.encode()),
                              pictures=tuple([picture for picture in body.all_pictures if picture.blob])))
        self.steps += 1
        self.errors += head.is_error

    def _delta(self, context: Sequence[MessageRef]) -> ContextDelta:
        """The context as a delta to the step before; one that would not fit into an event is unknown."""
        before, length = self._context, self._length
        if context is before and len(context) >= length:
            parts: tuple[PreviousRange | MessageRef, ...] = (PreviousRange(start=0, stop=length),) if length else ()
            delta = ContextDelta(parts=(*parts, *context[length:]))
        elif length and len(context) >= length and tuple(context[:length]) == tuple(before[:length]):
            delta = ContextDelta(parts=(PreviousRange(start=0, stop=length), *context[length:]))
        else:
            delta = delta_between(before[:length], context)
        if len(delta.parts) > MOST_PARTS:
            self.warnings.append(f"The context of step {self.steps + 1} is too long to be kept.")
            context, delta = (), ContextDelta()
        self._context, self._length = context, len(context)
        return delta

    def change(self, edit: FileEdit, step: int) -> None:
        """A step changed a file; a content that is too large is left out."""
        self.changed.add((step, edit.path))
        size = len((edit.after or "").encode("utf-8", "replace"))
        if max(len(edit.after or ""), len(edit.before or "")) > _LARGEST:
            self.fact(e.FileChanged(host="main", path=edit.path, size=size, step=step, too_large=True))
            return
        before, after = ("" if text is None else self.blob(text.encode("utf-8", "replace"))
                         for text in (edit.before, edit.after))
        self.fact(e.FileChanged(host="main", path=edit.path, before=before, step=step, size=size, after=after,
                                is_partial=edit.is_partial))

    def totals(self, counts: Mapping[str, object], of: str = "the whole run") -> None:
        """What a file counts for a run or turn only, as a note; None is unknown."""
        if text := ", ".join(f"{name} {count}" for name, count in counts.items() if count is not None):
            self.fact(e.NoteAdded(step=0, text=f"Recorded for {of}: {text}."))

    def submission(self, text: str) -> None:
        """What the agent handed in; "" where the file does not hold it."""
        if text:
            self.fact(e.SubmissionMade(ordinal=1, step=self.steps, blob=self.blob(text.encode())))

    def reward(self, reward: float | None, message: str) -> None:
        """An outcome from 0 to 1 as a score; one that is unknown or on another scale is left out."""
        if reward is not None and 0 <= reward <= 1:
            self.fact(e.ScoreGiven(ordinal=1, step=self.steps, total=100.0 * reward, message=message))

    def end(self, state: e.SessionState, reason: str, detail: str = "") -> None:
        """The last fact: how the session ended."""
        self.fact(e.SessionStateChanged(state=state, reason=reason, detail=detail))

    def build(self) -> Imported:
        """The session, once."""
        return Imported(session=self.session, source=self.source, format=self.format, title=self._title,
                        bodies=self._bodies.pieces(), blobs=self._named, steps=self.steps,
                        errors=self.errors, warnings=tuple(self.warnings), is_named=self.is_named, size=self.blobs.size)

    def build_without_end(self) -> Imported:
        """The session of a file that does not say how it ended."""
        self.end("finished", "end_not_recorded")
        return self.build()


PAGE = "page"
"""The engine under which a visit to a page is told."""

_MOST = 2_000


def lookups(body: StepBody, tools: ToolTable) -> Iterator[tuple[str, str]]:
    """(query, engine) of each search of a step, (address, PAGE) of each page."""
    for action in body.actions:
        kind = tools.tool(action.tool).kind_of(action.arguments)
        if kind not in ("web_search", "web_page") or action.malformed:
            continue
        if kind == "web_page":
            address = action.arguments.get("url")
            if isinstance(address, str) and address.startswith(("http://", "https://")):
                yield address[:_MOST], PAGE
        elif query := deed_of(action, tools).title[:_MOST]:
            yield query, action.tool[:100]
