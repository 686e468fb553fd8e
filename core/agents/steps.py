"""The phases of a step in the journal: begun, answered, each action intended and done, added.

A crash at any moment leaves one of these phases, and the next runner goes on from it: the same step with the
same guidance and the same context; an answer that came is not asked for again, a finished action not repeated.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

import msgspec

from core.agents import attention, prompts
from core.agents.context import WorkingLine, count_tokens, observation_messages
from core.agents.delivery import Inbox
from core.agents.journal import Journal
from core.agents.own_tokens import OwnTokens
from core.agents.progress import AgentProgress, after_step, calibrated, used
from core.agents.states import read_progress, save_progress
from core.domain.blob import BlobRef
from core.domain.context import MessageRef, delta_between
from core.domain.errors import Conflict
from core.domain.events import StepAdded, StepStarted
from core.domain.head import make_head
from core.domain.message import Message
from core.domain.step import Action, Observation, StepBody, StepHead, encode_body
from core.domain.task import Limits, Task, extended
from core.llm.model import Completion, PastTokens

Count = Callable[[Message], tuple[int, bool]]


class OpenStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that has begun. `extra` is what its context holds beyond the working one: guidance, then the note.
    `sampled` names the answer's blob in the model's own tokens. `author` is the person who wrote it, in the event
    `asked`; both "" for the agent's own."""

    number: int
    extra: tuple[WorkingLine, ...]
    started_at: datetime
    completion: Completion | None = None
    reply: MessageRef | None = None
    sampled: BlobRef = ""
    author: str = ""
    asked: str = ""


class StepJournal:
    """The journal's side of the loop."""

    def __init__(self, journal: Journal, inbox: Inbox, task: Task, count: Count, *, native: bool = True,
                 tools: bytes = b"") -> None:
        """`tools` is the JSON of what is given beside the context; stored once."""
        self._journal, self._inbox, self._task, self._count = journal, inbox, task, count
        self._native, self._tools = native, tools
        self._tokens = OwnTokens(journal)

    @property
    def progress(self) -> AgentProgress:
        """The counters."""
        return read_progress(self._journal)

    def save(self, progress: AgentProgress) -> None:
        """Keep the counters; inside the transaction of what changed them."""
        save_progress(self._journal, progress)

    @property
    def working(self) -> tuple[WorkingLine, ...]:
        """The lines that the next context begins with."""
        return self._journal.slot("working", tuple[WorkingLine, ...]) or ()

    @property
    def open(self) -> OpenStep | None:
        """The step that has begun and is not added yet."""
        return self._journal.slot("open", OpenStep)

    def found(self, messages: Sequence[Message]) -> None:
        """Lay the messages of o₀ down, once."""
        if self._journal.slot("working", tuple[WorkingLine, ...]) is None:
            with self._journal.transaction("task"):
                self._journal.put_slot("working", [self.line(m, "task", 0) for m in messages])

    def tell_waiting(self) -> None:
        """Have the agent read what was left for it before it began."""
        text = self._journal.slot("untold", str)
        if text is not None:
            with self._journal.transaction("tell"):
                self.tell(text, "undone")
                self._journal.put_slot("untold", None)

    def tell(self, text: str, source: str) -> None:
        """Have the agent read a text before its next step."""
        with self._journal.transaction("tell"):
            line = self.line(Message(role="user", content=text), source, self.progress.steps)
            self._journal.put_slot("working", [*self.working, line])

    def line(self, message: Message, source: str, turn: int) -> WorkingLine:
        """Hold a message and name it."""
        tokens, estimated = self._count(message)
        return WorkingLine(self._journal.put_message(message, source, tokens, estimated), turn)

    def begin(self) -> OpenStep:
        """The open step, or the next one: bound to all guidance that waits, in one transaction."""
        opened = self.open
        if opened is not None:
            return opened
        progress = self.progress
        number = progress.steps + 1
        begun = self._journal.slot("begun", StepStarted)
        is_logged = begun is not None and begun.number == number
        with self._journal.transaction("begin"):
            bound = self._inbox.bind_again(number, begun.guidance) if begun and is_logged else self._inbox.bind(number)
            lines = [self.line(Message(role="user", content=prompts.guidance_text(g.text)), f"guidance:{g.id}", number)
                     for g in bound]
            if self._task.environment is None:  # there each context goes on from the one before
                note = prompts.note(number, self.limits, progress)
                lines.append(self.line(Message(role="user", content=note), "note", number))
            opened = OpenStep(number=number, extra=tuple(lines), started_at=datetime.now(UTC))
            if not is_logged:
                self._journal.add(StepStarted(number=number, guidance=tuple(g.id for g in bound)))
            self._journal.put_slot("begun", None)
            self._journal.put_slot("open", opened)
        return opened

    def context(self, opened: OpenStep) -> tuple[WorkingLine, ...]:
        """The whole context of an open step."""
        return (*self.working, *opened.extra)

    def messages(self, lines: Sequence[WorkingLine]) -> tuple[Message, ...]:
        """The messages of lines, as they are given to the model."""
        return tuple(msgspec.structs.replace(self._journal.message(line.ref), reasoning="") for line in lines)

    def size(self, lines: Sequence[WorkingLine]) -> int:
        """The length of a context in tokens with its tools, corrected by what completions really used."""
        return int((count_tokens(lines) + len(self._tools) // 4) * self.progress.ratio)

    def answered(self, opened: OpenStep, completion: Completion, *, author: str = "", asked: str = "") -> OpenStep:
        """Keep the answer, the model's or a person's, before anything of it is carried out."""
        with self._journal.transaction("answered"):
            reply = self.line(completion.message, f"step:{opened.number}", opened.number).ref
            context = [line.ref.hash for line in self.context(opened)]
            sampled = self._tokens.hold(completion, context, reply)
            opened = msgspec.structs.replace(opened, reply=reply, sampled=sampled, author=author, asked=asked,
                                             completion=msgspec.structs.replace(completion, sampled=None))
            self._journal.put_slot("open", opened)
        return opened

    def past(self, lines: Sequence[WorkingLine]) -> PastTokens | None:
        """What of a context the model need not tokenize again."""
        return self._tokens.past([line.ref.hash for line in lines])

    def hold_tokens(self, completion: Completion, lines: Sequence[WorkingLine], reply: MessageRef) -> str:
        """Keep what a model sampled for another answer than a step's; gives its blob's name, or ""."""
        return self._tokens.hold(completion, [line.ref.hash for line in lines], reply)

    def intend(self, step: int, place: int, action: Action) -> None:
        """An action is about to be carried out."""
        with self._journal.transaction("intend"):
            self._journal.sql("INSERT INTO call (step, place, action) VALUES (?, ?, ?)",
                              (step, place, self._journal.clean(msgspec.json.encode(action))))

    def intended(self, step: int, place: int) -> bool:
        """Whether an action was begun."""
        return bool(self._journal.sql("SELECT 1 FROM call WHERE step = ? AND place = ?", (step, place)))

    def done(self, step: int, place: int, observation: Observation) -> None:
        """An action is over."""
        with self._journal.transaction("done"):
            self._journal.sql("UPDATE call SET observation = ? WHERE step = ? AND place = ?",
                              (self._journal.clean(msgspec.json.encode(observation)), step, place))

    def result(self, step: int, place: int) -> Observation | None:
        """What an action gave, if it is over."""
        rows = self._journal.sql("SELECT observation FROM call WHERE step = ? AND place = ?", (step, place))
        return msgspec.json.decode(rows[0][0], type=Observation) if rows and rows[0][0] is not None else None

    def add(self, opened: OpenStep, thought: str, actions: Sequence[Action], observations: Sequence[Observation],
            *, worked_s: float, terminals: dict[str, int], ending: str = "") -> StepHead:
        """The step is whole: event, answered guidance, counters and the next context, in one transaction."""
        completion, reply = opened.completion, opened.reply
        if completion is None or reply is None:
            raise Conflict("not_answered", f"Step {opened.number} has no answer of the model yet.")
        body = StepBody(number=opened.number, thought=thought, actions=tuple(actions),
                        observations=tuple(observations), model=completion.model,
                        finish_reason=completion.finish_reason, unsampled=completion.unsampled)
        head = make_head(body, usage=completion.usage, started_at=opened.started_at, ended_at=datetime.now(UTC))
        head = msgspec.structs.replace(head, author=opened.author)
        context = self.context(opened)
        refs = [line.ref for line in context]
        with self._journal.transaction("add"):
            before = self._journal.slot("context", tuple[MessageRef, ...]) or ()
            self._journal.add(StepAdded(
                head=head, body=self._journal.put_blob(encode_body(body)), context=delta_between(before, refs),
                completion=reply, terminals=terminals, tools=self._journal.put_blob(self._tools) if self._tools else "",
                sampled=opened.sampled, asked=opened.asked,
            ))
            self._inbox.answer(opened.number)
            self.count_step(head, actions, count_tokens(context) + len(self._tools) // 4, worked_s, ending)
            self._journal.put_slot("working", self._next(opened, reply, actions, observations))
            self._journal.put_slot("context", refs)
            self._journal.put_slot("last_step", opened.number)
            self._journal.put_slot("open", None)
            self._journal.sql("DELETE FROM call WHERE step <= ?", (opened.number,))
        return head

    def _next(self, opened: OpenStep, reply: MessageRef, actions: Sequence[Action],
              observations: Sequence[Observation]) -> tuple[WorkingLine, ...]:
        number = opened.number
        results = observation_messages(actions, observations, native=self._native,
                                       plain=self._task.environment is not None)
        return (
            *self.working,
            *(line for line in opened.extra if line.ref.source != "note"),
            WorkingLine(reply, number),
            *(self.line(message, f"step:{number}", number) for message in results),
        )

    def count_step(self, head: StepHead, actions: Sequence[Action], estimated: int, worked_s: float, ending: str = ""
                   ) -> None:
        """The counters and what they raise; inside the transaction that adds the step, whose context is `estimated`
        tokens long."""
        same = msgspec.json.encode([(a.tool, a.arguments) for a in actions]).decode()[:2000] if actions else ""
        progress = after_step(self.progress, head, same or f"no action {head.number}", worked_s)
        progress = calibrated(progress, estimated, head.usage)
        progress, facts = attention.after_step(progress, head, self.limits, self._inbox.thresholds)
        for fact in facts:
            self._journal.add(fact)
        self.save(msgspec.structs.replace(progress, ending=ending or progress.ending))

    @property
    def limits(self) -> Limits:
        """The task's limits, or those since a person had the session go on."""
        return self._journal.slot("limits", Limits) or self._task.limits

    def go_on(self) -> None:
        """Once for each word that the session goes on after its end: more to use, and the agent reads that it may.

        An agent that was in the middle of a step knows of no end: it reads nothing new, and takes that step again.
        """
        fact = self._inbox.continued
        if fact is None:
            return
        progress = self.progress
        with self._journal.transaction("continue"):
            self._journal.put_slot("limits", extended(self.limits, used(progress), fact.more))
            if self.working and self.open is None and progress.steps:  # an external agent is told by its own command
                self.tell(prompts.continued(progress.ending or progress.state), "continued")
            self.save(msgspec.structs.replace(progress, state="queued", ending="", final_scored=False))
            self._inbox.go_on()
