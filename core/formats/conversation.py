"""A session told as a conversation: the messages so far are the context of the next step."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import msgspec

from core.domain.blob import blob_hash
from core.domain.context import MessageRef
from core.domain.events import GuidanceAnswered, GuidanceDelivered, GuidanceQueued, SummaryAdded
from core.domain.message import Message, ToolCall
from core.domain.step import Action, ActionError, Observation, Output, Status, StepBody, Usage
from core.formats.chat import action_of
from core.formats.edits import FileEdit
from core.formats.imported import SessionBuilder
from core.formats.values import family_of

_TEXT = 400_000


class Answer(msgspec.Struct, kw_only=True):
    """What came back for a call. `call` is "" where the format does not say whose answer it is."""

    text: str
    call: str = ""
    error: ActionError | None = None
    status: Status = "finished"
    exit_code: int | None = None
    data: dict[str, object] = {}
    started_at: datetime | None = None
    ended_at: datetime | None = None
    truncated: bool = False
    role: str = "tool"
    edit: FileEdit | None = None


class Turn(msgspec.Struct, kw_only=True):
    """One step as a file tells it. `context` replaces the messages so far where the file holds the exact prompt."""

    thought: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    actions: tuple[Action, ...] | None = None
    answers: list[Answer] = []
    usage: Usage = Usage()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    model: str = ""
    finish_reason: str = ""
    said: str | None = None
    context: list[MessageRef] | None = None
    tools: str = ""
    terminals: dict[str, int] = {}


class Conversation:
    """Feeds a builder with turns, people's words and summaries in the order of the file."""

    def __init__(self, builder: SessionBuilder, source: str = "approximate") -> None:
        """`source` is "" where the messages are exactly what the model was given, else approximate."""
        self.builder = builder
        self.refs: list[MessageRef] = []
        self._source = source
        self._waiting: list[str] = []

    def tell(self, message: Message) -> MessageRef:
        """A message enters the context."""
        ref = self.builder.message(message, self._source)
        self.refs.append(ref)
        return ref

    def ask(self, text: str, at: datetime | None = None) -> None:
        """A person speaks. Before the first step it is the task, later it is guidance."""
        self.tell(Message(role="user", content=text))
        if self.builder.steps:
            self.guide(text, at)

    def guide(self, text: str, at: datetime | None = None) -> None:
        """Guidance that the next step is the first to see; its message has been told already."""
        place = len(self._waiting) + self.builder.steps * 1000
        text = self._bounded(text, "words of a person")
        name = f"{self.builder.session}-g{blob_hash(f'{place}:{text}'.encode())[:12]}"
        self.builder.fact(GuidanceQueued(guidance=name, text=text), "person", at)
        self._waiting.append(name)

    def summarise(self, text: str, keep: Sequence[MessageRef] = (), *, tell: bool = True) -> None:
        """All steps so far are replaced by a summary; `keep` stays before it in later contexts."""
        last, whole = self.builder.steps, text
        text = self._bounded(text, "summary")
        name = f"{self.builder.session}-s{blob_hash(f'{last}:{text}'.encode())[:12]}"
        self.builder.fact(SummaryAdded(id=name, first=min(1, last), last=last, text=text))
        self.refs = list(keep)
        if tell:
            self.tell(Message(role="user", content=whole))

    def _bounded(self, text: str, what: str) -> str:
        """Text that travels in one event, whose size is bounded; the context holds it whole."""
        if len(text) <= _TEXT:
            return text
        self.builder.warnings.append(f"A {what} is shown up to its character {_TEXT:,}.")
        return text[:_TEXT]

    def step(self, turn: Turn) -> None:
        """One more step; its message and the answers enter the context of the next."""
        number = self.builder.steps + 1
        for name in self._waiting:
            self.builder.fact(GuidanceDelivered(guidance=name, step=number))
        actions = turn.actions if turn.actions is not None else tuple(
            action_of(c, family_of(c.name)) for c in turn.calls)
        calls = [a.call_id for a in actions]
        thought = "\n\n".join(t for t in (turn.reasoning, turn.thought) if t)
        body = StepBody(number=number, thought=thought, actions=actions, model=turn.model,
                        observations=tuple(_observation(a, n, calls) for n, a in enumerate(turn.answers)),
                        finish_reason=turn.finish_reason)
        given = self.refs if turn.context is None else turn.context
        said = self.builder.message(Message(role="assistant", tool_calls=turn.calls, reasoning=turn.reasoning,
                                            content=turn.thought if turn.said is None else turn.said), self._source)
        for answer in turn.answers:
            if answer.edit is not None:
                answer.edit.tell(self.builder, number)
        self.builder.step(body, given, said, turn.usage, started_at=turn.started_at, ended_at=_end(turn),
                          tools=turn.tools, terminals=turn.terminals)
        self.refs.append(said)
        for answer in turn.answers:
            self.tell(Message(role="user" if answer.role == "user" else "tool", content=answer.text,
                              tool_call_id=answer.call))
        for name in self._waiting:
            self.builder.fact(GuidanceAnswered(guidance=name, step=number))
        self._waiting = []


def _end(turn: Turn) -> datetime | None:
    """When the last of it was there; one single moment tells no duration."""
    last = max((t for t in (turn.ended_at, *(a.ended_at for a in turn.answers)) if t is not None), default=None)
    return None if last is not None and turn.started_at is not None and last <= turn.started_at else last


def _observation(answer: Answer, place: int, calls: list[str]) -> Observation:
    call = answer.call or (calls[place] if place < len(calls) else "")
    output = Output(text=answer.text, total_chars=len(answer.text), truncated=answer.truncated)
    return Observation(call_id=call, status=answer.status, exit_code=answer.exit_code, output=output,
                       error=answer.error, data=answer.data, started_at=answer.started_at, ended_at=answer.ended_at)
