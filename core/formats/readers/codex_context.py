"""What the model of a Codex rollout is given: which messages are a person's turns, what a compaction leaves of them,
and what goes where a person takes turns back (codex-rs: rollout reconstruction)."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Self

from core.domain.events import NoteAdded
from core.domain.message import Message
from core.formats.chat import parts_text
from core.formats.conversation import Conversation
from core.formats.imported import SessionBuilder
from core.formats.readers import codex_items
from core.formats.values import dicts_of, text_of

_SUMMARISED = "Another language model started to solve this problem"
"""How the program introduces the summary that stands for the steps before a compaction."""


class RolloutConversation(Conversation):
    """The conversation of a rollout."""

    def __init__(self, builder: SessionBuilder, instructions: str) -> None:
        super().__init__(builder)
        self._first = 0
        """How many messages of the context no compaction and no rollback touches."""
        self._turns: list[int] = []
        self._updates: set[int] = set()
        """Where in the context a person's words stand, and what the program adds before them."""
        if instructions:
            self.add_message(Message(role="system", content=instructions))
            self._first = 1

    def copy(self) -> Self:
        """One that goes on from here by itself."""
        made = super().copy()
        made._turns, made._updates = list(self._turns), set(self._updates)
        return made

    def add_words(self, item: dict[str, Any], at: datetime | None) -> None:
        """A message that the model did not make."""
        text, place = parts_text(item.get("content")), len(self.refs)
        if codex_items.is_turn(item.get("role"), text):
            self._turns.append(place)
            self.add_pictures(item.get("content"))
            self.add_person_turn(text, at)
        else:
            self._updates.add(place)
            is_user = item.get("role") == "user" or item.get("type") == "agent_message"
            self.add_message(Message(role="user" if is_user else "system", content=text))

    def compact(self, payload: dict[str, Any]) -> None:
        """Later contexts hold the line's history; older versions make one of a person's words and the summary."""
        before, turns, updates = self.refs, self._turns, self._updates
        whole = payload.get("replacement_history")
        history = [m for item in dicts_of(whole) if (m := codex_items.message(item))]
        summary = text_of(payload.get("message")) or next(
            (m.content for m in reversed(history) if m.content.startswith(_SUMMARISED)), "")
        self.add_summary(summary or "The context was compacted; its summary is encrypted.", enters_context=False)
        self.refs, self._turns, self._updates = before[: self._first], [], set()
        if isinstance(whole, list):
            for message in history:
                self.replay(message)
            return
        opening = [n for n in sorted(updates) if n < min(turns, default=0)]
        self._updates = {self._first + n for n in range(len(opening))}
        self._turns = [self._first + len(opening) + n for n in range(len(turns))]
        self.refs += [before[n] for n in (*opening, *turns)]
        self.replay(Message(role="user", content=summary or "(no summary available)"))

    def replay(self, message: Message) -> None:
        """A message that a compaction leaves in the context, or that a subagent has from its caller."""
        place = len(self.refs)
        if codex_items.is_turn(message.role, message.content):
            self._turns.append(place)
        elif message.role in ("user", "system"):
            self._updates.add(place)
        self.add_message(message)

    def roll_back(self, count: int, at: datetime | None) -> None:
        """A person took back the last turns: later contexts hold neither them nor what was added just before."""
        if not count or not self._turns:
            return
        cut = self._turns[max(0, len(self._turns) - count)]
        while cut > self._turns[0] and cut - 1 in self._updates:
            cut -= 1
        self._turns = [n for n in self._turns if n < cut]
        self._updates = {n for n in self._updates if n < cut}
        self.take_back(cut)
        self.builder.fact(NoteAdded(step=self.builder.steps, text=f"A person took back the last {count} turns: later "
                                    "contexts do not hold them."), at=at)
