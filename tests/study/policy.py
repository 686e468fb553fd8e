"""The scripted agent whose sessions are trained on: right with a declared chance, else a slip as agents make them.

An unguided agent begins a chore well with the family's skill and goes on well with STEADY; else it guesses, tries the
same again, looks again at what it knows, or ends too early. Of several chores it may believe that a guess which raised
no error was right, and go to the next. Once a person's advice stands in its context it does the chore right.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime

from study.base import answer_text, snapshot_text
from study.tasks import FINISH, LETTERS, Chore, Slip, StudyTask, skill_of

from core.domain.message import Message
from core.llm.model import Completion, OnText, Request, estimate_tokens

STEADY = {"short": 0.85, "long": 0.95}
"""How likely an unguided agent goes on well once it has begun well."""

BELIEVES = 0.5
"""How likely it takes a guess that raised no error for done, where another chore waits."""

EARLY_END = 0.2
"""How many of its slips in the middle of a long task end the session; the others look again at what is known."""


class Policy:
    """One session's agent, asked like any language model. `good` says of every step whether it was right; `begun`
    whether the chore's first place lies behind, where the agent has to look before it does anything."""

    def __init__(self, task: StudyTask, rng: random.Random,
                 count: Callable[[Message], tuple[int, bool]] = estimate_tokens) -> None:
        self._task, self._rng, self._count = task, rng, count
        self._chore = self._at = 0
        self._undo: list[str] = []
        self._last: Slip | None = None
        self._advised = False
        self._done: dict[int, int] = {}
        self.good: dict[int, bool] = {}

    @property
    def name(self) -> str:
        """The name shown to people."""
        return "scripted"

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The next action, or the summary that is asked for."""
        now = datetime.now(UTC)
        last = request.messages[-1].content
        text = self._summary(last) if request.purpose == "summarize" else self._answer(request.step, last)
        message = Message(role="assistant", content=text)
        return Completion(message=message, model=self.name, finish_reason="stop", started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        """A message's length: an estimate, or as the model counts that is taught by it."""
        return self._count(message)

    async def close(self) -> None:
        """Nothing is held."""

    @property
    def begun(self) -> bool:
        """Whether the agent has looked."""
        return self._at > 0

    @property
    def chore(self) -> Chore | None:
        """The chore that it is at; None after the last."""
        return None if self.is_through else self._task.chores[self._chore]

    @property
    def is_through(self) -> bool:
        """Whether nothing is left but to finish."""
        return self._chore == len(self._task.chores)

    def _summary(self, asked: str) -> str:
        """The chores that were done up to the last step that is summed up."""
        last = int(re.findall(r"\d+", asked)[-1])
        return snapshot_text([LETTERS[chore] for chore, step in self._done.items() if step <= last])

    def _answer(self, step: int, last: str) -> str:
        self._advised = self._advised or last.startswith("<real_user>")
        if self._last is not None and not self._advised and self._may_believe(last):
            self._leave(step - 1)
        at = min(self._chore, len(self._task.chores) - 1)
        command, good = self._next(step)
        self.good[step] = good
        return answer_text(command, LETTERS[at] if self._task.is_long and command != FINISH else "")

    def _may_believe(self, result: str) -> bool:
        """Whether the agent takes its last guess for done."""
        if not self._task.is_long or self._at or self.is_through or "exit code 0]" not in result:
            return False
        return self._rng.random() < BELIEVES

    def _leave(self, step: int) -> None:
        """The chore is done, as far as the agent knows."""
        self._done[self._chore] = step
        self._chore, self._at, self._undo, self._last, self._advised = self._chore + 1, 0, [], None, False

    def _next(self, step: int) -> tuple[str, bool]:
        slip = None if self._advised or not self._errs() else self._slip()
        if slip is not None:
            self._last = slip
            self._undo += [slip.undo] if slip.undo else []
            return slip.command, False
        self._last = None
        if self._undo:
            return self._undo.pop(), True
        if self.is_through:
            return FINISH, True
        path = self._task.chores[self._chore].path
        self._at += 1
        command = path[self._at - 1]
        if self._at == len(path):
            advised = self._advised and not self._task.is_long
            self._leave(step)
            self._advised = advised
        return command, True

    def _errs(self) -> bool:
        at_start = not self._at and not self._undo and not self.is_through
        skill = skill_of(self._task.chores[self._chore]) if at_start else STEADY[self._length]
        return self._rng.random() >= skill

    @property
    def _length(self) -> str:
        return "long" if self._task.is_long else "short"

    def _slip(self) -> Slip:
        known = self._task.chores[min(self._chore, len(self._task.chores) - 1)]
        if self.is_through:
            return Slip(known.path[0])
        if self._at:
            ends = not self._task.is_long or self._rng.random() < EARLY_END
            return Slip(FINISH) if ends else Slip(known.path[0])
        done = [u.split()[-2].split("/")[-1] for u in self._undo]
        new = [s for s in known.slips if not any(d in s.command for d in done)]
        return self._rng.choice([*new, *([self._last] if self._last and not self._last.undo else [])] or [Slip(FINISH)])
