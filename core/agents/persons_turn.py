"""A person who acts in the agent's place: what they want becomes the next step, in the agent's own form."""

import asyncio
from datetime import UTC, datetime

import msgspec

from core.agents.delivery import Inbox
from core.agents.held_words import HeldAction, HeldTakeover
from core.agents.journal import Journal
from core.agents.signals import Signals
from core.agents.steps import OpenStep, StepJournal
from core.domain.events import HandedBack, TakenOver
from core.domain.message import Message, ToolCall
from core.llm.model import Completion
from core.llm.text_actions import action_text, react_text


class PersonsTurn:
    """The loop's side of a takeover. Nothing here ever waits while nobody has taken over."""

    def __init__(self, journal: Journal, inbox: Inbox, signals: Signals, steps: StepJournal, tools: bytes, form: str,
                 line: tuple[str, str] | None) -> None:
        """`tools` is the JSON of what there is to call; `form` and `line` how the agent writes a call."""
        self._journal, self._inbox, self._signals, self._steps = journal, inbox, signals, steps
        self._tools, self._form, self._line = tools, form, line

    @property
    def is_on(self) -> bool:
        """Whether a person has taken over, and the open step has no answer yet."""
        opened = self._steps.open
        return self._inbox.takeover is not None and (opened is None or opened.completion is None)

    @property
    def wanted(self) -> HeldAction | None:
        """What the next step is to be."""
        acts = self._inbox.acts
        return acts[0] if acts and self._inbox.takeover is not None else None

    async def is_wanted(self) -> bool:
        """Wait for what the person wants; False when anything else is to be done first, or they have it no more."""
        held, since = self._holder(), _now()
        while held is not None and self._inbox.wish not in ("pause", "stop"):
            if self.wanted is not None:
                return True
            left = held.idle_s - (_now() - since)
            if held.ends or left <= 0:
                self.end("asked" if held.ends else "idle")
                return False
            await self._signals.heard(left)
            before, held = held, self._holder()
            if held is not None and held.asked != before.asked:
                since = _now()
        return False

    def answer(self, opened: OpenStep, wanted: HeldAction) -> OpenStep:
        """What the person wants stands in the place of the model's answer from now on."""
        now = datetime.now(UTC)
        completion = Completion(message=self._message(wanted), finish_reason="person", started_at=now, ended_at=now)
        opened = msgspec.structs.replace(opened, started_at=now)  # that it waited for them is no time of the step
        with self._journal.transaction("acted"):
            self._journal.put_slot("acts", self._inbox.acts[1:])
            return self._steps.answered(opened, completion, author=wanted.person, asked=wanted.id)

    def end(self, reason: str) -> None:
        """The agent has the session back, or it is over; said only where somebody had taken over."""
        if self._inbox.takeover is None:
            return
        with self._journal.transaction("hand back"):
            dropped = tuple(act.id for act in self._inbox.acts)
            self._journal.add(HandedBack(step=self._next, reason=reason, dropped=dropped))
            if (opened := self._steps.open) is not None and opened.completion is None:
                self._journal.put_slot("open", msgspec.structs.replace(opened, started_at=datetime.now(UTC)))
            self._journal.put_slot("takeover", None)
            self._journal.put_slot("acts", None)

    def begin_again(self) -> None:
        """A restarted runner tells once more who has it."""
        held = self._inbox.takeover
        if held is not None:
            self._journal.put_slot("takeover", msgspec.structs.replace(held, is_logged=False))

    @property
    def _next(self) -> int:
        opened = self._steps.open
        return opened.number if opened is not None else self._steps.progress.steps + 1

    def _holder(self) -> HeldTakeover | None:
        """The person who has it, of whom the log now knows. What somebody before them wanted is dropped."""
        held = self._inbox.takeover
        if held is None or held.is_logged:
            return held
        others = tuple(act.id for act in self._inbox.acts if act.person != held.person)
        with self._journal.transaction("taken over"):
            if others:
                self._journal.add(HandedBack(step=self._next, reason="asked", dropped=others))
                self._journal.put_slot("acts", [act for act in self._inbox.acts if act.person == held.person])
            self._journal.add(TakenOver(person=held.person, step=self._next,
                                        tools=self._journal.put_blob(self._tools), seen=self._seen()))
            held = msgspec.structs.replace(held, is_logged=True)
            self._journal.put_slot("takeover", held)
        return held

    def _seen(self) -> str:
        """What the agent read last, as a blob."""
        working = self._steps.working
        text = self._journal.message(working[-1].ref).content if working else ""
        return self._journal.put_blob(text.encode("utf-8", "replace")) if text else ""

    def _message(self, wanted: HeldAction) -> Message:
        """The call as the agent would have written it."""
        fact = wanted.fact
        call = ToolCall(id=wanted.id, name=fact.tool, arguments=fact.arguments)
        if self._form == "native":
            return Message(role="assistant", content=fact.thought, tool_calls=(call,))
        if self._line is not None:
            return Message(role="assistant", content=react_text(fact.thought, call, self._line[1]))
        return Message(role="assistant", content=action_text(fact.thought, call))


def _now() -> float:
    return asyncio.get_running_loop().time()
