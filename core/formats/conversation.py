"""A session as a conversation: the messages so far are the context of the next step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from datetime import datetime
from typing import Self, TypeVar

import msgspec

from core.domain.blob import blob_hash
from core.domain.context import MessageRef
from core.domain.events import SummaryAdded
from core.domain.guidance import FOREIGN_PERSON
from core.domain.message import Message, ToolCall
from core.domain.picture import MOST_PICTURES
from core.domain.step import Action, ActionError, Observation, Output, Status, StepBody, Usage
from core.formats.chat import action_of
from core.formats.edits import FileEdit
from core.formats.imported import SessionBuilder
from core.formats.pictures import FoundPicture, pictures_in, stored
from core.formats.tools import family_of
from core.formats.user_turns import UserTurns, bounded
from core.formats.values import paragraphs

T = TypeVar("T")

_AT_HAND = 100
"""So many items that belong to one are held; more are looked at again."""

OTHER_BRANCHES = "Messages on other branches of the conversation, which are not among the steps: {}."
"""The note of a conversation that is a tree, of which one path is read."""


class CallResult(msgspec.Struct, kw_only=True):
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
    pictures: tuple[FoundPicture, ...] = ()


class ForeignStep(msgspec.Struct, kw_only=True):
    """One step as a file holds it. `context` replaces the messages so far where the file holds the exact prompt."""

    thought: str = ""
    reasoning: str = ""
    calls: tuple[ToolCall, ...] = ()
    actions: tuple[Action, ...] | None = None
    results: list[CallResult] = []
    usage: Usage = Usage()
    started_at: datetime | None = None
    ended_at: datetime | None = None
    model: str = ""
    finish_reason: str = ""
    completion: str | None = None
    """The whole text of the model's answer, where `thought` is a part of it."""
    context: list[MessageRef] | None = None
    tools: str = ""
    terminals: dict[str, int] = {}
    item: str = ""
    """The id that the file gives the step's message."""


def grouped(items: Sequence[T], belongs: Callable[[T, T], bool]) -> Iterator[tuple[T, Sequence[T]]]:
    """The items in order, each with those right after it that belong to it; these are not given again. An item is
    looked at once, as it may have to be decoded for that, unless very many belong to one."""
    at, count = 0, len(items)
    first = items[0] if count else None
    while first is not None:
        after, following = at + 1, None
        found: list[T] = []
        while after < count:
            following = items[after]
            if not belongs(first, following):
                break
            if len(found) < _AT_HAND:
                found.append(following)
            after += 1
        yield first, found if len(found) == after - at - 1 else items[at + 1 : after]
        at, first = after, following if after < count else None


class Conversation:
    """Feeds a builder with steps, people's words and summaries in the order of the file."""

    def __init__(self, builder: SessionBuilder, source: str = "approximate") -> None:
        """`source` is "" where the messages are exactly what the model was given, else approximate."""
        self.builder = builder
        self.refs: list[MessageRef] = []
        self._source = source
        self._user = UserTurns(builder)
        self._pictures: tuple[FoundPicture, ...] = ()
        """What came with people's words and no step has seen yet."""

    def copy(self) -> Self:
        """One that goes on from here by itself."""
        made = copy(self)
        made.refs = list(self.refs)
        made.builder = self.builder.copy(self.refs, made.refs)
        made._user = self._user.copy(made.builder)
        return made

    def add_message(self, message: Message) -> MessageRef:
        """A message enters the context."""
        ref = self.builder.message(message, self._source)
        self.refs.append(ref)
        return ref

    def add_pictures(self, content: object) -> None:
        """The pictures in a person's message enter the context: the next step is the first to see them."""
        self._pictures = (*self._pictures, *pictures_in(content))[:MOST_PICTURES]

    def add_person_turn(self, text: str, at: datetime | None = None, by: str = FOREIGN_PERSON) -> None:
        """A person speaks, or who takes a person's place. Before the first step it is the task, later guidance."""
        self.add_message(Message(role="user", content=text))
        if self.builder.steps:
            self._user.add(text, at, by)

    def add_guidance(self, text: str, at: datetime | None = None) -> None:
        """Guidance that the next step is the first to see; its message is in the context already."""
        self._user.add(text, at)

    def add_summary(self, text: str, *, enters_context: bool = True) -> None:
        """All steps so far are replaced by a summary in later contexts."""
        last, whole = self.builder.steps, text
        text = bounded(self.builder, text, "summary")
        name = f"{self.builder.session}-s{blob_hash(f'{last}:{text}'.encode())[:12]}"
        self.builder.fact(SummaryAdded(id=name, first=min(1, last), last=last, text=text))
        self.refs = []
        if enters_context:
            self.add_message(Message(role="user", content=whole))

    def take_back(self, length: int) -> None:
        """What stands from there on leaves later contexts; words that no step has seen are withdrawn."""
        self.refs = self.refs[:length]
        self._user.withdraw()

    def add_step(self, step: ForeignStep) -> None:
        """One more step; its message and the answers enter the context of the next."""
        number = self.builder.steps + 1
        self._user.deliver(number)
        actions = step.actions if step.actions is not None else tuple(
            action_of(c, family_of(c.name)) for c in step.calls)
        calls = [a.call_id for a in actions]
        body = StepBody(number=number, thought=paragraphs(step.reasoning, step.thought), actions=actions,
                        model=step.model, finish_reason=step.finish_reason,
                        observations=tuple(self._observation(r, n, calls) for n, r in enumerate(step.results)),
                        pictures=stored(self._pictures, self.builder.blob))
        self._pictures = ()
        context = self.refs if step.context is None else step.context
        completion = self._completion(step)
        for result in step.results:
            if result.edit is not None:
                self.builder.change(result.edit, number)
        self.builder.step(body, context, completion, step.usage, started_at=step.started_at, ended_at=_end(step),
                          tools=step.tools, terminals=step.terminals, item=step.item)
        self._remember(step, completion)
        self._user.answer(number)

    def add_past(self, step: ForeignStep) -> None:
        """An answer that is no step here, or one already, enters the context with what its calls gave."""
        self._remember(step, self._completion(step))

    def _completion(self, step: ForeignStep) -> MessageRef:
        return self.builder.message(Message(
            role="assistant", tool_calls=step.calls, reasoning=step.reasoning,
            content=step.thought if step.completion is None else step.completion), self._source)

    def _remember(self, step: ForeignStep, completion: MessageRef) -> None:
        self.refs.append(completion)
        for result in step.results:
            self.add_message(Message(role="user" if result.role == "user" else "tool", content=result.text,
                                     tool_call_id=result.call))

    def _observation(self, result: CallResult, place: int, calls: list[str]) -> Observation:
        call = result.call or (calls[place] if place < len(calls) else "")
        output = Output(text=result.text, total_chars=len(result.text), truncated=result.truncated)
        return Observation(call_id=call, status=result.status, exit_code=result.exit_code, output=output,
                           error=result.error, data=result.data, started_at=result.started_at, ended_at=result.ended_at,
                           pictures=stored(result.pictures, self.builder.blob))


def _end(step: ForeignStep) -> datetime | None:
    """When the last of it was there; one single moment is no duration."""
    last = max((t for t in (step.ended_at, *(a.ended_at for a in step.results)) if t is not None), default=None)
    return None if last is not None and step.started_at is not None and last <= step.started_at else last
