"""The scripted agent whose sessions are trained on: right with a declared chance, else a slip as agents make them.

An unguided agent begins a task well with the family's skill and goes on well with STEADY; else it guesses, tries the
same again after a failure, or ends too early. Once a person's advice stands in its context it does everything right.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec
from study.tasks import FINISH, Slip, StudyTask, skill_of

from core.domain.message import Message
from core.llm.model import Completion, OnText, Request, estimate_tokens

STEADY = 0.85
"""How likely an unguided agent goes on well once it has begun well."""


def answer_text(command: str) -> str:
    """The agent's whole answer for a command: one action in the plain-text format, no thought."""
    call = {"tool": FINISH} if command == FINISH else {"tool": "run_command", "command": command}
    return f"<action>{msgspec.json.encode(call).decode()}</action>"


class Policy:
    """One session's agent, asked like any language model. `good` says of every step whether it was right; `begun`
    whether the task's first place lies behind, where the agent has to look before it does anything."""

    def __init__(self, task: StudyTask, rng: random.Random) -> None:
        self._task, self._rng = task, rng
        self._at = 0
        self._undo: list[str] = []
        self._last: Slip | None = None
        self.good: dict[int, bool] = {}

    @property
    def name(self) -> str:
        """The name shown to people."""
        return "scripted"

    async def complete(self, request: Request, on_text: OnText | None = None) -> Completion:
        """The next action."""
        now = datetime.now(UTC)
        command, good = self._next(_is_advised(request.messages))
        self.good[request.step] = good
        message = Message(role="assistant", content=answer_text(command))
        return Completion(message=message, model=self.name, finish_reason="stop", started_at=now, ended_at=now)

    def count(self, message: Message) -> tuple[int, bool]:
        """An estimate."""
        return estimate_tokens(message)

    async def close(self) -> None:
        """Nothing is held."""

    @property
    def begun(self) -> bool:
        """Whether the agent has looked."""
        return self._at > 0

    def _next(self, advised: bool) -> tuple[str, bool]:
        slip = None if advised or not self._errs() else self._slip()
        if slip is not None:
            self._last = slip
            self._undo += [slip.undo] if slip.undo else []
            return slip.command, False
        self._last = None
        if self._undo:
            return self._undo.pop(), True
        self._at += 1
        return self._task.path[self._at - 1], True

    def _errs(self) -> bool:
        skill = skill_of(self._task) if self._at == 0 and not self._undo else STEADY
        return self._rng.random() >= skill

    def _slip(self) -> Slip:
        if self._at:
            is_done = self._at == len(self._task.path) - 1
            return Slip(self._task.path[0]) if is_done else Slip(FINISH)
        done = [u.split()[-2].split("/")[-1] for u in self._undo]
        new = [s for s in self._task.slips if not any(d in s.command for d in done)]
        return self._rng.choice([*new, *([self._last] if self._last and not self._last.undo else [])] or [Slip(FINISH)])


def _is_advised(messages: Sequence[Message]) -> bool:
    return any(m.role == "user" and m.content.startswith("<real_user>") for m in messages)
