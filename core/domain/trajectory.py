"""The trajectory: a fold over a session's log. Live view, review, export and resume all read this one.

With a `Read` it keeps columns and places instead of every step and output: a long session stays small in memory.
"""

from collections.abc import Callable, Iterable
from typing import Any

from core.domain import events as e
from core.domain.context import Contexts, MessageRef, apply_delta
from core.domain.errors import Conflict, NotFound
from core.domain.events.takeover import DROPS
from core.domain.guidance import FOREIGN_PERSON, Guidance
from core.domain.items import Item, Items
from core.domain.outputs import Outputs
from core.domain.session import SessionRow, advance
from core.domain.step_entry import VOID, Note, StepEntry, set_tag
from core.domain.steps import Read, Steps
from core.domain.verdict import Verdict, take

__all__ = ["Item", "StepEntry", "Trajectory", "fold"]


class Trajectory:
    """What a session's log says so far; `apply` takes the next event and nothing else changes it."""

    def __init__(self, session: str, read: Read | None = None) -> None:
        """`read` gives events of this log again, by seq; without it everything stays in memory."""
        self.session = session
        self._read = read
        self.seq = 0
        self.row = SessionRow(session=session)
        self.created: e.SessionCreated | None = None
        self.items = Items()
        self.steps = Steps(read)
        self.summaries: dict[str, e.SummaryAdded] = {}
        self.guidance: dict[str, Guidance] = {}
        self.early: dict[str, list[e.Event]] = {}
        """What was told about guidance before its text: a restored log gets the runner's word first."""
        self.early_opinions: dict[int, list[e.Event]] = {}
        """What was said about steps that are not here yet: a restored log may get a person's word first."""
        self.scores: list[e.ScoreGiven] = []
        self.submissions: list[e.SubmissionMade] = []
        self.rescored: list[e.SubmissionRescored] = []
        self.branched: e.Branched | None = None
        """The session that this one is a part or a continuation of."""
        self.files: list[e.FileChanged] = []
        self.web_searches: list[e.SearchMade] = []
        self.terminals: dict[str, Outputs] = {}
        self.open_step: e.StepStarted | None = None
        self.offered: e.TakenOver | None = None
        """Who has taken over, from where on, and what they may call; None while the agent works."""
        self.asked: dict[str, e.ActionAsked] = {}
        """What they want and is not carried out yet, by the event's id."""
        self.leave: tuple[str, str] | None = None
        """The question whether the agent may do something, by its name, and what; None where it asks nothing."""
        self.notes: list[Note] = []
        """What was said of the whole session: notes on step 0."""
        self.spent: dict[str, dict[int, float]] = {}
        """Active seconds by person (the author's key) and step."""
        self.contexts = _contexts(self.steps)
        self.summary_places: dict[str, int] = {}

    def apply(self, placed: e.Placed) -> e.Event:
        """Take the next event. Raises Conflict when its seq is not the next one."""
        if placed.seq != self.seq + 1:
            raise Conflict("seq_gap", f"Event {placed.seq} of session {self.session} follows {self.seq}.")
        event = placed.event
        self._take(placed.seq, event)
        self.seq = placed.seq
        self.row = advance(self.row, placed.seq, event)
        return event

    def take(self, event: e.Event) -> None:
        """Take the next event, and leave the row as it is: for who has it from elsewhere."""
        self.seq += 1
        self._take(self.seq, event)

    def step(self, number: int) -> StepEntry:
        """The step of that number. Raises NotFound."""
        return self.steps[self._at(number)]

    def index_of(self, number: int) -> int | None:
        """The place in `steps` of a step number, or None."""
        return self.steps.index_of(number)

    def context(self, number: int) -> list[MessageRef]:
        """The exact context of a step. Raises NotFound."""
        return self.contexts.at(self._at(number))

    def summary_context(self, summary: e.SummaryAdded) -> list[MessageRef]:
        """The exact context in which a summary was written."""
        return apply_delta(self.contexts.at(self.steps_before(summary) - 1), summary.context)

    def newest_rescore(self, ordinal: int) -> e.SubmissionRescored | None:
        """What an evaluator gave a submission last, later than at first; one that failed where none gave a score. None
        where it was scored once."""
        found = [one for one in self.rescored if one.ordinal == ordinal]
        return next((one for one in reversed(found) if not one.failed), found[-1] if found else None)

    def steps_before(self, summary: e.SummaryAdded) -> int:
        """How many steps there were when a summary was written: more than it replaces."""
        return self.summary_places[summary.id]

    def _at(self, number: int) -> int:
        at = self.steps.index_of(number)
        if at is None:
            raise NotFound("no_step", f"Session {self.session} has no step {number}.", step=number)
        return at

    def _take(self, seq: int, event: e.Event) -> None:
        fold = FOLDS.get(type(event.fact))
        if fold is not None:
            fold(self, seq, event, event.fact)

    def _create(self, seq: int, event: e.Event, fact: e.SessionCreated) -> None:
        self.created = fact

    def _branch(self, seq: int, event: e.Event, fact: e.Branched) -> None:
        self.branched = fact

    def _begin_step(self, seq: int, event: e.Event, fact: e.StepStarted) -> None:
        self.open_step = fact
        for name in fact.again:
            if name in self.guidance:
                self.guidance[name].repeated_steps.append(fact.number)

    def _add_step(self, seq: int, event: e.Event, fact: e.StepAdded) -> None:
        self.open_step = None
        self.asked.pop(fact.asked, None)
        at = self.steps.index_of(fact.head.number)
        if at is not None:
            self.steps.tell_again(at, seq, fact)
            self.contexts = _contexts(self.steps)
            return
        self.steps.add(seq, fact)
        self.items.add_step()
        for early in self.early_opinions.pop(fact.head.number, []):
            self._take(seq, early)

    def _summarise(self, seq: int, event: e.Event, fact: e.SummaryAdded) -> None:
        self.summaries[fact.id] = fact
        self.summary_places[fact.id] = len(self.steps)
        self.items.add(Item("summary", fact.id))

    def _score(self, seq: int, event: e.Event, fact: e.ScoreGiven) -> None:
        self.items.add(Item("score", len(self.scores)))
        self.scores.append(fact)

    def _rescore(self, seq: int, event: e.Event, fact: e.SubmissionRescored) -> None:
        self.rescored.append(fact)

    def _hand_in(self, seq: int, event: e.Event, fact: e.SubmissionMade) -> None:
        self.items.add(Item("submission", len(self.submissions)))
        self.submissions.append(fact)

    def _print(self, seq: int, event: e.Event, fact: e.TerminalOutput) -> None:
        self.terminals.setdefault(f"{fact.host}/{fact.terminal}", Outputs(self._read)).add(seq, fact)

    def _change_file(self, seq: int, event: e.Event, fact: e.FileChanged) -> None:
        self.files.append(fact)

    def _search(self, seq: int, event: e.Event, fact: e.SearchMade) -> None:
        self.web_searches.append(fact)

    def _spend(self, seq: int, event: e.Event, fact: e.TimeSpent) -> None:
        held = self.spent.setdefault(event.author.key, {})
        for step, seconds in fact.seconds.items():
            held[step] = held.get(step, 0.0) + seconds

    def _take_opinion(self, seq: int, event: e.Event, fact: e.OpinionFact) -> None:
        if fact.step == 0 and isinstance(fact, e.NoteAdded):
            self.notes.append(Note(event.author, event.at, fact.text, repeats=VOID in event.id))
        else:
            self._judge(event, fact)

    def _judge(self, event: e.Event, fact: e.OpinionFact) -> None:
        at = self.steps.index_of(fact.step)
        if at is None:
            if fact.step > 0:
                self.early_opinions.setdefault(fact.step, []).append(event)
            return
        entry = self.steps.opinion(at)
        match fact:
            case e.VerdictGiven():
                given = Verdict(author=event.author, value=fact.value, reason=fact.reason, action=fact.action,
                                at=event.at if fact.action else None)
                take(entry.verdicts, given, event.at)
            case e.NoteAdded():
                entry.notes.append(Note(event.author, event.at, fact.text, fact.anchor))
            case e.TagSet():
                set_tag(entry.tags, fact.tag, event.author.key, fact.on)

    def _guide(self, seq: int, event: e.Event, fact: e.GuidanceFact) -> None:
        guidance = self.guidance.get(fact.guidance)
        if isinstance(fact, e.GuidanceQueued):
            author = event.author
            self.guidance[fact.guidance] = Guidance(
                id=fact.guidance, text=fact.text, author=author.name, mode=fact.mode, queued_at=event.at,
                by_person=author.kind != "import" or author.name == FOREIGN_PERSON)
            for early in self.early.pop(fact.guidance, []):
                self._take(seq, early)
        elif guidance is None:
            self.early.setdefault(fact.guidance, []).append(event)
        else:
            self._advance_guidance(guidance, fact)

    @property
    def advice(self) -> list[Guidance]:
        """The guidance by people: without the turns of a user who may be none."""
        return [one for one in self.guidance.values() if one.by_person]

    def _advance_guidance(self, guidance: Guidance, fact: e.GuidanceFact) -> None:
        match fact:
            case e.GuidanceChangeAsked():
                guidance.change = "withdraw" if fact.text is None else "edit"
                guidance.asked = fact.text or ""
            case e.GuidanceEdited():
                guidance.text, guidance.change, guidance.asked = fact.text, "", ""
            case e.GuidanceWithdrawn():
                guidance.state, guidance.change = "withdrawn", ""
            case e.GuidanceChangeRefused():
                guidance.change = ""
                guidance.refused = f"delivered_at_step:{fact.step}"
            case e.GuidanceDelivered():
                self._deliver(guidance, fact.step)
            case e.GuidanceAnswered():
                guidance.state, guidance.answered_step = "answered", fact.step

    def _deliver(self, guidance: Guidance, step: int) -> None:
        guidance.state, guidance.delivered_step = "delivered", step
        self.items.add(Item("guidance", guidance.id))

    def _enter_state(self, seq: int, event: e.Event, fact: e.SessionStateChanged) -> None:
        self.leave = (fact.question, fact.detail) if fact.reason == "asks_for_leave" else None

    def _offer(self, seq: int, event: e.Event, fact: e.TakenOver) -> None:
        self.offered = fact

    def _ask_action(self, seq: int, event: e.Event, fact: e.ActionAsked) -> None:
        self.asked[event.id] = fact

    def _hand_back(self, seq: int, event: e.Event, fact: e.HandedBack) -> None:
        for dropped in fact.dropped:
            self.asked.pop(dropped, None)
        if fact.reason not in DROPS:
            self.offered = None


_Fold = Callable[[Trajectory, int, e.Event, Any], None]
FOLDS: dict[type[e.Fact], _Fold] = {
    e.SessionCreated: Trajectory._create,
    e.Branched: Trajectory._branch,
    e.SessionStateChanged: Trajectory._enter_state,
    e.StepStarted: Trajectory._begin_step,
    e.StepAdded: Trajectory._add_step,
    e.SummaryAdded: Trajectory._summarise,
    e.ScoreGiven: Trajectory._score,
    e.SubmissionMade: Trajectory._hand_in,
    e.SubmissionRescored: Trajectory._rescore,
    e.TerminalOutput: Trajectory._print,
    e.FileChanged: Trajectory._change_file,
    e.SearchMade: Trajectory._search,
    e.TimeSpent: Trajectory._spend,
    e.TakenOver: Trajectory._offer,
    e.ActionAsked: Trajectory._ask_action,
    e.HandedBack: Trajectory._hand_back,
    **dict.fromkeys(e.kinds_of(e.OpinionFact), Trajectory._take_opinion),
    **dict.fromkeys(e.kinds_of(e.GuidanceFact), Trajectory._guide),
}
"""What a trajectory does with each kind of fact."""

NOT_FOLDED: tuple[type[e.Fact], ...] = (
    # of the session's row
    e.SessionContinued, e.ThresholdsSet, e.AttentionRaised, e.AttentionCleared,
    e.HostPlaceChanged,  # the log of the session's hosts
    e.ControlAsked, e.TakeoverAsked, e.HandBackAsked,  # read by the runner alone
    e.ExchangeMade,  # what a step's context was made of is in the step; the bytes are looked up in the log
    e.SnapshotTaken, e.SnapshotFailed,  # looked up in the log by who restores
    e.UnknownFact,
)
"""The kinds of which a trajectory keeps nothing."""


def _contexts(steps: Steps) -> Contexts:
    """The contexts of steps; without a circle, so that a session that is let go of is gone at once."""
    return Contexts(lambda i: steps[i].context)


def guidance_alone(row: SessionRow, events: Iterable[e.Event]) -> Trajectory:
    """A trajectory that knows a session's row and its guidance and nothing else, from the events about guidance."""
    trajectory = Trajectory(row.session)
    trajectory.row = row
    for event in events:
        trajectory._take(0, event)
    return trajectory


def fold(session: str, placed: Iterable[e.Placed], read: Read | None = None) -> Trajectory:
    """The trajectory of a whole log, or of a prefix of it; `read` as in `Trajectory`."""
    trajectory = Trajectory(session, read)
    for one in placed:
        trajectory.apply(one)
    return trajectory
