"""An external agent's requests in our vocabulary: which messages they are, and which step made each of them."""

from collections.abc import Mapping, Sequence

import msgspec

from core.agents import prompts
from core.agents.journal import Journal
from core.domain.context import MessageRef
from core.domain.message import Message
from core.gateway.dialect import Dialect, Json
from core.gateway.dialects.responses import answered
from core.gateway.request import AgentRequest
from core.llm.model import estimate_tokens

ItemRefs = tuple[MessageRef, ...]


_REMEMBERED = 50_000
"""Calls whose steps are held in memory."""


def guidance_words(text: str) -> str:
    """Guidance as an agent reads it that was not told before how people speak to it."""
    return f"{prompts.fill('external_guidance').strip()}\n{prompts.guidance_text(text)}"


class StepCalls:
    """Which step each call belongs to; an echo may name calls anew, which its place tells."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, int] = {}
        """Of those that were asked for or learned lately: the table has all."""
        journal.on_undone.append(self._known.clear)

    def learn(self, calls: Sequence[str], step: int) -> None:
        """These calls were made at a step; inside a transaction."""
        new = [call for call in calls if self._known.get(call) != step]
        if len(self._known) > _REMEMBERED:
            self._known.clear()
        self._known.update(dict.fromkeys(new, step))
        if new:
            self._journal.sql_many("INSERT OR REPLACE INTO gateway_call VALUES (?, ?)", [(call, step) for call in new])

    def step(self, calls: Sequence[str]) -> int | None:
        """The step of the first of these calls that is known."""
        return next((step for call in calls if (step := self._step(call)) is not None), None)

    def first(self) -> int | None:
        """The first step that called anything."""
        found = self._journal.sql("SELECT min(step) FROM gateway_call")[0][0]
        return None if found is None else int(found)

    def _step(self, call: str) -> int | None:
        if call not in self._known:
            rows = self._journal.sql("SELECT step FROM gateway_call WHERE call = ?", (call,))
            if not rows:
                return None
            self._known[call] = int(rows[0][0])
        return self._known[call]


class ContextWriter:
    """Holds the messages of requests in the journal and names them; all inside the caller's transaction."""

    def __init__(self, journal: Journal) -> None:
        self._journal, self.calls = journal, StepCalls(journal)

    def ref(self, message: Message, source: str) -> MessageRef:
        """Hold a message."""
        tokens, estimated = estimate_tokens(message)
        return self._journal.put_message(message, source, tokens, estimated)

    def holds_first_step(self, request: AgentRequest) -> bool:
        """Whether a conversation begins with the answer with which the session began to act: no summary stands for it.
        """
        for item in request.values():
            calls = [call.id for message in request.dialect.messages(item) for call in message.tool_calls]
            if request.dialect.is_answer(item) and calls:
                return self.calls.step(calls) == self.calls.first()
        return False

    def opening(self, request: AgentRequest) -> ItemRefs:
        """The messages before the items."""
        return tuple(self.ref(message, "task") for message in request.dialect.opening(request.body))

    def items(self, request: AgentRequest, first: int, *, echoes: int, had_steps: bool, summary: str) -> list[ItemRefs]:
        """The messages of each item from `first` on.

        `echoes` is the step whose answer the first answering item is (0: none), `had_steps` says whether one was made
        before; after a compaction `summary` names what stands for the steps before.
        """
        items = [*request.values(first)]
        made: list[ItemRefs] = []
        dialect, at = request.dialect, 0
        while at < len(items):
            if not dialect.is_answer(items[at]):
                made.append(self._heard(dialect, items[at], first + at, had_steps, summary))
                at += 1
                continue
            end = at + 1
            while dialect.name == "responses" and end < len(items) and dialect.is_answer(items[end]):
                end += 1
            run = items[at:end]
            message = answered(run) if dialect.name == "responses" else dialect.messages(run[0])[0]
            step = self.calls.step([call.id for call in message.tool_calls]) or echoes
            echoes, had_steps = 0, had_steps or bool(step)
            made.append((self.ref(message, f"step:{step}" if step else "note" if had_steps else "task"),))
            made += [()] * (len(run) - 1)
            at = end
        return made

    def _heard(self, dialect: Dialect, item: Json, place: int, had_steps: bool, summary: str) -> ItemRefs:
        """The messages of an item that the model did not make."""
        refs: list[MessageRef] = []
        for message in dialect.messages(item):
            step = self.calls.step([message.tool_call_id]) if message.tool_call_id else None
            other = f"summary:{summary}" if summary and message.role == "user" else "note" if had_steps else "task"
            refs.append(self.ref(message, f"step:{step}" if step else other))
        return tuple(refs)

    def guidance(self, texts: Mapping[str, str]) -> dict[str, MessageRef]:
        """The messages of guidance, by its id."""
        return {name: self.ref(Message(role="user", content=text), f"guidance:{name}") for name, text in texts.items()}


def decode_refs(data: bytes) -> ItemRefs:
    """Refs as the journal holds them."""
    return msgspec.json.decode(data, type=ItemRefs)
