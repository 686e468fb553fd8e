"""The words of a user between the steps of a foreign session: a person, a model that plays one, or unknown."""

from __future__ import annotations

from copy import copy
from datetime import datetime
from typing import Self

from core.domain.blob import blob_hash
from core.domain.bounds import event_text
from core.domain.events import GuidanceAnswered, GuidanceDelivered, GuidanceQueued, GuidanceWithdrawn
from core.domain.guidance import FOREIGN_PERSON
from core.formats.imported import SessionBuilder


class UserTurns:
    """Words after the first step: facts like those of guidance. The next step is the first to see them."""

    def __init__(self, builder: SessionBuilder) -> None:
        self._builder = builder
        self._waiting: list[str] = []
        self._asked: list[tuple[str, str, datetime | None]] = []
        """What nobody waits for an answer to, if no step comes: (text, by, at)."""

    def copy(self, builder: SessionBuilder) -> Self:
        """One that goes on from here by itself."""
        made = copy(self)
        made._builder, made._waiting, made._asked = builder, list(self._waiting), list(self._asked)
        return made

    def add(self, text: str, at: datetime | None = None, by: str = FOREIGN_PERSON) -> None:
        """Words by a person wait from now on; those of anybody else stand there once a step sees them."""
        if by == FOREIGN_PERSON:
            self._queue(text, by, at)
        else:
            self._asked.append((text, by, at))

    def deliver(self, number: int) -> None:
        """Step `number` sees them."""
        for text, by, at in self._asked:
            self._queue(text, by, at)
        self._asked = []
        for name in self._waiting:
            self._builder.fact(GuidanceDelivered(guidance=name, step=number))

    def answer(self, number: int) -> None:
        """Step `number`, which saw them, is whole."""
        for name in self._waiting:
            self._builder.fact(GuidanceAnswered(guidance=name, step=number))
        self._waiting = []

    def withdraw(self) -> None:
        """What no step has seen was taken back."""
        for name in self._waiting:
            self._builder.fact(GuidanceWithdrawn(guidance=name), FOREIGN_PERSON)
        self._waiting, self._asked = [], []

    def _queue(self, text: str, by: str, at: datetime | None) -> None:
        place = len(self._waiting) + self._builder.steps * 1000
        text = bounded(self._builder, text, "words of a person" if by == FOREIGN_PERSON else "words of a user")
        name = f"{self._builder.session}-g{blob_hash(f'{place}:{text}'.encode())[:12]}"
        self._builder.fact(GuidanceQueued(guidance=name, text=text), by, at)
        self._waiting.append(name)


def bounded(builder: SessionBuilder, text: str, what: str) -> str:
    """Text that travels in one event, whose size is bounded; the context holds it whole."""
    if (held := event_text(text)) != text:
        builder.warnings.append(f"A {what} is shown up to its character {len(held):,}.")
    return held
