"""A branch's beginning: the journal and files of another session's snapshot, and the answers that it gave since."""

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from core.agents import prompts
from core.agents.context import WorkingLine
from core.agents.delivery import Numbered
from core.agents.journal import Journal
from core.agents.progress import AgentProgress, used
from core.agents.saved_journal import JournalTables, put_rows, read_tables
from core.agents.snapshot_store import SnapshotStore
from core.agents.snapshots import LastSnapshot
from core.domain.context import MessageRef
from core.domain.errors import NotFound
from core.domain.events import Branched, StepAdded, decode_stored
from core.domain.message import Message
from core.domain.task import Limits, extended
from core.gateway.anchor import GuidancePlace
from core.gateway.lines import MAIN
from core.llm.model import Completion, LanguageModel, OnText, Request
from core.llm.replay import ReplayModel
from core.store.sqlite import connect

_TAKEN_OVER = ("working", "actions", "limits", "thresholds")


class RecordedThen:
    """Another session's answers up to a step, then a model."""

    def __init__(self, record: ReplayModel, upto: int, model: LanguageModel) -> None:
        self._record, self._upto, self._model, self.name = record, upto, model, model.name

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The answer of whoever answers this step. Raises EndpointError."""
        model = self._record if request.step <= self._upto else self._model
        return await model.complete(request, on_text)

    def count(self, message: Message) -> tuple[int, bool]:
        """The length of a message, as the model counts it."""
        return self._model.count(message)

    async def close(self) -> None:
        """Let go of the model."""
        await self._model.close()


def answering(branched: Branched | None, record: Path, model: LanguageModel) -> LanguageModel:
    """The model of a session: where a branch takes steps again, with the other's answers, from the log `record`.

    Raises NotFound, InvalidInput where there are none.
    """
    if branched is None or not branched.replays:
        return model
    return RecordedThen(ReplayModel.of_log(record, branched.parent), branched.step, model)


def seed(journal: Journal, store: SnapshotStore, branched: Branched, record: Path, limits: Limits) -> None:
    """Make a branch's journal what the other's was after step `base`, once. `limits` are the task's.

    Raises NotFound (no_snapshot, no_piece) where the snapshot is not on this computer any more.
    """
    if journal.slot("seeded", bool):
        return
    with journal.transaction("seed"):
        if branched.snapshot:
            snapshot = store.get(branched.snapshot)
            _take_over(journal, store, read_tables(store.pieces, snapshot.journal), branched)
            journal.put_slot("restore", snapshot.id)
        progress = journal.slot("progress", AgentProgress) or AgentProgress()
        before, spent = journal.slot("limits", Limits) or limits, used(progress)
        if branched.replays:  # what is taken again is no part of what it may do from there on
            spent = msgspec.structs.replace(spent, steps=max(progress.steps, branched.step))
        journal.put_slot("limits", extended(before, spent, branched.more))
        if not branched.replays and branched.base < branched.step:
            journal.put_slot("untold", _undone(record, branched))
        journal.put_slot("seeded", True)


def _take_over(journal: Journal, store: SnapshotStore, tables: JournalTables, branched: Branched) -> None:
    """What the agent knows and has used; what the other still had to do or to be given is left behind. Of an external
    agent the gateway knows what it had sent; what it knows itself lies in its files."""
    for key in _TAKEN_OVER:
        if (value := tables.value(key)) is not None:
            journal.put_slot(key, msgspec.Raw(value))
    raw = tables.value("progress")
    progress = msgspec.json.decode(raw, type=AgentProgress) if raw else AgentProgress()
    journal.put_slot("progress", msgspec.structs.replace(progress, state="queued", ending="", final_scored=False,
                                                        raised=()))
    journal.put_slot("last_step", branched.base)
    journal.put_slot("filled", True)
    journal.put_slot("last_snapshot", LastSnapshot("", branched.base, datetime.now(UTC)))
    raw = tables.value("open")
    opened = begun.number if raw and (begun := msgspec.json.decode(raw, type=Numbered | None)) else 0
    for id, seq, text, mode, state, step in tables.guidance:
        if state in ("delivered", "answered") and step != opened:
            journal.sql("INSERT INTO guidance VALUES (?, ?, ?, ?, 'answered', ?)", (id, seq, text, mode, step))
    for row in tables.terminal:
        journal.sql("INSERT INTO terminal VALUES (?, ?)", row)
    for line in journal.slot("working", tuple[WorkingLine, ...]) or ():
        journal.put_blob(store.pieces.get(line.ref.hash))
    for name in _take_line_over(journal, tables, branched):
        journal.put_blob(store.pieces.get(name))


def _take_line_over(journal: Journal, tables: JournalTables, branched: Branched) -> set[str]:
    """What an external agent had sent up to the step, but the last thing: with that its next request begins a step.
    Gives the names of the messages."""
    items = [row for row in tables.gateway_item if row[0] == MAIN]
    last = max((place for _, place, _, _ in items), default=0)
    items = [row for row in items if row[1] < last]
    places = [row for row in tables.gateway_place
              if msgspec.json.decode(row[1], type=GuidancePlace).step <= branched.base]
    calls = [row for row in tables.gateway_call if row[1] <= branched.base]
    put_rows(journal, "gateway_line", [row for row in tables.gateway_line if row[0] == MAIN])
    put_rows(journal, "gateway_item", items)
    put_rows(journal, "gateway_place", places)
    put_rows(journal, "gateway_call", calls)
    return {ref.hash for row in items for ref in msgspec.json.decode(row[3], type=tuple[MessageRef, ...])}


def _undone(record: Path, branched: Branched) -> str:
    """What the agent reads of steps that are not taken again."""
    with closing(connect(record, readonly=True)) as conn:
        rows = conn.execute("SELECT body FROM event WHERE session = ? AND kind = 'step_added' AND step > ? "
                            "AND step <= ? ORDER BY seq", (branched.parent, branched.base, branched.step)).fetchall()
    heads = [fact.head for (body,) in rows if isinstance(fact := decode_stored(bytes(body)).fact, StepAdded)]
    if not heads:
        raise NotFound("no_step", f"The log here lacks the steps of session {branched.parent}.", step=branched.step)
    return prompts.undone(branched.base, [(head.number, head.title, head.is_error) for head in heads])
