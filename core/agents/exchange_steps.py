"""Steps of an external agent: an answer opens what it will do, its next request says what came back."""

import re
from collections import deque
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from operator import attrgetter

import msgspec

from core.agents.delivery import AT_ONCE, Inbox
from core.agents.exchange_context import ContextWriter
from core.agents.journal import Journal
from core.agents.progress import AgentProgress, with_usage
from core.agents.steps import StepJournal
from core.domain.bounds import event_text
from core.domain.context import MOST_PARTS, ContextDelta, MessageRef, apply_delta, delta_between
from core.domain.events import NoteAdded, StepAdded, StepStarted, SummaryAdded, decode_event
from core.domain.head import make_head
from core.domain.ids import new_id
from core.domain.message import ToolCall
from core.domain.step import Action, ActionError, Observation, Output, StepBody, Usage, encode_body
from core.domain.task import ModelSettings
from core.domain.tools import FAMILIES, ToolTable
from core.formats.chat import action_of
from core.formats.values import exit_error
from core.gateway.dialect import Answer, CallOutcome

_TOKENS = attrgetter("tokens")
_TOO_LONG = ("What the model saw from here on has too many messages for an event, and is not shown; the requests are "
             "held as they were sent.")


class OpenAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A step that has begun: its context, and once it came the answer. The journal holds the context as what differs
    from the last step's (`delta`), as it is long and mostly that; one that no event can hold is not known."""

    number: int
    context: tuple[MessageRef, ...] = ()
    delta: ContextDelta = ContextDelta()
    tools: str = ""
    started_at: datetime
    held_s: float = 0.0
    answer: Answer | None = None
    reply: MessageRef | None = None
    answered_at: datetime | None = None
    is_too_long: bool = False


class AnswerCame(msgspec.Struct, frozen=True, kw_only=True):
    """What an open step was answered; beside it in the journal, as its context is long and does not change."""

    number: int
    answer: Answer
    reply: MessageRef
    answered_at: datetime


class SideAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The last call beside the main line, which may turn out to be a summary of it."""

    text: str
    context: tuple[MessageRef, ...] = ()
    reply: MessageRef | None = None


class Calling(msgspec.Struct, frozen=True):
    """The newest step whose answer calls for a subagent, and when that came."""

    step: int
    at: datetime


class ExchangeSteps:
    """The journal's side of an external agent's main line. All writing is inside the caller's transaction."""

    def __init__(self, journal: Journal, inbox: Inbox, steps: StepJournal, writer: ContextWriter, model: ModelSettings,
                 tools: ToolTable, exit_code: str = "") -> None:
        """`exit_code` is a pattern of how a result tells the exit code of a command."""
        self._journal, self._inbox, self._steps, self._writer = journal, inbox, steps, writer
        self._model, self._tools = model, tools
        self._exit = re.compile(exit_code) if exit_code else None
        self._before = _last_context(journal)
        self.open = self._read_open()
        """The step that has begun and is not added yet."""
        self.aside = journal.slot("aside", SideAnswer)
        """The last call beside the main line since its last request."""
        self.calling = journal.slot("calling", Calling)

    def _read_open(self) -> OpenAnswer | None:
        opened, came = self._journal.slot("open", OpenAnswer), self._journal.slot("answer", AnswerCame)
        if opened is not None:
            context = opened.context or tuple(apply_delta(self._before, opened.delta))
            opened = self._placed(msgspec.structs.replace(opened, context=context))
        if opened is None or came is None or came.number != opened.number:
            return opened
        return msgspec.structs.replace(opened, answer=came.answer, reply=came.reply, answered_at=came.answered_at)

    def _placed(self, opened: OpenAnswer) -> OpenAnswer:
        delta = self._delta(opened.context)
        if opened.context and not delta.parts:
            return msgspec.structs.replace(opened, context=(), is_too_long=True)
        return msgspec.structs.replace(opened, delta=delta)

    def _delta(self, context: Sequence[MessageRef]) -> ContextDelta:
        delta = delta_between(self._before, context)
        return delta if len(delta.parts) <= MOST_PARTS else ContextDelta()

    def _set_open(self, opened: OpenAnswer | None) -> None:
        self.open = opened
        self._journal.put_slot("open", opened and msgspec.structs.replace(opened, context=()))
        self._journal.put_slot("answer", None)

    @property
    def last_context(self) -> Sequence[MessageRef]:
        """What the model was given at the last whole step."""
        return self._before

    @property
    def next_number(self) -> int:
        """The number of the step that the next request of the main line begins."""
        opened = self.open
        added = self._steps.progress.steps
        return added + 1 if opened is None or opened.answer is None else opened.number + 1

    @property
    def counted(self) -> AgentProgress:
        """The counters, with an answer that came and is no whole step yet."""
        progress, opened = self._steps.progress, self.open
        if opened is None or opened.answer is None:
            return progress
        spent = with_usage(progress, self.price(opened.answer.usage))
        return msgspec.structs.replace(spent, steps=opened.number)

    @property
    def wrote_plan(self) -> bool:
        """Whether the open step's answer writes a plan."""
        calls = self.open.answer.message.tool_calls if self.open is not None and self.open.answer is not None else ()
        return any(tool is not None and tool.kind == "todo" for tool in (self._tools.find(call.name) for call in calls))

    def begin(self, opened: OpenAnswer, guidance: Sequence[str], again: Sequence[str]) -> None:
        """The next step has begun with this context."""
        before = self.open
        if before is None or before.number != opened.number or guidance or again:
            *more, last = [again[at : at + AT_ONCE] for at in range(0, max(1, len(again)), AT_ONCE)]
            for some in more:
                self._journal.add(StepStarted(number=opened.number, again=tuple(some)))
            self._journal.add(StepStarted(number=opened.number, guidance=tuple(guidance), again=tuple(last)))
        self._set_open(self._placed(opened))
        self.set_aside(None)

    def answered(self, number: int, answer: Answer) -> None:
        """The model's answer to the open step; a second one to the same request takes the place of the first."""
        opened = self.open
        if opened is None or opened.number != number:
            return
        reply = self._writer.ref(answer.message, f"step:{number}")
        self._writer.calls.learn([call.id for call in answer.message.tool_calls], number)
        now = datetime.now(UTC)
        called = [self._tools.find(call.name) for call in answer.message.tool_calls]
        if any(tool is not None and tool.kind == "subagent" for tool in called):
            self.calling = Calling(number, now)
            self._journal.put_slot("calling", self.calling)
        self.open = msgspec.structs.replace(opened, answer=answer, reply=reply, answered_at=now)
        self._journal.put_slot("answer", AnswerCame(number=number, answer=answer, reply=reply, answered_at=now))

    def set_aside(self, aside: SideAnswer | None) -> None:
        """A call beside the main line was answered; None: the main line goes on."""
        if aside != self.aside:
            self.aside = aside
            self._journal.put_slot("aside", aside)

    def close(self, outcomes: Sequence[CallOutcome], echoed: Sequence[ToolCall], terminals: Mapping[str, int], *,
              is_end: bool = False) -> None:
        """Add the open step, if it was answered, with what came back for its calls.

        `echoed` are its calls as the agent tells them again: their ids may be other ones. `is_end`: the agent ended
        by itself, with these calls its last, so that nobody was told what came back.
        """
        opened = self.open
        if opened is None or opened.answer is None or opened.reply is None:
            return
        calls = opened.answer.message.tool_calls
        alias = {call.id: own.id for own, call in zip(calls, echoed, strict=False)} if len(echoed) == len(calls) else {}
        came = {alias.get(outcome.call, outcome.call): outcome for outcome in outcomes}
        alias |= _by_name(calls, came)
        self._writer.calls.learn([*alias], opened.number)
        came |= {own: came[other] for other, own in alias.items() if other in came}
        actions = [self._action(call) for call in calls]
        observations = [self._observation(action, came.get(action.call_id), opened, is_end) for action in actions]
        self._add(opened, actions, observations, terminals)

    def compacted(self) -> str:
        """The agent began anew with what a summary left: tells it, and gives the summary's id.

        An open answer without calls was that summary, and is no step.
        """
        opened, aside = self.open, self.aside
        if aside is None and opened is not None and opened.answer and not opened.answer.message.tool_calls:
            aside = SideAnswer(text=opened.answer.message.content, context=opened.context, reply=opened.reply)
            self._set_open(None)
        last = self._steps.progress.steps
        name, text = new_id(), aside.text if aside else ""
        context = self._delta(aside.context) if aside and aside.context else ContextDelta()
        self._journal.add(SummaryAdded(id=name, first=min(1, last), last=last, text=event_text(text), context=context,
                                       completion=aside.reply if aside and aside.context else None))
        self.set_aside(None)
        return name

    def is_summary_open(self) -> bool:
        """Whether the open step may be the summary that a compaction shows it to be."""
        opened = self.open
        return self.aside is None and opened is not None and opened.answer is not None and (
            not opened.answer.message.tool_calls)

    def price(self, usage: Usage) -> Usage:
        """A usage with its cost, where both prices are known."""
        cost = self._model.cost(usage.input_tokens, usage.output_tokens)
        return usage if cost is None else msgspec.structs.replace(usage, cost_usd=cost)

    def _add(self, opened: OpenAnswer, actions: Sequence[Action], observations: Sequence[Observation],
             terminals: Mapping[str, int]) -> None:
        answer, now = opened.answer, datetime.now(UTC)
        assert answer is not None
        message = answer.message
        body = StepBody(number=opened.number, thought="\n\n".join(filter(None, (message.reasoning, message.content))),
                        actions=tuple(actions), observations=tuple(observations), model=answer.model,
                        finish_reason=answer.finish)
        ended = now if observations else opened.answered_at
        head = make_head(body, usage=self.price(answer.usage), started_at=opened.started_at, ended_at=ended,
                         tools=self._tools)
        self._journal.add(StepAdded(head=head, body=self._journal.put_blob(encode_body(body)),
                                    context=opened.delta, completion=opened.reply,
                                    terminals=dict(terminals), tools=opened.tools))
        if opened.is_too_long and (self._before or opened.number == 1):
            self._journal.add(NoteAdded(step=opened.number, text=_TOO_LONG))
        self._inbox.answer(opened.number)
        worked = max(0.0, ((ended or now) - opened.started_at).total_seconds() - opened.held_s)
        self._steps.count_step(head, actions, sum(map(_TOKENS, opened.context)), worked)
        self._before = opened.context
        self._journal.put_slot("last_step", opened.number)
        self._set_open(None)

    def _action(self, call: ToolCall) -> Action:
        found = self._tools.find(call.name)
        return action_of(call, FAMILIES[found.kind] if found else "other")

    def _observation(self, action: Action, outcome: CallOutcome | None, opened: OpenAnswer, is_end: bool
                     ) -> Observation:
        began, now = opened.answered_at, datetime.now(UTC)
        if outcome is None and is_end:
            return Observation(call_id=action.call_id, started_at=began, ended_at=now)
        if outcome is None:
            error = ActionError(kind="no_result", message="The agent did not say what came back for this call.")
            return Observation(call_id=action.call_id, status="killed", error=error, started_at=began, ended_at=now)
        found = self._exit.search(outcome.text[:4000]) if self._exit else None
        code = int(found[1]) if found else None
        failed = ActionError(kind="tool_error", message=outcome.text[:2000]) if outcome.failed else None
        output = Output(text=outcome.text, total_chars=len(outcome.text))
        return Observation(call_id=action.call_id, exit_code=code, output=output, error=exit_error(code) or failed,
                           started_at=began, ended_at=now)


def _by_name(calls: Sequence[ToolCall], came: Mapping[str, CallOutcome]) -> dict[str, str]:
    """Which calls are meant by ids that the agent made up: for each tool its calls without a result, in order."""
    found: dict[str, str] = {}
    known = {call.id for call in calls}
    lacking: dict[str, deque[str]] = {}
    for call in calls:
        if call.id not in came:
            lacking.setdefault(call.name, deque()).append(call.id)
    for other, outcome in came.items():
        if other not in known and lacking.get(outcome.name):
            found[other] = lacking[outcome.name].popleft()
    return found


def _last_context(journal: Journal) -> tuple[MessageRef, ...]:
    """The context of the last step that the journal tells of."""
    context: list[MessageRef] = []
    for (body,) in journal.sql("SELECT body FROM entry WHERE instr(body, ?) ORDER BY n", (b'"step_added"',)):
        fact = decode_event(body).fact
        if isinstance(fact, StepAdded):
            context = apply_delta(context, fact.context)
    return tuple(context)
