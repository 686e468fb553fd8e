"""The trajectory: a fold over a session's log. Live view, review, export and resume all read this one.

With a `Read` it keeps columns and places instead of every step and output: a long session stays small in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from core.domain.context import Contexts, MessageRef, apply_delta
from core.domain.errors import Conflict, NotFound
from core.domain.events import (
    Event,
    FileChanged,
    GuidanceAnswered,
    GuidanceChangeAsked,
    GuidanceChangeRefused,
    GuidanceDelivered,
    GuidanceEdited,
    GuidanceQueued,
    GuidanceWithdrawn,
    NoteAdded,
    Placed,
    ScoreGiven,
    SearchMade,
    SessionCreated,
    StepAdded,
    StepStarted,
    SummaryAdded,
    TagSet,
    TerminalOutput,
    TimeSpent,
    VerdictGiven,
)
from core.domain.guidance import Guidance
from core.domain.items import Item, Items
from core.domain.outputs import Outputs
from core.domain.session import SessionRow, advance
from core.domain.steps import Read, StepEntry, Steps
from core.domain.verdict import Author, Verdict

__all__ = ["Item", "StepEntry", "Trajectory", "fold"]


class Trajectory:
    """What a session's log says so far; `apply` takes the next event and nothing else changes it."""

    def __init__(self, session: str, read: Read | None = None) -> None:
        """`read` gives events of this log again, by seq; without it everything stays in memory."""
        self.session = session
        self._read = read
        self.seq = 0
        self.row = SessionRow(session=session)
        self.created: SessionCreated | None = None
        self.items = Items()
        self.steps = Steps(read)
        self.summaries: dict[str, SummaryAdded] = {}
        self.guidance: dict[str, Guidance] = {}
        self.early: dict[str, list[Event]] = {}
        """What was told about guidance before its text: a restored log gets the runner's word first."""
        self.early_opinions: dict[int, list[Event]] = {}
        """What was said about steps that are not here yet: a restored log may get a person's word first."""
        self.scores: list[ScoreGiven] = []
        self.files: list[FileChanged] = []
        self.searches: list[SearchMade] = []
        self.terminals: dict[str, Outputs] = {}
        self.open_step: StepStarted | None = None
        self.notes: list[tuple[Author, datetime, str]] = []
        """What was said of the whole session: notes on step 0."""
        self.spent: dict[str, dict[int, float]] = {}
        """Active seconds by person (the author's key) and step."""
        self.contexts = _contexts(self.steps)
        self.summary_places: dict[str, int] = {}

    def apply(self, placed: Placed) -> Event:
        """Take the next event. Raises Conflict when its seq is not the next one."""
        if placed.seq != self.seq + 1:
            raise Conflict("seq_gap", f"Event {placed.seq} of session {self.session} follows {self.seq}.")
        event = placed.event
        self._take(placed.seq, event)
        self.seq = placed.seq
        self.row = advance(self.row, placed.seq, event)
        return event

    def step(self, number: int) -> StepEntry:
        """The step of that number. Raises NotFound."""
        return self.steps[self._at(number)]

    def index_of(self, number: int) -> int | None:
        """The place in `steps` of a step number, or None."""
        return self.steps.index_of(number)

    def context(self, number: int) -> list[MessageRef]:
        """The exact context of a step. Raises NotFound."""
        return self.contexts.at(self._at(number))

    def summary_context(self, summary: SummaryAdded) -> list[MessageRef]:
        """The exact context in which a summary was written."""
        return apply_delta(self.contexts.at(self.steps_before(summary) - 1), summary.context)

    def steps_before(self, summary: SummaryAdded) -> int:
        """How many steps there were when a summary was written: more than it replaces."""
        return self.summary_places[summary.id]

    def _at(self, number: int) -> int:
        at = self.steps.index_of(number)
        if at is None:
            raise NotFound("no_step", f"Session {self.session} has no step {number}.", step=number)
        return at

    def _take(self, seq: int, event: Event) -> None:
        match event.fact:
            case SessionCreated() as f:
                self.created = f
            case StepStarted() as f:
                self.open_step = f
            case StepAdded() as f:
                self._add_step(seq, f)
            case SummaryAdded() as f:
                self.summaries[f.id] = f
                self.summary_places[f.id] = len(self.steps)
                self.items.add(Item("summary", f.id))
            case ScoreGiven() as f:
                self.items.add(Item("score", len(self.scores)))
                self.scores.append(f)
            case TerminalOutput() as f:
                self.terminals.setdefault(f"{f.host}/{f.terminal}", Outputs(self._read)).add(seq, f)
            case FileChanged() as f:
                self.files.append(f)
            case SearchMade() as f:
                self.searches.append(f)
            case NoteAdded(step=0) as f:
                self.notes.append((event.author, event.at, f.text))
            case VerdictGiven() | NoteAdded() | TagSet():
                self._judge(event)
            case TimeSpent() as f:
                held = self.spent.setdefault(event.author.key, {})
                for step, seconds in f.seconds.items():
                    held[step] = held.get(step, 0.0) + seconds
            case _:
                self._guide(event)

    def _add_step(self, seq: int, fact: StepAdded) -> None:
        self.open_step = None
        at = self.steps.index_of(fact.head.number)
        if at is not None:
            self.steps.tell_again(at, seq, fact)
            self.contexts = _contexts(self.steps)
            return
        self.steps.add(seq, fact)
        self.items.add_step()
        for early in self.early_opinions.pop(fact.head.number, []):
            self._judge(early)

    def _judge(self, event: Event) -> None:
        fact = event.fact
        step = getattr(fact, "step", 0)
        at = self.steps.index_of(step)
        if at is None:
            if step > 0:
                self.early_opinions.setdefault(step, []).append(event)
            return
        entry = self.steps.opinion(at)
        match fact:
            case VerdictGiven(value="none"):
                entry.verdicts.pop(event.author.key, None)
            case VerdictGiven():
                entry.verdicts.pop(event.author.key, None)
                entry.verdicts[event.author.key] = Verdict(author=event.author, value=fact.value, reason=fact.reason)
            case NoteAdded():
                entry.notes.append((event.author, event.at, fact.text))
            case TagSet():
                (entry.tags.add if fact.on else entry.tags.discard)(fact.tag)

    def _guide(self, event: Event) -> None:
        match event.fact:
            case GuidanceQueued() as f:
                self.guidance[f.guidance] = Guidance(id=f.guidance, text=f.text, author=event.author.name,
                                                     mode=f.mode, queued_at=event.at)
                for early in self.early.pop(f.guidance, []):
                    self._guide(early)
            case f if (name := getattr(f, "guidance", "")) and isinstance(name, str) and name not in self.guidance:
                self.early.setdefault(name, []).append(event)
            case GuidanceChangeAsked() as f if f.guidance in self.guidance:
                self.guidance[f.guidance].change = "withdraw" if f.text is None else "edit"
                self.guidance[f.guidance].asked = f.text or ""
            case GuidanceEdited() as f if f.guidance in self.guidance:
                self.guidance[f.guidance].text, self.guidance[f.guidance].change = f.text, ""
                self.guidance[f.guidance].asked = ""
            case GuidanceWithdrawn() as f if f.guidance in self.guidance:
                self.guidance[f.guidance].state, self.guidance[f.guidance].change = "withdrawn", ""
            case GuidanceChangeRefused() as f if f.guidance in self.guidance:
                self.guidance[f.guidance].change = ""
                self.guidance[f.guidance].refused = f"delivered_at_step:{f.step}"
            case GuidanceDelivered() as f if f.guidance in self.guidance:
                self._deliver(self.guidance[f.guidance], f.step)
            case GuidanceAnswered() as f if f.guidance in self.guidance:
                self.guidance[f.guidance].state, self.guidance[f.guidance].answered_step = "answered", f.step

    def _deliver(self, guidance: Guidance, step: int) -> None:
        guidance.state, guidance.delivered_step = "delivered", step
        self.items.add(Item("guidance", guidance.id))


def _contexts(steps: Steps) -> Contexts:
    """The contexts of steps; without a circle, so that a session that is let go of is gone at once."""
    return Contexts(lambda i: steps[i].context)


def guidance_alone(row: SessionRow, events: Iterable[Event]) -> Trajectory:
    """A trajectory that knows a session's row and its guidance and nothing else, from the events about guidance."""
    told = Trajectory(row.session)
    told.row = row
    for event in events:
        told._guide(event)
    return told


def fold(session: str, placed: Iterable[Placed]) -> Trajectory:
    """The trajectory of a whole log, or of a prefix of it."""
    trajectory = Trajectory(session)
    for one in placed:
        trajectory.apply(one)
    return trajectory
